/** Statements of a template: text, output and blocks. */
import type { Token } from "./lexer.ts";
import { tokenize } from "./lexer.ts";
import { ExpressionParser } from "./parse-expression.ts";
import type { Expression, Parameter, Statement, Target } from "./syntax.ts";
import { TokenStream } from "./token-stream.ts";

const constantNames: ReadonlySet<string> = new Set(["true", "True", "false", "False", "none", "None"]);

class TemplateParser {
  readonly #stream: TokenStream;
  readonly #expressions: ExpressionParser;
  /** Names of the blocks that are open, and the names each waits for. */
  readonly #open: string[] = [];
  readonly #awaited: (readonly string[])[] = [];

  constructor(tokens: readonly Token[]) {
    this.#stream = new TokenStream(tokens);
    this.#expressions = new ExpressionParser(this.#stream);
  }

  template(): readonly Statement[] {
    return this.#until([]);
  }

  /** Statements up to a block named in `ends`; that name is left as the current token. */
  #until(ends: readonly string[]): readonly Statement[] {
    const stream = this.#stream;
    const body: Statement[] = [];
    this.#awaited.push(ends);
    while (!stream.isKind("end")) {
      const { kind, text, line } = stream.next();
      if (kind === "data") body.push({ type: "data", text, line });
      else if (kind === "variable-begin") {
        body.push({ type: "print", value: this.#expressions.tuple(), line });
        stream.expectKind("variable-end");
      } else {
        if (stream.isName(...ends)) {
          this.#awaited.pop();
          return body;
        }
        body.push(...this.#statement());
        stream.expectKind("block-end");
      }
    }
    if (ends.length > 0) this.#failAt(null);
    return body;
  }

  /** A block's body: the rest of its opening tag, then up to one of `ends`. */
  #body(...ends: readonly string[]): readonly Statement[] {
    this.#stream.skipOperator(":");
    this.#stream.expectKind("block-end");
    return this.#until(ends);
  }

  #closedBody(end: string): readonly Statement[] {
    const body = this.#body(end);
    this.#stream.next();
    return body;
  }

  #failAt(unknownTag: string | null): never {
    const awaited = this.#awaited.at(-1) ?? [];
    const message = [unknownTag === null ? "Unexpected end of template." : `Encountered unknown tag '${unknownTag}'.`];
    if (awaited.length > 0) message.push(`Jinja was looking for the following tags: ${awaited.map((tag) => `'${tag}'`).join(" or ")}.`);
    const innermost = this.#open.at(-1);
    if (innermost !== undefined) message.push(`The innermost block that needs to be closed is '${innermost}'.`);
    return this.#stream.fail(message.join(" "));
  }

  #statement(): readonly Statement[] {
    const token = this.#stream.current;
    if (token.kind !== "name") this.#stream.fail("tag name expected");
    this.#open.push(token.text);
    const result = this.#block(token.text, token.line);
    this.#open.pop();
    return result;
  }

  #block(tag: string, line: number): readonly Statement[] {
    const stream = this.#stream;
    stream.next();
    switch (tag) {
      case "for":
        return [this.#for(line)];
      case "if":
        return [this.#if(line)];
      case "set":
        return [this.#set(line)];
      case "macro":
        return [this.#macro(line)];
      case "call":
        return [this.#callBlock(line)];
      case "filter":
        return [this.#filterBlock(line)];
      case "with":
        return [this.#with(line)];
      case "print":
        return this.#print();
      case "generation":
        return [{ type: "generation", body: this.#closedBody("endgeneration"), line }];
      case "break":
      case "continue":
        return [{ type: tag, line }];
      case "block":
        return [this.#namedBlock(line)];
      case "autoescape":
        this.#expressions.expression();
        return [{ type: "scope", body: this.#closedBody("endautoescape"), line }];
      case "include":
      case "import":
      case "from":
      case "extends":
        while (!stream.isKind("block-end") && !stream.isKind("end")) stream.next();
        return [{ type: "load", line }];
      default:
        this.#open.pop();
        return this.#failAt(tag);
    }
  }

  #for(line: number): Statement {
    const stream = this.#stream;
    const target = this.#target({ endName: "in" });
    stream.expectName("in");
    const items = this.#expressions.tuple({ conditional: false, endName: "recursive" });
    const condition = stream.skipName("if") ? this.#expressions.expression() : null;
    const recursive = stream.skipName("recursive");
    const body = this.#body("endfor", "else");
    const otherwise = stream.next().text === "endfor" ? [] : this.#closedBody("endfor");
    return { type: "for", target, items, condition, recursive, body, otherwise, line };
  }

  #if(line: number): Statement {
    const branches: { test: Expression; body: readonly Statement[] }[] = [];
    for (;;) {
      const test = this.#expressions.tuple({ conditional: false });
      branches.push({ test, body: this.#body("elif", "else", "endif") });
      const { text } = this.#stream.next();
      if (text === "elif") continue;
      return { type: "if", branches, otherwise: text === "else" ? this.#closedBody("endif") : [], line };
    }
  }

  #set(line: number): Statement {
    const target = this.#target({ namespace: true });
    if (this.#stream.skipOperator("=")) return { type: "set", target, value: this.#expressions.tuple(), line };
    const filter = this.#expressions.filters(null);
    return { type: "set-block", target, filter, body: this.#closedBody("endset"), line };
  }

  #macro(line: number): Statement {
    const name = this.#plainName();
    const parameters = this.#parameters();
    return { type: "macro", name, parameters, body: this.#closedBody("endmacro"), line };
  }

  #callBlock(line: number): Statement {
    const parameters = this.#stream.isOperator("(") ? this.#parameters() : [];
    const call = this.#expressions.expression();
    if (call.type !== "call") return this.#stream.fail("expected call", line);
    return { type: "call-block", parameters, call, body: this.#closedBody("endcall"), line };
  }

  #filterBlock(line: number): Statement {
    const filter = this.#expressions.filters(null, true);
    if (filter === null) return this.#stream.fail("expected a filter", line);
    return { type: "filter-block", filter, body: this.#closedBody("endfilter"), line };
  }

  #with(line: number): Statement {
    const bindings: { target: Target; value: Expression }[] = [];
    while (!this.#stream.isKind("block-end")) {
      if (bindings.length > 0) this.#stream.expectOperator(",");
      const target = this.#target({});
      this.#stream.expectOperator("=");
      bindings.push({ target, value: this.#expressions.expression() });
    }
    return { type: "with", bindings, body: this.#closedBody("endwith"), line };
  }

  #print(): readonly Statement[] {
    const statements: Statement[] = [];
    while (!this.#stream.isKind("block-end")) {
      if (statements.length > 0) this.#stream.expectOperator(",");
      const { line } = this.#stream.current;
      statements.push({ type: "print", value: this.#expressions.expression(), line });
    }
    return statements;
  }

  #namedBlock(line: number): Statement {
    const name = this.#stream.expectKind("name").text;
    this.#stream.skipName("scoped");
    this.#stream.skipName("required");
    const body = this.#closedBody("endblock");
    this.#stream.skipName(name);
    return { type: "scope", body, line };
  }

  #parameters(): readonly Parameter[] {
    const parameters: Parameter[] = [];
    this.#stream.expectOperator("(");
    while (!this.#stream.isOperator(")")) {
      if (parameters.length > 0) this.#stream.expectOperator(",");
      const name = this.#plainName();
      const value = this.#stream.skipOperator("=") ? this.#expressions.expression() : null;
      if (value === null && parameters.some((parameter) => parameter.default !== null)) {
        this.#stream.fail("non-default argument follows default argument");
      }
      parameters.push({ name, default: value });
    }
    this.#stream.expectOperator(")");
    return parameters;
  }

  #plainName(): string {
    const { text, line } = this.#stream.expectKind("name");
    if (constantNames.has(text)) this.#stream.fail("can't assign to 'const'", line);
    return text;
  }

  /** A name, a tuple of targets, or where allowed `namespace.attribute`. */
  #target(options: { readonly namespace?: boolean; readonly endName?: string }): Target {
    const stream = this.#stream;
    const { line } = stream.current;
    const items: Target[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) stream.expectOperator(",");
      const ended =
        stream.isKind("block-end") ||
        stream.isOperator(")") ||
        stream.isOperator("=") ||
        (options.endName !== undefined && stream.isName(options.endName));
      if (ended) break;
      items.push(this.#singleTarget(options.namespace ?? false));
      if (!stream.isOperator(",")) break;
      isTuple = true;
    }
    const [only] = items;
    if (!isTuple && only !== undefined) return only;
    if (items.length === 0) stream.fail("expected a name to assign to");
    return { type: "tuple", items, line };
  }

  #singleTarget(namespace: boolean): Target {
    const stream = this.#stream;
    const { line } = stream.current;
    if (stream.skipOperator("(")) {
      const target = this.#target({ namespace });
      stream.expectOperator(")");
      return target;
    }
    const name = this.#plainName();
    if (namespace && stream.skipOperator(".")) return { type: "namespace-attribute", namespace: name, name: stream.expectKind("name").text, line };
    return { type: "name", name, line };
  }
}

/** Throws `TemplateError` of kind TemplateSyntaxError. */
export function parseTemplate(source: string): readonly Statement[] {
  return new TemplateParser(tokenize(source)).template();
}
