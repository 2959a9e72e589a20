/** How known harnesses name their shell and what it takes, so that one rule file works in all of them. */

const shellArguments: Readonly<Record<string, (command: string) => Readonly<Record<string, unknown>>>> = {
  bash: (command) => ({ command }),
  exec_command: (command) => ({ cmd: command }),
  shell: (command) => ({ command }),
  shell_command: (command) => ({ command }),
  Bash: (command) => ({ command, description: "run a command" }),
  run_shell_command: (command) => ({ command: withoutSubstitution(command), description: "run a command", is_background: false }),
  exec: (command) => ({ command }),
  run: (command) => ({ cmd: command }),
  execute_command: (command) => ({ command, requires_approval: false }),
  run_commands: (command) => ({ commands: [command] }),
  terminal: (command) => ({ command }),
};

/** The call that runs `command` with the first shell tool on offer; null when there is none. */
export function shellCall(
  tools: ReadonlySet<string>,
  command: string,
): { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } | null {
  for (const [name, argumentsOf] of Object.entries(shellArguments)) if (tools.has(name)) return { name, arguments: argumentsOf(command) };
  return null;
}

/** Harnesses that take an answer without a call for a fault, and the command by which the policy ends its work there. */
const endings: Readonly<Record<string, string>> = { "mini-swe-agent": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" };

/** The command that must go with a last answer in this harness; null where saying nothing more is the end. */
export function endingCommand(harness: string): string | null {
  return endings[harness] ?? null;
}

/** Harnesses that offer no tools and read one line of what the policy says as a command. */
const commandLines: Readonly<Record<string, string>> = { scratchpad: "Action: " };

/** The line by which such a harness runs these commands, one after the other; null for any other harness. */
export function commandLine(harness: string, commands: readonly string[]): string | null {
  const beginning = commandLines[harness];
  return beginning === undefined || commands.length === 0 ? null : beginning + commands.map(onOneLine).join("; ");
}

function onOneLine(command: string): string {
  return command.includes("\n") || command.includes("#") ? encoded(command) : `( ${command} )`;
}

/** One harness with this tool refuses command substitution in what it is given: such a command goes through another shell. */
function withoutSubstitution(command: string): string {
  if (!/\$\(|`|[<>]\(/.test(command)) return command;
  return encoded(command);
}

function encoded(command: string): string {
  return `echo ${Buffer.from(command).toString("base64")} | base64 -d | bash`;
}
