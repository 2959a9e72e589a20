/**
 * Tokens of a Jinja template, as jinja2 3.1 cuts them with `trim_blocks` and `lstrip_blocks` on: one line end after a
 * block is dropped, white space before a block that begins its line too; `-` strips, `+` keeps.
 */

import { TemplateError } from "../template-error.ts";
import { isSpace, trimEnd, trimStart, whiteSpace } from "../values/text.ts";
import { readStringLiteral } from "./string-literal.ts";

export type TokenKind =
  | "data"
  | "variable-begin"
  | "variable-end"
  | "block-begin"
  | "block-end"
  | "name"
  | "string"
  | "integer"
  | "float"
  | "operator"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  /** Source text; the value of a string; digits of a number without underscores. */
  readonly text: string;
  readonly line: number;
}

const space = new RegExp(`[${whiteSpace}]+`, "y");
const float = /(?<!\.)(?:[0-9]+_)*[0-9]+(?:(?:\.(?:[0-9]+_)*[0-9]+)?e[+-]?(?:[0-9]+_)*[0-9]+|\.(?:[0-9]+_)*[0-9]+)/iy;
const integer = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[0-9a-f])+|[1-9](?:_?[0-9])*|0(?:_?0)*/iy;
const name = /[\p{ID_Continue}\p{N}]+/uy;
const identifier = /^[\p{ID_Start}_]\p{ID_Continue}*$/u;
const string = /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const operator = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;]/y;
const opening = /\{%([-+]?)\s*raw\s*(?:-%\}\s*|%\})|\{\{([-+]?)|\{#([-+]?)|\{%([-+]?)/g;
const rawEnd = /\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\}\n?)/g;
const commentEnd = /\+#\}|-#\}|#\}\n?/g;
const blockEnd = /\+%\}|-%\}|%\}\n?/y;
const variableEnd = /-?\}\}/y;
const closing: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #position = 0;
  #line = 1;
  /** The text before the position ended a line: white space may be stripped up to a block. */
  #lineStarting = true;

  constructor(source: string) {
    this.#source = source;
  }

  run(): readonly Token[] {
    while (this.#position < this.#source.length) this.#segment();
    this.#push("end", "");
    return this.#tokens;
  }

  #push(kind: TokenKind, text: string): void {
    this.#tokens.push({ kind, text, line: this.#line });
  }

  #fail(problem: string): never {
    throw new TemplateError("TemplateSyntaxError", problem, this.#line);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position;
    return pattern.exec(this.#source);
  }

  #advance(end: number): void {
    this.#line += this.#source.slice(this.#position, end).split("\n").length - 1;
    this.#lineStarting = this.#source[end - 1] === "\n";
    this.#position = end;
  }

  /** White space that `-` takes after a tag. */
  #skipSpace(): void {
    const match = this.#match(space);
    if (match !== null) this.#advance(this.#position + match[0].length);
  }

  #data(text: string): void {
    if (text !== "") this.#push("data", text);
  }

  /** Text up to the next tag, and the tag. */
  #segment(): void {
    const match = this.#match(opening);
    if (match === null) {
      this.#data(this.#source.slice(this.#position));
      this.#advance(this.#source.length);
      return;
    }
    const isVariable = match[2] !== undefined;
    const sign = match[1] ?? match[2] ?? match[3] ?? match[4] ?? "";
    this.#data(this.#stripBefore(this.#source.slice(this.#position, match.index), sign, isVariable));
    this.#advance(match.index);
    if (match[1] !== undefined) {
      this.#raw(match[0]);
      return;
    }
    if (match[3] !== undefined) {
      this.#comment(match[0]);
      return;
    }
    this.#push(isVariable ? "variable-begin" : "block-begin", match[0]);
    this.#advance(match.index + match[0].length);
    this.#inside(isVariable);
  }

  #stripBefore(text: string, sign: string, isVariable: boolean): string {
    if (sign === "-") return trimEnd(text);
    if (sign === "+" || isVariable) return text;
    const lineStart = text.lastIndexOf("\n") + 1;
    if (lineStart === 0 && !this.#lineStarting) return text;
    return trimStart(text.slice(lineStart)) === "" ? text.slice(0, lineStart) : text;
  }

  #comment(tag: string): void {
    const start = this.#position + tag.length;
    commentEnd.lastIndex = start;
    const end = commentEnd.exec(this.#source);
    if (end === null && start < this.#source.length) this.#fail("Missing end of comment tag");
    if (end === null) {
      this.#advance(start);
      return;
    }
    this.#advance(end.index + end[0].length);
    if (end[0].startsWith("-")) this.#skipSpace();
  }

  #raw(tag: string): void {
    this.#advance(this.#position + tag.length);
    if (tag.includes("-%}")) this.#skipSpace();
    const end = this.#match(rawEnd);
    if (end === null) this.#fail("Missing end of raw directive");
    this.#data(this.#stripBefore(this.#source.slice(this.#position, end.index), end[1] ?? "", false));
    this.#advance(end.index + end[0].length);
    if (end[0].includes("-%}")) this.#skipSpace();
  }

  /** Tokens up to the end of the tag. Inside brackets an end tag is read as operators. */
  #inside(isVariable: boolean): void {
    const brackets: string[] = [];
    for (;;) {
      const end = brackets.length === 0 ? this.#match(isVariable ? variableEnd : blockEnd) : null;
      if (end !== null) {
        this.#push(isVariable ? "variable-end" : "block-end", end[0]);
        this.#advance(this.#position + end[0].length);
        if (end[0].startsWith("-")) this.#skipSpace();
        return;
      }
      if (this.#position >= this.#source.length) return;
      this.#token(brackets);
    }
  }

  #token(brackets: string[]): void {
    const start = this.#position;
    if (isSpace(this.#source.charAt(start))) {
      this.#skipSpace();
      return;
    }
    for (const [kind, pattern] of tokenPatterns) {
      const match = this.#match(pattern);
      if (match === null) continue;
      this.#push(kind, this.#tokenText(kind, match[0]));
      if (kind === "operator") this.#balance(match[0], brackets);
      this.#advance(start + match[0].length);
      return;
    }
    this.#fail(`unexpected char '${String.fromCodePoint(this.#source.codePointAt(start) ?? 0)}' at ${start}`);
  }

  #tokenText(kind: TokenKind, matched: string): string {
    if (kind === "string") return readStringLiteral(matched.slice(1, -1), (problem) => this.#fail(problem));
    if (kind === "integer" || kind === "float") return matched.replaceAll("_", "");
    if (kind === "name" && !identifier.test(matched)) this.#fail("Invalid character in identifier");
    return matched;
  }

  #balance(bracket: string, brackets: string[]): void {
    const close = closing[bracket];
    if (close !== undefined) brackets.push(close);
    else if (bracket === "}" || bracket === ")" || bracket === "]") {
      const expected = brackets.pop();
      if (expected === undefined) this.#fail(`unexpected '${bracket}'`);
      if (expected !== bracket) this.#fail(`unexpected '${bracket}', expected '${expected}'`);
    }
  }
}

const tokenPatterns: readonly (readonly [TokenKind, RegExp])[] = [
  ["float", float],
  ["integer", integer],
  ["name", name],
  ["string", string],
  ["operator", operator],
];

/** Throws `TemplateError` of kind TemplateSyntaxError. */
export function tokenize(source: string): readonly Token[] {
  const lines = source.replace(/\r\n|\r/g, "\n");
  return new Lexer(lines.endsWith("\n") ? lines.slice(0, -1) : lines).run();
}
