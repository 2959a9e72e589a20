/** `openforge harness new`: a manifest to fill in, sound as it is written. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WorkbenchError } from "../errors.ts";

/** Writes `<userFolder>/<id>/manifest.yaml` and resolves with its path; what is there already is never touched (WorkbenchError). */
export async function createManifest(userFolder: string, id: string): Promise<string> {
  if (!/^[a-z][a-z0-9-]*$/.test(id))
    throw new WorkbenchError("usage", `\`${id}\` is no harness id.`, "Use lower-case letters, digits and hyphens, as in my-agent.");
  const path = join(userFolder, id, "manifest.yaml");
  await mkdir(join(userFolder, id), { recursive: true });
  try {
    await writeFile(path, template(id), { flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new WorkbenchError("usage", `${path} is there already.`, "Edit it, or choose another id.");
  }
  return path;
}

const template = (id: string): string => `# How ${id} is installed, set up and started; docs/harnesses.md has every key.
id: ${id}
name: ${id}
version: 0.0.0
licence: unknown
summary: One sentence on what it is.

# Or { kind: pip, package: … }, { kind: cargo, package: … }, { kind: bundled, path: . } for a folder beside this file.
install: { kind: npm, package: ${id}@0.0.0 }
runtime: { kind: node, version: "20" }
# What it speaks to its model: chat, responses, messages or gemini.
dialects: [chat]

# Files that it reads before it starts; \${home} is fresh for each rollout.
files: {}
env:
  OPENAI_BASE_URL: \${baseUrl}
  OPENAI_API_KEY: \${key}
command: ["\${node}", "\${harness}/node_modules/${id}/cli.js", --model, "\${model}", "\${instruction}"]

quirks: { finalText: stdout }
limits: { setupSeconds: 120, contextWindow: 128000, maxTokens: 8192 }
# Whether a call extends the one before token for token: exact, after-normalising or no.
prefix: "no"
`;
