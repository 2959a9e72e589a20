/** What a tool use does to the work: changes it, tests or reads it, or neither. Commands of a shell are judged by their programs. */
import type { ToolUse } from "./contract.ts";

const shellTools =
  /^(?:bash|sh|zsh|shell|terminal|exec|execute|exec_command|execute_command|execute_bash|run|run_command|run_shell_command|run_terminal_cmd|local_shell|local_shell_call|shell_command|container\.exec|write_stdin|command|cmd|process)$/i;
const changingTools =
  /(?:^|[._-])(?:write|edit|multi_?edit|replace|patch|apply_?patch|create|insert|delete|remove|move|rename|append|put|update|save|set)(?=$|[._-]|file|text)/i;
const readingTools =
  /(?:^|[._-])(?:read|view|cat|list|ls|grep|glob|search|find|open|get|show|diff|test|check|verify|run_?tests?|count|head)(?=$|[._-]|file|many|dir|text|folder)/i;
const planningTools = /(?:^|[._-])(?:update_?plan|todo_?write|write_?todos|set_?plan|plan)$/i;

const changingPrograms =
  /^(?:mv|cp|rm|mkdir|rmdir|touch|ln|chmod|chown|tee|dd|truncate|install|patch|unzip|tar|apply_patch|rename|sqlite3|psql|mysql|pip3?|npm|apt(?:-get)?|make|gcc|cargo)$/;
const readingPrograms =
  /^(?:cat|ls|head|tail|less|more|wc|grep|egrep|rg|find|stat|file|diff|cmp|tree|test|\[|\[\[|awk|cut|sort|uniq|nl|od|xxd|md5sum|sha\d+sum|jq|du|pytest|jest|vitest|tox|nosetests|ctest)$/;
const testingCommand =
  /(?:^|[\s;&|(])(?:python3?\s+-m\s+(?:pytest|unittest)|pytest|(?:npm|pnpm|yarn|go|cargo|dotnet|mvn|gradle)\s+(?:run\s+)?test|make\s+(?:test|check)|node\s+--test|bash\s+\S*test\S*)(?=$|[\s;&|)])/;
const gitChanges =
  /^(?:add|commit|merge|rebase|reset|revert|checkout|switch|restore|cherry-pick|apply|am|rm|mv|stash|pull|init|clone|branch|tag|clean)$/;

export type ToolKind = "changes" | "verifies" | "other";

export function isGenericShell(tool: string): boolean {
  return shellTools.test(tool);
}

export function isPlanning(tool: string): boolean {
  return planningTools.test(snake(tool));
}

/** A use that both changes and reads counts as a change: what it read may not be the result. */
export function kindOf(use: ToolUse): ToolKind {
  if (isPlanning(use.tool)) return "other";
  if (isGenericShell(use.tool)) return kindOfCommand(commandOf(use));
  const name = snake(use.tool);
  if (changingTools.test(name)) return "changes";
  return readingTools.test(name) ? "verifies" : "other";
}

/** Programs that a shell use runs, without folders; empty for other tools. */
export function programsOf(use: ToolUse): readonly string[] {
  if (!isGenericShell(use.tool)) return [];
  return simpleCommands(commandOf(use)).flatMap(([program]) => (program === undefined ? [] : [program.replace(/^.*\//, "")]));
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

function kindOfCommand(command: string): ToolKind {
  if (testingCommand.test(command)) return "verifies";
  const commands = simpleCommands(command);
  if (writesToFile(command) || commands.some(isChange)) return "changes";
  return commands.some(([program]) => program !== undefined && (readingPrograms.test(program.replace(/^.*\//, "")) || program === "git"))
    ? "verifies"
    : "other";
}

function isChange([program, ...rest]: readonly string[]): boolean {
  const name = (program ?? "").replace(/^.*\//, "");
  if (name === "sed" || name === "perl") return rest.some((word) => /^-\w*i|^--in-place/.test(word));
  if (name === "git") return gitChanges.test(rest.find((word) => !word.startsWith("-")) ?? "");
  return changingPrograms.test(name);
}

/** `>` and `>>` to something other than a descriptor or /dev/null, outside quotes. */
function writesToFile(command: string): boolean {
  return />>?\s*(?![&>])(?!\s*\/dev\/(?:null|stderr|stdout))\S/.test(unquoted(command).replaceAll(/\d?>&\d?|\d>\s*\/dev\/null|=>|->/g, " "));
}

/** Words of each simple command, split at `;`, `&&`, `||`, `|` and line ends; assignments and `sudo`-like words are skipped. */
function simpleCommands(command: string): readonly (readonly string[])[] {
  return unquoted(command)
    .split(/\n|;|&&|\|\|?|\$\(|[()`]/)
    .map((part) =>
      part
        .trim()
        .split(/\s+/)
        .filter((word) => word !== ""),
    )
    .map(withoutPrefix)
    .filter((words) => words.length > 0);
}

function withoutPrefix(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^(?:\w+=.*|sudo|env|time|timeout|nohup|exec|then|do|else|if|while|!|\{|\d+s?)$/.test(word));
  return first < 0 ? [] : words.slice(first);
}

/** Text inside quotes and here-documents replaced by a mark: it is data and no command. */
function unquoted(command: string): string {
  return command.replaceAll(/<<-?\s*(['"]?)(\w+)\1([^\n]*)\n[\s\S]*?\n\s*\2(?=\n|$)/g, "$3").replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, "_");
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
function snake(tool: string): string {
  return tool.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2");
}
