/**
 * What a policy may run where nothing isolates it: one plain command on files of its own folder. The text is checked before bash sees it,
 * by a grammar so small that bash can understand nothing else by it:
 *
 *   command  = name { blank word } [ blank ">" | ">>" [ blank ] word ]
 *   word     = letters, digits and _ . , : @ % + = / * ? -, or such (and blanks) in quotes, or $(( whole-number arithmetic ))
 *
 * No word may be an absolute path, hold `..` as a part, or be a long option. No command of the list runs another, reads names from a
 * file, or makes a link that leads out, and the folder holds no links to begin with. So nothing outside the folder can be named.
 */

const allowed = ["echo", "cat", "ls", "grep", "cp", "mv", "mkdir", "rmdir", "rm", "touch", "pwd", "head", "tail"];
const longest = 4_000;
const bare = /^[A-Za-z0-9_.,:@%+=/*?-]+/;
const quoted = /^(?:"[A-Za-z0-9_.,:@%+=/*? -]*"|'[A-Za-z0-9_.,:@%+=/*? -]*')/;
const arithmetic = /^\$\(\([0-9+*/% -]*(?:\([0-9+*/% -]*\)[0-9+*/% -]*)*\)\)/;

/** Why this command is not run, as the policy is told; null = it may run. */
export function refusalOfCommand(text: string): string | null {
  if (text.length > longest) return "the command is too long";
  const words = readWords(text);
  if (words === null) return "only one plain command is allowed here, with > or >> for its output";
  const [name = ""] = words;
  if (!allowed.includes(name)) return `${name === "" ? "an empty command" : name} is not allowed here; allowed are ${allowed.join(" ")}`;
  for (const word of words.slice(1)) {
    if (word.startsWith("/") || word.includes("=/")) return "absolute paths are not allowed here";
    if (word.split("/").includes("..")) return ".. is not allowed here";
    if (/^-/.test(word) && !/^-[A-Za-z0-9]{0,8}$/.test(word) && !isNumber(word)) return "long options are not allowed here";
  }
  return null;
}

const isNumber = (word: string): boolean => /^-\d+$/.test(word);

/** The words without their quotes, the target of a redirection last; null when the text is anything but one plain command. */
function readWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let rest = text.replace(/^ +| +$/g, "");
  let redirected = false;
  while (rest !== "") {
    // `2>` would be another stream than what it looks like.
    const redirection = /^>>? */.exec(rest);
    if (redirection !== null) {
      if (redirected || words.length === 0) return null;
      redirected = true;
      rest = rest.slice(redirection[0].length);
    }
    const word = readWord(rest);
    if (word === null) return null;
    words.push(word.value);
    rest = rest.slice(word.length);
    const blanks = /^ +/.exec(rest)?.[0].length ?? 0;
    // The target of a redirection is the end.
    if (redirected && rest.length > blanks) return null;
    if (rest !== "" && blanks === 0) return null;
    rest = rest.slice(blanks);
  }
  return words;
}

function readWord(text: string): { readonly value: string; readonly length: number } | null {
  let value = "";
  let at = 0;
  for (;;) {
    const rest = text.slice(at);
    const found = bare.exec(rest) ?? quoted.exec(rest) ?? arithmetic.exec(rest);
    if (found === null) break;
    const [piece] = found;
    value += piece.startsWith('"') || piece.startsWith("'") ? piece.slice(1, -1) : piece.startsWith("$") ? "0" : piece;
    at += piece.length;
  }
  return at === 0 ? null : { value, length: at };
}
