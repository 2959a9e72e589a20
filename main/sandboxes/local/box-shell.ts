/**
 * The first process of a box: a shell that holds the namespaces and starts commands in them, one at a time. A command is then two steps
 * away, where entering from outside takes six. Nothing inside can end the first process, and nobody there can trace it or look at its
 * descriptors: it lives in the box's user namespace, each command in a child of that as the one user `agent`.
 *
 * It reads its standard input, the service's lifeline: `ID LENGTH`, then so many bytes of shell text that start something in the
 * background. It answers `+ ID PID` when that runs, PID being its process group, and `= ID CODE` when it has ended. When the lifeline
 * ends, it ends, and the kernel ends all others. Output goes by pairs of descriptors that are used once and that only the command gets.
 */
import type { SystemTools } from "./system-tools.ts";

/** Commands that one box starts in this way; more are started from outside. */
export const turnCount = 8;
/** Above what the shell uses for itself. */
export const firstPairDescriptor = 20;

const descriptors = Array.from({ length: 2 * turnCount }, (_, index) => firstPairDescriptor + index);
const closeAll = descriptors.map((descriptor) => `${descriptor}>&-`).join(" ");

/** Job control gives each command a process group. What the shell itself has to say is nobody's. */
const script = `exec 2>/dev/null 3>&-; export -n PWD OLDPWD SHLVL; set -m; echo ready
while read -r id length && read -r -N "$length" text; do eval "$text"; echo "+ $id $!"; wait $!; echo "= $id $?"; done`;

export function firstProcess(tools: Pick<SystemTools, "bash">): readonly string[] {
  return [tools.bash, "--norc", "--noprofile", "-c", script];
}

/** The text that starts `command` with this environment and nothing else, its output going to one pair. */
export function turnText(turn: number, command: readonly string[], env: Readonly<Record<string, string>>): string {
  const out = firstPairDescriptor + 2 * turn;
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  const start = [...settings, "exec", ...command.map(quoted)].join(" ");
  return `( ${start} ) </dev/null >&${out} 2>&${out + 1} ${closeAll} & exec ${out}>&- ${out + 1}>&-`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
