import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A policy that runs the commands one after the other and says that it is done; written into the folder. Returns its name. */
export function writeScriptedSteps(folder: string, name: string, commands: readonly string[]): string {
  const path = join(folder, `${name}.yaml`);
  const steps = [...commands.map((shell) => ({ calls: [{ shell }] })), { text: "Done." }];
  writeFileSync(path, JSON.stringify({ version: 1, name, rules: [{ name, steps }] }));
  return `scripted:${path}`;
}
