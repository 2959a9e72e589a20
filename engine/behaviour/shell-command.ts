/** A shell command taken apart far enough to see what its programs do: change files, test or read them, or neither. */

const changingPrograms =
  /^(?:mv|cp|rm|mkdir|rmdir|touch|ln|chmod|chown|tee|dd|truncate|install|patch|unzip|tar|apply_patch|rename|sqlite3|psql|mysql|pip3?|npm|apt(?:-get)?|make|gcc|cargo)$/;
const readingPrograms =
  /^(?:cat|ls|head|tail|less|more|wc|grep|egrep|rg|find|stat|file|diff|cmp|tree|test|\[|\[\[|awk|cut|sort|uniq|nl|od|xxd|md5sum|sha\d+sum|jq|du|pytest|jest|vitest|tox|nosetests|ctest)$/;
const testing =
  /^(?:python3? -m (?:pytest|unittest)|(?:npm|pnpm|yarn|go|cargo|dotnet|mvn|gradle) (?:run )?test\b|make (?:test|check)\b|node --test\b|(?:ba)?sh \S*(?:test|check)\S*)/;
const gitChanges =
  /^(?:add|commit|merge|rebase|reset|revert|checkout|switch|restore|cherry-pick|apply|am|rm|mv|stash|pull|init|clone|branch|tag|clean)$/;
/** Interpreters with their program on the command line or on their input. */
const inlineProgram = /^(?:node|python3?|perl|ruby|php) (?:-\w*[ec]\b|-(?:\s|$)|--input-type|_)/;
const writesInside =
  /write_?(?:file|text|bytes|lines?)|append_?file|open\([^)]*,\s*(?:mode=)?['"][wax]|\.write\(|unlink|rename|rmtree|mkdir|makedirs|copyfile|shutil\.|os\.remove|to_(?:csv|json|excel)\(|\.dump\(|\brmSync\b/i;

export interface CommandKind {
  readonly changes: boolean;
  /** Tests or reads after the last change that it makes itself. */
  readonly verifies: boolean;
}

/** Parts are judged in order: what a part reads before a later one changes it is no check of the work. */
export function kindOfCommand(command: string): CommandKind {
  const { parts, hasQuotes } = simpleCommands(command);
  let changes = false;
  let verifies = false;
  for (const words of parts) {
    if (isChange(words, command)) {
      changes = true;
      verifies = false;
    } else if (isCheck(words, hasQuotes)) verifies = true;
  }
  return { changes, verifies };
}

/** Programs that it runs, without their folders. */
export function programsOf(command: string): readonly string[] {
  return simpleCommands(command).parts.map(([program = ""]) => nameOf(program));
}

function isChange([program = "", ...rest]: readonly string[], whole: string): boolean {
  const name = nameOf(program);
  if (rest.some((word) => /^>/.test(word))) return true;
  if (testing.test([name, ...rest].join(" "))) return false;
  if (inlineProgram.test([name, ...rest].join(" "))) return writesInside.test(whole);
  if (name === "sed" || name === "perl") return rest.some((word) => /^-\w*i|^--in-place/.test(word));
  if (name === "git") return gitChanges.test(rest.find((word, at) => !word.startsWith("-") && rest[at - 1] !== "-c" && rest[at - 1] !== "-C") ?? "");
  return changingPrograms.test(name);
}

function isCheck([program = "", ...rest]: readonly string[], hasQuotes: boolean): boolean {
  const name = nameOf(program);
  const line = [name, ...rest].join(" ");
  return readingPrograms.test(name) || name === "git" || testing.test(line) || (hasQuotes && inlineProgram.test(line));
}

function nameOf(program: string): string {
  return program.replace(/^.*\//, "");
}

/**
 * Words of each simple command, split at `;`, `&&`, `||`, `|` and line ends. Quoted text and here-documents are data: a mark stands
 * for them. Redirections to files are words that begin with `>`; those to descriptors and /dev are left out.
 */
function simpleCommands(command: string): { readonly parts: readonly (readonly string[])[]; readonly hasQuotes: boolean } {
  const withoutText = command
    .replaceAll(/<<-?\s*(['"]?)(\w+)\1([^\n]*)\n[\s\S]*?\n\s*\2(?=\n|$)/g, "_$3")
    .replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, "_");
  const parts = withoutText
    .replaceAll(/(?:\d|&)?>>?\s*(?:&\d?|\/dev\/(?:null|stderr|stdout)\b)/g, " ")
    .replaceAll(/(?:\d|&)?>>?\s*/g, " >")
    .split(/\n|;|&&|\|\|?|\$\(|[()`]/)
    .map((part) =>
      part
        .trim()
        .split(/\s+/)
        .filter((word) => word !== ""),
    )
    .map(withoutPrefix)
    .filter((words) => words.length > 0);
  return { parts, hasQuotes: withoutText !== command };
}

/** Assignments, keywords and programs that only start others. */
function withoutPrefix(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^(?:\w+=.*|sudo|env|time|timeout|nohup|exec|then|do|else|if|while|!|\{|\d+s?)$/.test(word));
  return first < 0 ? [] : words.slice(first);
}
