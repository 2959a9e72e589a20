/** How known harnesses name their shell and what it takes, so that one rule file works in all of them. */

const shellArguments: Readonly<Record<string, (command: string) => Readonly<Record<string, unknown>>>> = {
  bash: (command) => ({ command }),
  exec_command: (command) => ({ cmd: command }),
  shell: (command) => ({ command }),
  shell_command: (command) => ({ command }),
  Bash: (command) => ({ command, description: "run a command" }),
  run_shell_command: (command) => ({ command: withoutSubstitution(command), description: "run a command", is_background: false }),
  exec: (command) => ({ command }),
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

/** One harness with this tool refuses command substitution in what it is given: such a command goes through another shell. */
function withoutSubstitution(command: string): string {
  if (!/\$\(|`|[<>]\(/.test(command)) return command;
  return `echo ${Buffer.from(command).toString("base64")} | base64 -d | bash`;
}
