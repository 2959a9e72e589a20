import { readFile } from "node:fs/promises";
import { WorkbenchError } from "../../../errors.ts";
import { readYaml } from "../../../yaml/index.ts";
import { type Script, scriptSchema } from "./schema.ts";

/** Reads a rule file; what is wrong is said with its line. */
export async function readScript(file: string): Promise<Script> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new WorkbenchError("not-found", `The rule file ${file} can't be read.`, "Name an existing file: scripted:FILE.", { cause: error });
  }
  return parseScript(text, file);
}

/** `file` is for messages. */
export function parseScript(text: string, file: string): Script {
  const reading = readYaml(text, scriptSchema, { subject: "The rule file", example: "version: 1" });
  if (reading.ok) return reading.value;
  const [first] = reading.faults;
  throw new WorkbenchError("usage", `${file}:${first?.line ?? 1}: ${first?.message ?? "unreadable."}`, "See docs/scripted-policy.md.");
}
