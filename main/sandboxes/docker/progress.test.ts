import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { readProgress } from "./progress.ts";

const reported = async (...chunks: readonly string[]): Promise<readonly string[]> => {
  const lines: string[] = [];
  await readProgress(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), (line) => lines.push(line));
  return lines;
};

it("reports each line once, wherever the connection cuts it", async () => {
  expect(
    await reported(
      '{"stream":"Step 1/2\\n"}\r\n{"str',
      'eam":"one\\ntwo\\n"}\n{"status":"Down","id":"a1"}\n{"status":"Down","id":"a1"}\n{"aux":{"ID":"x"}}',
    ),
  ).toEqual(["Step 1/2", "one", "two", "a1: Down"]);
});

it("fails with the engine's error and what was said before it", async () => {
  await expect(reported('{"stream":"cc: no such file\\n"}\n{"errorDetail":{"code":1},"error":"exit code 1"}\n')).rejects.toThrow(
    "exit code 1 | cc: no such file",
  );
});

it("fails when the connection breaks", async () => {
  const broken = new Readable({ read: () => undefined });
  const reading = readProgress(broken, () => undefined);
  broken.destroy(new Error("aborted"));
  await expect(reading).rejects.toThrow("aborted");
});
