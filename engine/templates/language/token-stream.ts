/** Reading the tokens of a template one by one. */

import { TemplateError, type TemplateErrorKind } from "../template-error.ts";
import type { Token, TokenKind } from "./lexer.ts";

const descriptions: Partial<Record<TokenKind, string>> = {
  "variable-begin": "begin of print statement",
  "variable-end": "end of print statement",
  "block-begin": "begin of statement block",
  "block-end": "end of statement block",
  data: "template data / text",
  end: "end of template",
};

export function describeToken(token: Token): string {
  if (token.kind === "name" || token.kind === "operator") return token.text;
  return descriptions[token.kind] ?? token.kind;
}

export class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    this.#end = tokens.at(-1) ?? { kind: "end", text: "", line: 1 };
  }

  get current(): Token {
    return this.#tokens[this.#position] ?? this.#end;
  }
  get following(): Token {
    return this.#tokens[this.#position + 1] ?? this.#end;
  }

  next(): Token {
    const token = this.current;
    this.#position++;
    return token;
  }

  isKind(kind: TokenKind): boolean {
    return this.current.kind === kind;
  }
  isOperator(text: string): boolean {
    return this.current.kind === "operator" && this.current.text === text;
  }
  isName(...names: readonly string[]): boolean {
    return this.current.kind === "name" && names.includes(this.current.text);
  }

  skipOperator(text: string): boolean {
    if (!this.isOperator(text)) return false;
    this.#position++;
    return true;
  }
  skipName(name: string): boolean {
    if (!this.isName(name)) return false;
    this.#position++;
    return true;
  }

  expectKind(kind: TokenKind): Token {
    return this.isKind(kind) ? this.next() : this.#unexpected(descriptions[kind] ?? kind);
  }
  expectOperator(text: string): Token {
    return this.isOperator(text) ? this.next() : this.#unexpected(text);
  }
  expectName(name: string): Token {
    return this.isName(name) ? this.next() : this.#unexpected(name);
  }

  #unexpected(expected: string): never {
    if (this.current.kind === "end") this.fail(`unexpected end of template, expected '${expected}'.`);
    this.fail(`expected token '${expected}', got '${describeToken(this.current)}'`);
  }

  fail(problem: string, line = this.current.line, kind: TemplateErrorKind = "TemplateSyntaxError"): never {
    throw new TemplateError(kind, problem, line);
  }
}
