/** Expressions of a template, with jinja2's precedence. */
import { parseArguments } from "./parse-arguments.ts";
import { parseSubscript } from "./parse-subscript.ts";
import type { CallArguments, CompareOperator, Expression, FilterExpression } from "./syntax.ts";
import { describeToken, type TokenStream } from "./token-stream.ts";

export interface TupleOptions {
  /** `a if b else c` may stand here. Default true. */
  readonly conditional?: boolean;
  /** `()` is a tuple. */
  readonly parentheses?: boolean;
  /** A name that ends the tuple. */
  readonly endName?: string;
}

const noArguments: CallArguments = { positional: [], keywords: [], spread: null, keywordSpread: null };
const constants: ReadonlyMap<string, null | boolean> = new Map([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["none", null],
  ["None", null],
]);
const comparisons: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);

export class ExpressionParser {
  readonly stream: TokenStream;
  constructor(stream: TokenStream) {
    this.stream = stream;
  }

  expression(conditional = true): Expression {
    return conditional ? this.#conditional() : this.#or();
  }

  /** One expression, or several with commas between as a tuple. */
  tuple(options: TupleOptions = {}): Expression {
    const { stream } = this;
    let line = stream.current.line;
    const items: Expression[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) stream.expectOperator(",");
      if (this.#atTupleEnd(options.endName)) break;
      items.push(this.expression(options.conditional ?? true));
      if (!stream.isOperator(",")) break;
      isTuple = true;
      line = stream.current.line;
    }
    const [only] = items;
    if (!isTuple && only !== undefined) return only;
    if (!isTuple && options.parentheses !== true) stream.fail(`Expected an expression, got '${describeToken(stream.current)}'`);
    return { type: "tuple", items, line };
  }

  #atTupleEnd(endName: string | undefined): boolean {
    const { stream } = this;
    return stream.isKind("variable-end") || stream.isKind("block-end") || stream.isOperator(")") || (endName !== undefined && stream.isName(endName));
  }

  #conditional(): Expression {
    let { line } = this.stream.current;
    let result = this.#or();
    while (this.stream.skipName("if")) {
      const test = this.#or();
      const otherwise = this.stream.skipName("else") ? this.#conditional() : null;
      result = { type: "conditional", test, value: result, otherwise, line };
      line = this.stream.current.line;
    }
    return result;
  }

  #or(): Expression {
    const { line } = this.stream.current;
    let left = this.#and();
    while (this.stream.skipName("or")) left = { type: "or", left, right: this.#and(), line };
    return left;
  }

  #and(): Expression {
    const { line } = this.stream.current;
    let left = this.#not();
    while (this.stream.skipName("and")) left = { type: "and", left, right: this.#not(), line };
    return left;
  }

  #not(): Expression {
    if (!this.stream.isName("not")) return this.#compare();
    const { line } = this.stream.next();
    return { type: "not", operand: this.#not(), line };
  }

  #compare(): Expression {
    const { line } = this.stream.current;
    const first = this.#sum();
    const rest: { operator: CompareOperator; operand: Expression }[] = [];
    for (let operator = this.#comparison(); operator !== null; operator = this.#comparison()) rest.push({ operator, operand: this.#sum() });
    return rest.length === 0 ? first : { type: "compare", first, rest, line };
  }

  #comparison(): CompareOperator | null {
    const { stream } = this;
    if (stream.isKind("operator") && comparisons.has(stream.current.text)) return stream.next().text as CompareOperator;
    if (stream.skipName("in")) return "in";
    if (!stream.isName("not") || stream.following.kind !== "name" || stream.following.text !== "in") return null;
    stream.next();
    stream.next();
    return "not in";
  }

  #sum(): Expression {
    const { line } = this.stream.current;
    let left = this.#concat();
    while (this.stream.isOperator("+") || this.stream.isOperator("-")) {
      const operator = this.stream.next().text as "+" | "-";
      left = { type: "arithmetic", operator, left, right: this.#concat(), line };
    }
    return left;
  }

  #concat(): Expression {
    const { line } = this.stream.current;
    const first = this.#product();
    const parts = [first];
    while (this.stream.skipOperator("~")) parts.push(this.#product());
    return parts.length === 1 ? first : { type: "concat", parts, line };
  }

  #product(): Expression {
    const { line } = this.stream.current;
    let left = this.#power();
    while (["*", "/", "//", "%"].some((text) => this.stream.isOperator(text))) {
      const operator = this.stream.next().text as "*" | "/" | "//" | "%";
      left = { type: "arithmetic", operator, left, right: this.#power(), line };
    }
    return left;
  }

  #power(): Expression {
    const { line } = this.stream.current;
    let left = this.unary();
    while (this.stream.skipOperator("**")) left = { type: "arithmetic", operator: "**", left, right: this.unary(), line };
    return left;
  }

  unary(withFilter = true): Expression {
    const { line } = this.stream.current;
    let node: Expression;
    if (this.stream.skipOperator("-")) node = { type: "negative", operand: this.unary(false), line };
    else if (this.stream.skipOperator("+")) node = { type: "positive", operand: this.unary(false), line };
    else node = this.primary();
    node = this.#postfix(node);
    return withFilter ? this.#filtersAndTests(node) : node;
  }

  primary(): Expression {
    const { stream } = this;
    const { kind, text, line } = stream.current;
    if (kind === "name") {
      stream.next();
      const constant = constants.get(text);
      return constant === undefined ? { type: "name", name: text, line } : { type: "constant", value: constant, line };
    }
    if (kind === "string") return this.#strings();
    if (kind === "integer" || kind === "float") {
      stream.next();
      return { type: "constant", value: kind === "integer" ? BigInt(text.toLowerCase()) : Number(text), line };
    }
    if (stream.skipOperator("(")) {
      const node = this.tuple({ parentheses: true });
      stream.expectOperator(")");
      return node;
    }
    if (stream.isOperator("[")) return this.#list();
    if (stream.isOperator("{")) return this.#dict();
    return stream.fail(`unexpected '${describeToken(stream.current)}'`);
  }

  /** Strings beside one another are one string. */
  #strings(): Expression {
    const { line } = this.stream.current;
    let value = "";
    while (this.stream.isKind("string")) value += this.stream.next().text;
    return { type: "constant", value, line };
  }

  #list(): Expression {
    const { line } = this.stream.expectOperator("[");
    const items: Expression[] = [];
    while (!this.stream.isOperator("]")) {
      if (items.length > 0) this.stream.expectOperator(",");
      if (this.stream.isOperator("]")) break;
      items.push(this.expression());
    }
    this.stream.expectOperator("]");
    return { type: "list", items, line };
  }

  #dict(): Expression {
    const { line } = this.stream.expectOperator("{");
    const entries: [Expression, Expression][] = [];
    while (!this.stream.isOperator("}")) {
      if (entries.length > 0) this.stream.expectOperator(",");
      if (this.stream.isOperator("}")) break;
      const key = this.expression();
      this.stream.expectOperator(":");
      entries.push([key, this.expression()]);
    }
    this.stream.expectOperator("}");
    return { type: "dict", entries, line };
  }

  #postfix(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.stream.isOperator(".") || this.stream.isOperator("[")) node = parseSubscript(this.stream, node, () => this.expression());
      else if (this.stream.isOperator("(")) node = this.#call(node);
      else return node;
    }
  }

  #filtersAndTests(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.stream.isOperator("|")) node = this.filters(node) ?? node;
      else if (this.stream.isName("is")) node = this.#test(node);
      else if (this.stream.isOperator("(")) node = this.#call(node);
      else return node;
    }
  }

  #call(callee: Expression): Expression {
    const { line } = this.stream.current;
    return { type: "call", callee, arguments: parseArguments(this.stream, () => this.expression()), line };
  }

  /** `| filter | filter …` onto a subject, or for a block when it is null; `inline`: the first stands without its bar. */
  filters(subject: Expression | null, inline = false): FilterExpression | null {
    let node = subject;
    let result: FilterExpression | null = null;
    for (let bare = inline; bare || this.stream.isOperator("|"); bare = false) {
      if (!bare) this.stream.next();
      const { line } = this.stream.current;
      const name = this.#dottedName();
      result = {
        type: "filter",
        subject: node,
        name,
        arguments: this.stream.isOperator("(") ? parseArguments(this.stream, () => this.expression()) : noArguments,
        line,
      };
      node = result;
    }
    return result;
  }

  #dottedName(): string {
    let name = this.stream.expectKind("name").text;
    while (this.stream.skipOperator(".")) name += `.${this.stream.expectKind("name").text}`;
    return name;
  }

  #test(subject: Expression): Expression {
    const { line } = this.stream.next();
    const isNegated = this.stream.skipName("not");
    const name = this.#dottedName();
    const test: Expression = { type: "test", subject, name, arguments: this.#testArguments(), line };
    return isNegated ? { type: "not", operand: test, line } : test;
  }

  #testArguments(): CallArguments {
    const { stream } = this;
    if (stream.isOperator("(")) return parseArguments(this.stream, () => this.expression());
    const startsValue = ["name", "string", "integer", "float"].includes(stream.current.kind) || stream.isOperator("[") || stream.isOperator("{");
    if (!startsValue || stream.isName("else", "or", "and")) return noArguments;
    if (stream.isName("is")) stream.fail("You cannot chain multiple tests with is");
    return { ...noArguments, positional: [this.#postfix(this.primary())] };
  }
}
