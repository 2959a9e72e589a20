/** Runs one of the Python checks over exported files. */
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const folder = dirname(fileURLToPath(import.meta.url));

const line = z.object({
  ok: z.boolean(),
  kind: z.string(),
  path: z.string(),
  /** What the rows were read with; Harbor's models are one thing. */
  checked_with: z.array(z.string()).default(["harbor"]),
  errors: z.array(z.union([z.string(), z.object({ loc: z.string(), type: z.string(), msg: z.string() })])),
});
export type CheckedFile = z.infer<typeof line>;

/** One entry a file that the script looked at. Rejects when the script could not run at all. */
export function checkFiles(python: string, script: "harbor-check" | "rows-check", words: readonly string[]): Promise<readonly CheckedFile[]> {
  return new Promise((resolve, reject) => {
    execFile(python, [join(folder, `${script}.py`), ...words, "--json"], { maxBuffer: 1 << 26, timeout: 900_000 }, (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((text) => text.startsWith("{"));
      if (lines.length === 0) reject(new Error(`${script} said nothing: ${stderr.trim().split("\n").at(-1) ?? error?.message}`));
      else resolve(lines.map((text) => line.parse(JSON.parse(text))));
    });
  });
}
