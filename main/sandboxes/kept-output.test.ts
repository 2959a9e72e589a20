import { expect, it } from "vitest";
import { KeptOutput } from "./kept-output.ts";

it("keeps and hands on the first bytes of each stream, and counts what it drops", () => {
  const seen: string[] = [];
  const output = new KeptOutput(5, (stream, chunk) => seen.push(`${stream}:${Buffer.from(chunk)}`));
  output.push("stdout", Buffer.from("abc"));
  output.push("stderr", Buffer.from("12345"));
  output.push("stdout", Buffer.from("defg"));
  output.push("stdout", Buffer.from("h"));
  expect(Buffer.from(output.bytes("stdout")).toString()).toBe("abcde");
  expect(Buffer.from(output.bytes("stderr")).toString()).toBe("12345");
  expect(output.droppedBytes).toBe(3);
  expect(seen).toEqual(["stdout:abc", "stderr:12345", "stdout:de"]);
});
