import { readFile } from "node:fs/promises";
import { LineCounter, parseDocument } from "yaml";
import { WorkbenchError } from "../../../errors.ts";
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
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const broken = document.errors[0];
  const fail = (line: number, problem: string): never => {
    throw new WorkbenchError("usage", `${file}:${line}: ${problem}`, "See docs/scripted-policy.md.");
  };
  if (broken !== undefined) return fail(lines.linePos(broken.pos[0]).line, broken.message.split("\n", 1)[0] ?? "no YAML");
  const parsed = scriptSchema.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue?.path ?? [];
  const line = lines.linePos(offsetOf(document, path)).line;
  return fail(line, `${path.map(String).join(".")}: ${issue?.message ?? "has the wrong shape"}`);
}

/** Where the value at `path` stands, or its nearest parent that exists. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) return Number(node.range[0]);
  }
  return 0;
}
