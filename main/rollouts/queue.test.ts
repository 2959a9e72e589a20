import { expect, test } from "vitest";
import { createWorkQueue, type QueuedWork } from "./queue.ts";

function harness() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (id: string, group: string, groupLimit: number): QueuedWork => ({
    id,
    group,
    groupLimit,
    run: () =>
      new Promise((resolve) => {
        log.push(id);
        ends.set(id, resolve);
      }),
  });
  const end = async (id: string): Promise<void> => {
    ends.get(id)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { log, work, end };
}

test("a full group lets the next group pass, and the whole stays under its limit", async () => {
  const { log, work, end } = harness();
  const queue = createWorkQueue(3);
  for (const [id, group, limit] of [
    ["a1", "a", 1],
    ["a2", "a", 1],
    ["b1", "b", 5],
    ["b2", "b", 5],
    ["b3", "b", 5],
  ] as const) {
    queue.add(work(id, group, limit));
  }
  expect(log).toEqual(["a1", "b1", "b2"]);
  await end("b1");
  expect(log).toEqual(["a1", "b1", "b2", "b3"]);
  await end("a1");
  expect(log).toEqual(["a1", "b1", "b2", "b3", "a2"]);
  for (const id of ["b2", "b3", "a2"]) await end(id);
  await queue.idle();
});

test("waiting work can be taken out; closing waits for what runs and starts nothing", async () => {
  const { log, work, end } = harness();
  const queue = createWorkQueue(1);
  for (const id of ["1", "2", "3"]) queue.add(work(id, "g", 9));
  expect(queue.remove("2")).toBe(true);
  expect(queue.remove("1")).toBe(false);
  let closed = false;
  void queue.close().then(() => {
    closed = true;
  });
  await end("1");
  expect(closed).toBe(true);
  expect(log).toEqual(["1"]);
});
