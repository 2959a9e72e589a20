import { z } from "zod";
import { WorkbenchError } from "../errors.ts";

/** A file that is not what its place says; one sentence. */
export function brokenFile(path: string, detail: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError("usage", `${path} cannot be imported: ${detail}.`, "Get the file again, or leave it out.", { cause });
}

/** The file's JSON in the shape wanted. Throws WorkbenchError with the first place that is wrong. */
export function parseFile<T>(schema: z.ZodType<T>, text: string, path: string): T {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw brokenFile(path, `it is no JSON (${error.message.replace(/\.$/, "")})`, error);
    throw error;
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const first = parsed.error.issues[0];
  const where = first === undefined || first.path.length === 0 ? "" : ` at ${first.path.map(String).join(".")}`;
  throw brokenFile(
    path,
    `it is not in the form expected${where}: ${(first?.message ?? z.prettifyError(parsed.error)).replace(/\.$/, "")}`,
    parsed.error,
  );
}
