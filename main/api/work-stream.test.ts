import { expect, test } from "vitest";
import { WorkbenchError } from "../errors.ts";
import { streamWork, type WorkEvent } from "./work-stream.ts";

test("progress comes before the result, in order", async () => {
  const seen: WorkEvent<number>[] = [];
  const stream = streamWork(undefined, async (report) => {
    report("one");
    await Promise.resolve();
    report("two");
    return 3;
  });
  for await (const event of stream) seen.push(event);
  expect(seen).toEqual([
    { type: "progress", line: "one" },
    { type: "progress", line: "two" },
    { type: "result", result: 3 },
  ]);
});

test("an expected failure keeps its sentence, remedy and exit code", async () => {
  const stream = streamWork(undefined, () => Promise.reject(new WorkbenchError("unavailable", "Docker does not answer.", "Start Docker.")));
  await expect(stream.next()).rejects.toMatchObject({ message: "Docker does not answer.", data: { remedy: "Start Docker.", exitCode: 3 } });
});

test("leaving the stream aborts the work and waits for it", async () => {
  let ended = false;
  const stream = streamWork(undefined, async (report, signal) => {
    report("started");
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    ended = true;
    return 1;
  });
  await stream.next();
  await stream.return();
  expect(ended).toBe(true);
});
