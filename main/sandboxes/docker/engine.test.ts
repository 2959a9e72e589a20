import { describe, expect, test } from "vitest";
import { sandboxError } from "../sandbox-error.ts";
import { lostOr, onceNoted } from "./engine.ts";

const refusal = (reason: string) => Object.assign(new Error(`(HTTP code 409) unexpected - ${reason}`), { statusCode: 409 });

describe("a container that the engine believes to be frozen", () => {
  test("is asked again until the engine knows better", async () => {
    const refusals = [refusal("Container 1 is paused, unpause the container before exec"), refusal("Container 1 is paused")];
    let calls = 0;
    const answer = await onceNoted(async () => {
      calls += 1;
      const error = refusals.shift();
      if (error) throw error;
      return "ran";
    }, /is paused/i);
    expect([answer, calls]).toEqual(["ran", 3]);
  });

  test("other refusals are given on at once", async () => {
    let calls = 0;
    const call = async () => {
      calls += 1;
      throw refusal("Container 1 is not running");
    };
    await expect(onceNoted(call, /is paused/i)).rejects.toThrow("is not running");
    expect(calls).toBe(1);
  });

  test("is not taken for gone", () => {
    const complaint = (reason: string) => sandboxError("setup-failed", reason, "Look.");
    expect(lostOr(refusal("Container 1 is paused"), complaint)).toMatchObject({ message: "Container 1 is paused" });
    expect(lostOr(refusal("Container 1 is not running"), complaint).message).toBe("The sandbox is gone: its container ended.");
  });
});
