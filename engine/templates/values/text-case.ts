/** Upper and lower case, and what kind of characters a string has, as Python's str methods tell. */

function titleCharacter(character: string): string {
  const upper = character.toUpperCase();
  // A digraph's title case has one capital; a sharp s becomes "Ss".
  return titleDigraphs[upper] ?? (upper.length > character.length && [...upper].length > 1 ? upper.charAt(0) + upper.slice(1).toLowerCase() : upper);
}

const titleDigraphs: Readonly<Record<string, string>> = { Ǆ: "ǅ", Ǉ: "ǈ", Ǌ: "ǋ", Ǳ: "ǲ" };

function splitFirst(plain: string): [string, string] {
  const first = String.fromCodePoint(plain.codePointAt(0) ?? 0);
  return [first, plain.slice(first.length)];
}

export function capitalize(plain: string): string {
  if (plain === "") return "";
  const [first, rest] = splitFirst(plain);
  return titleCharacter(first) + rest.toLowerCase();
}

/** `str.title`: a capital after every character that has no case. */
export function titleCase(plain: string): string {
  return plain.replace(/\p{Cased}+/gu, (word) => {
    const [first, rest] = splitFirst(word);
    return titleCharacter(first) + rest.toLowerCase();
  });
}

/** Jinja's `title` filter: a capital after white space, hyphens and opening brackets. */
export function titleWords(plain: string): string {
  return plain
    .split(/([-\s({[<]+)/)
    .filter((part) => part !== "")
    .map((part) => {
      const [first, rest] = splitFirst(part);
      return first.toUpperCase() + rest.toLowerCase();
    })
    .join("");
}

export function swapCase(plain: string): string {
  return [...plain]
    .map((character) => (isUpper(character) ? character.toLowerCase() : isLower(character) ? character.toUpperCase() : character))
    .join("");
}

export function foldCase(plain: string): string {
  return plain.toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

export function isUpper(plain: string): boolean {
  return /\p{Uppercase}/u.test(plain) && !/\p{Lowercase}|\p{Lt}/u.test(plain);
}

export function isLower(plain: string): boolean {
  return /\p{Lowercase}/u.test(plain) && !/\p{Uppercase}|\p{Lt}/u.test(plain);
}

export function isTitle(plain: string): boolean {
  return /\p{Cased}/u.test(plain) && titleCase(plain) === plain;
}

/** `isdigit`, `isalpha` …: true when there are characters and all are of the kind. */
export const characterTests: Readonly<Record<string, RegExp>> = {
  isalpha: /^\p{L}+$/u,
  isalnum: /^[\p{L}\p{N}]+$/u,
  isdecimal: /^\p{Nd}+$/u,
  isdigit: /^[\p{Nd}²³¹⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒]+$/u,
  isnumeric: /^\p{N}+$/u,
  isidentifier: /^[\p{ID_Start}_]\p{ID_Continue}*$/u,
};
