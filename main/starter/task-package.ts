/** A starter task as a Harbor package: path → text. */
import type { StarterSplit, StarterTask } from "./contract.ts";
import { finalWord } from "./families.ts";

export interface PackageFile {
  readonly path: string;
  readonly text: string;
  readonly executable: boolean;
}

const workdir = "/app";
const finalText = "/logs/agent/final.txt";

/** `name`: `org/name`. */
export function packageFiles(task: StarterTask, name: string, split: StarterSplit): readonly PackageFile[] {
  const initial = [
    ...Object.entries(task.files).map(([path, line]) => ({ path, text: `${line}\n` })),
    // Empty folders do not survive being copied.
    ...task.folders.map((folder) => ({ path: `${folder}/.keep`, text: "" })),
  ];
  return [
    { path: "task.toml", text: settings(task, name, split, initial.length > 0), executable: false },
    // No line end: the policy has learned from the text as it is here.
    { path: "instruction.md", text: task.instruction, executable: false },
    { path: "environment/.keep", text: "", executable: false },
    ...initial.map(({ path, text }) => ({ path: `environment/files/${path}`, text, executable: false })),
    { path: "tests/test.sh", text: verifier(task), executable: true },
    { path: "solution/solve.sh", text: solution(task), executable: true },
  ];
}

function settings({ family }: StarterTask, name: string, split: StarterSplit, hasFiles: boolean): string {
  return `schema_version = "1.4"

[task]
name = ${JSON.stringify(name)}

[metadata.openforge]
family = ${JSON.stringify(family)}
split = ${JSON.stringify(split)}
difficulty = "easy"
runs_unisolated = true
${hasFiles ? 'initial_state = { files = "environment/files" }\n' : ""}
[agent]
timeout_sec = 120

[verifier]
timeout_sec = 30

[environment]
workdir = ${JSON.stringify(workdir)}
network_mode = "no-network"
storage_mb = 16
`;
}

function verifier({ wanted }: StarterTask): string {
  const checks = Object.entries(wanted).map(([path, line]) =>
    line === null ? `[ ! -e "$root${workdir}/${path}" ] && [ ! -L "$root${workdir}/${path}" ]` : `holds "$root${workdir}/${path}" "${line}"`,
  );
  return `#!/bin/sh
# Built-ins only: another program would take longer to start than all that is checked here.
# Where nothing is isolated, the places of a sandbox lie below this folder.
root=\${OPENFORGE_ROOT:-}
# holds FILE LINE: a plain file of exactly that line.
holds() {
  [ -f "$1" ] && [ ! -L "$1" ] && [ -r "$1" ] || return 1
  { IFS= read -r line || :; IFS= read -r more && return 1; } < "$1"
  [ "$line" = "$2" ] && [ -z "$more" ]
}
reward=0
if ${[...checks, `holds "$root${finalText}" "${finalWord}"`].join(" &&\n  ")}; then
  reward=1
fi
echo "$reward" > "$root/logs/verifier/reward.txt"
`;
}

function solution(task: StarterTask): string {
  return `#!/bin/sh
cd ${workdir} && ${task.solution} && echo "${finalWord}" > ${finalText}
`;
}
