/** What a tool use does to the work: changes it, tests or reads it, or neither. Commands of a shell are judged by their programs. */
import type { ToolUse } from "./contract.ts";
import { type CommandKind, kindOfCommand, programsOf } from "./shell-command.ts";

const shellTools =
  /^(?:bash|sh|zsh|shell|terminal|exec|execute|exec_command|execute_command|execute_bash|run|run_command|run_shell_command|run_terminal_cmd|local_shell|local_shell_call|shell_command|container\.exec|write_stdin|command|cmd|process)$/i;
const changingTools =
  /(?:^|[._-])(?:write|edit|multi_?edit|replace|patch|apply_?patch|create|insert|delete|remove|move|rename|append|put|place|post|send|update|save|set|add)(?=$|[._-]|file|text)/i;
const readingTools =
  /(?:^|[._-])(?:read|view|cat|list|ls|grep|glob|search|find|open|get|show|diff|test|check|verify|run_?tests?|count|head)(?=$|[._-]|file|many|dir|text|folder)/i;
const planningTools = /(?:^|[._-])(?:update_?plan|todo_?write|write_?todos|set_?plan|plan)$/i;

export function isGenericShell(tool: string): boolean {
  return shellTools.test(tool);
}

export function isPlanning(tool: string): boolean {
  return planningTools.test(inWords(tool));
}

export function kindOf(use: ToolUse): CommandKind {
  if (isPlanning(use.tool)) return { changes: false, verifies: false };
  if (isGenericShell(use.tool)) return kindOfCommand(commandOf(use));
  const name = inWords(use.tool);
  const changes = changingTools.test(name);
  return { changes, verifies: !changes && readingTools.test(name) };
}

/**
 * Whether the use is one of `wanted`: a tool's own name, the name of the server that gives it (in the spellings of the harnesses), or
 * a program run through a shell.
 */
export function isUseOf(use: ToolUse, wanted: string): boolean {
  const { tool } = use;
  if (tool === wanted || [`${wanted}.`, `${wanted}__`, `mcp__${wanted}__`, `mcp_${wanted}_`].some((prefix) => tool.startsWith(prefix))) return true;
  return isGenericShell(tool) && programsOf(commandOf(use)).includes(wanted);
}

/** The command text of a shell use, whatever its field is called. */
function commandOf(use: ToolUse): string {
  const given = parsed(use.arguments);
  if (typeof given === "string") return given;
  if (typeof given !== "object" || given === null) return use.arguments;
  for (const [name, value] of Object.entries(given)) {
    if (!/^(?:command|cmd|script|code|input|chars|args)$/i.test(name)) continue;
    if (typeof value === "string") return value;
    // `["bash", "-lc", "…"]`: the script is the last word.
    if (Array.isArray(value)) return /^(?:.*\/)?(?:ba|z|da)?sh$/.test(String(value[0])) ? String(value.at(-1)) : value.join(" ");
  }
  return use.arguments;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** `TodoWrite` → `Todo_Write`, so that a name's words can be told apart. */
function inWords(tool: string): string {
  return tool.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2");
}
