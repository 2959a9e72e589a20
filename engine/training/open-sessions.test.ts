import { describe, expect, test } from "vitest";
import type { Session } from "../onnx/index.ts";
import { OpenSessions } from "./open-sessions.ts";

/** Sessions that note when they are made and closed. */
function bench(budget?: number) {
  const log: string[] = [];
  const sessions = new OpenSessions(budget);
  const use = (owner: object, key: string, bytes: number): Promise<Session> =>
    sessions.use(owner, key, bytes, async () => {
      log.push(`+${key}`);
      return {
        ...{ inputNames: [], outputNames: [], run: async () => ({}), runInto: async () => undefined },
        release: async () => {
          log.push(`-${key}`);
        },
      };
    });
  return { log, sessions, use };
}

describe("open sessions", () => {
  const model = {};
  const reference = {};

  test("are made once and kept while they fit", async () => {
    const { log, use } = bench(10);
    const first = await use(model, "a", 4);
    await use(reference, "b", 4);
    expect(await use(model, "a", 4)).toBe(first);
    expect(log).toEqual(["+a", "+b"]);
  });

  test("those used longest ago are closed for a new one, before it is made", async () => {
    const { log, use } = bench(10);
    await use(model, "a", 4);
    await use(reference, "b", 4);
    await use(model, "a", 4);
    await use(model, "c", 5);
    expect(log).toEqual(["+a", "+b", "-b", "+c"]);
  });

  test("one that is larger than the budget is alone", async () => {
    const { log, use } = bench(10);
    await use(model, "a", 4);
    await use(model, "b", 99);
    await use(model, "a", 4);
    expect(log).toEqual(["+a", "-a", "+b", "-b", "+a"]);
  });

  test("models with the same sizes have sessions of their own, and one closes only its own", async () => {
    const { log, sessions, use } = bench();
    await use(model, "a", 1);
    await use(reference, "a", 1);
    await sessions.close(model);
    await use(reference, "a", 1);
    expect(log).toEqual(["+a", "+a", "-a"]);
  });

  test("one that can't be made is not kept", async () => {
    const { log, sessions, use } = bench();
    await expect(sessions.use(model, "a", 1, () => Promise.reject(new Error("no memory")))).rejects.toThrow("no memory");
    await use(model, "a", 1);
    expect(log).toEqual(["+a"]);
  });
});
