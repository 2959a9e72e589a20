/** Added tokens: whole strings that are cut out of a text before anything else looks at it. */
import type { AddedTokenDefinition } from "./definition.ts";
import { whiteSpace } from "./patterns.ts";

/** A matched token, in UTF-16 units, with the white space that it takes along. */
export interface AddedTokenMatch {
  readonly start: number;
  readonly end: number;
  readonly id: number;
}

interface TrieNode {
  readonly children: Map<number, TrieNode>;
  token: AddedTokenDefinition | null;
}

const wordCharacter = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]";
const startsWithWord = new RegExp(`^${wordCharacter}`, "u");
const endsWithWord = new RegExp(`${wordCharacter}$`, "u");
const spaceAhead = new RegExp(`${whiteSpace}*`, "uy");
const isSpace = new RegExp(`^${whiteSpace}$`, "u");

/** Finds added tokens in a text, leftmost first, the longest at each place. */
export class AddedTokenMatcher {
  readonly #root: TrieNode = { children: new Map(), token: null };
  readonly empty: boolean;

  /** `patterns` are the texts to look for: the tokens' contents, normalized where they are to be found in normalized text. */
  constructor(patterns: readonly { readonly text: string; readonly token: AddedTokenDefinition }[]) {
    this.empty = patterns.length === 0;
    for (const pattern of patterns) this.#add(pattern.text, pattern.token);
  }

  /** `allowed` may refuse a match by the span of the token proper; then a shorter one at the same place may still be found. */
  find(text: string, allowed: (start: number, end: number) => boolean): AddedTokenMatch[] {
    const matches: AddedTokenMatch[] = [];
    let free = 0;
    for (let position = 0; position < text.length; ) {
      const token = this.#longestAt(text, position, allowed);
      if (token === null) {
        position++;
        continue;
      }
      const end = token.end;
      if (!token.definition.single_word || standsAlone(text, position, end)) {
        const from = token.definition.lstrip ? Math.max(spaceBefore(text, position), free) : position;
        const to = token.definition.rstrip ? spaceAfter(text, end) : end;
        matches.push({ start: from, end: to, id: token.definition.id });
        free = to;
      }
      position = Math.max(end, free);
    }
    return matches;
  }

  #add(text: string, token: AddedTokenDefinition): void {
    let node = this.#root;
    for (let unit = 0; unit < text.length; unit++) {
      const code = text.charCodeAt(unit);
      let child = node.children.get(code);
      if (child === undefined) {
        child = { children: new Map(), token: null };
        node.children.set(code, child);
      }
      node = child;
    }
    if (node !== this.#root) node.token = token;
  }

  #longestAt(
    text: string,
    start: number,
    allowed: (start: number, end: number) => boolean,
  ): { readonly definition: AddedTokenDefinition; readonly end: number } | null {
    let found: { definition: AddedTokenDefinition; end: number } | null = null;
    let node: TrieNode | undefined = this.#root;
    for (let unit = start; unit < text.length; ) {
      node = node.children.get(text.charCodeAt(unit++));
      if (node === undefined) break;
      if (node.token !== null && allowed(start, unit)) found = { definition: node.token, end: unit };
    }
    return found;
  }
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !endsWithWord.test(text.slice(Math.max(0, start - 2), start)) && !startsWithWord.test(text.slice(end, end + 2));
}

function spaceBefore(text: string, end: number): number {
  let start = end;
  while (start > 0 && isSpace.test(text.charAt(start - 1))) start--;
  return start;
}

function spaceAfter(text: string, start: number): number {
  spaceAhead.lastIndex = start;
  return start + (spaceAhead.exec(text)?.[0].length ?? 0);
}
