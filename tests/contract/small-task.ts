/** Task packages for tests, as small as they can be. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface SmallTask {
  /** Becomes `workbench/NAME`. */
  readonly name: string;
  readonly instruction?: string;
  /** Body of tests/test.sh. */
  readonly test?: string;
  readonly network?: string;
  /** Further files of the package. */
  readonly files?: Readonly<Record<string, string>>;
}

/** By default graded by whether the agent said that it is done. Returns the folder. */
export function writeSmallTask(folder: string, task: SmallTask): string {
  const network = task.network ?? "no-network";
  const test = task.test ?? 'if grep -q "^Done" /logs/agent/final.txt; then echo 1; else echo 0; fi > /logs/verifier/reward.txt';
  const files: Record<string, string> = {
    "task.toml": `schema_version = "1.4"\n\n[task]\nname = "workbench/${task.name}"\n\n[agent]\ntimeout_sec = 60\n\n[environment]\nnetwork_mode = "${network}"\n`,
    "instruction.md": `${task.instruction ?? "Say that you are done."}\n`,
    "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
    "tests/test.sh": `#!/bin/sh\n${test}\n`,
    ...task.files,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: name.endsWith(".sh") ? 0o755 : 0o644 });
  }
  return folder;
}
