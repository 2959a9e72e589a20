import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { createVersionHolds } from "./version-holds.ts";

function watched(idleMs: number, slow: Readonly<Record<string, number>> = {}) {
  const done: string[] = [];
  const step = async (what: string, name: string): Promise<void> => {
    await pause(slow[`${what} ${name}`] ?? 0);
    done.push(`${what} ${name}`);
    if (name === "broken") throw new Error("it is broken");
  };
  const holds = createVersionHolds<{ readonly name: string }>({ load: ({ name }) => step("load", name), drop: (name) => step("drop", name), idleMs });
  return { done, holds };
}

test("what many hold is loaded once, and stays until the last has let go", async () => {
  const { done, holds } = watched(5);
  await Promise.all([holds.hold({ name: "a" }), holds.hold({ name: "a" })]);
  holds.release("a");
  await pause(30);
  expect([done, holds.inUse]).toEqual([["load a"], true]);
  holds.release("a");
  expect(holds.inUse).toBe(false);
  await pause(30);
  expect(done).toEqual(["load a", "drop a"]);
});

test("what nobody holds goes when another is loaded; wanted again before, it stays", async () => {
  const { done, holds } = watched(10_000);
  await holds.hold({ name: "a" });
  holds.release("a");
  await holds.hold({ name: "a" });
  holds.release("a");
  await holds.hold({ name: "b" });
  await pause(10);
  expect(done.toSorted()).toEqual(["drop a", "load a", "load b"]);
  holds.stop();
});

test("a name is not loaded again before it is gone", async () => {
  const { done, holds } = watched(10_000, { "drop a": 30 });
  await holds.hold({ name: "a" });
  holds.release("a");
  await holds.hold({ name: "b" });
  await holds.hold({ name: "a" });
  expect(done).toEqual(["load a", "load b", "drop a", "load a"]);
  holds.stop();
});

test("what cannot be loaded is not held, and is tried again", async () => {
  const { done, holds } = watched(10_000);
  await expect(holds.hold({ name: "broken" })).rejects.toThrow("it is broken");
  expect(holds.inUse).toBe(false);
  await expect(holds.hold({ name: "broken" })).rejects.toThrow("it is broken");
  expect(done).toEqual(["load broken", "load broken"]);
});

test("everything is dropped at the end, held or not", async () => {
  const { done, holds } = watched(10_000, { "drop a": 20 });
  await Promise.all(["a", "b"].map((name) => holds.hold({ name })));
  await holds.dropAll();
  expect(done.toSorted()).toEqual(["drop a", "drop b", "load a", "load b"]);
});
