/** What follows an object in dots or square brackets. */
import type { Expression } from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

/** `.name`, `.0`, `[index]`, `[start:stop:step]` or several with commas between, after an object. */
export function parseSubscript(stream: TokenStream, object: Expression, expression: () => Expression): Expression {
  const { line, text } = stream.next();
  if (text === ".") return member(stream, object, line);
  const indexes: Expression[] = [];
  while (!stream.isOperator("]")) {
    if (indexes.length > 0) stream.expectOperator(",");
    indexes.push(index(stream, expression));
  }
  stream.expectOperator("]");
  const [only] = indexes;
  const place: Expression = indexes.length === 1 && only !== undefined ? only : { type: "tuple", items: indexes, line };
  return { type: "item", object, index: place, line };
}

function member(stream: TokenStream, object: Expression, line: number): Expression {
  const token = stream.next();
  if (token.kind === "name") return { type: "attribute", object, name: token.text, line };
  if (token.kind !== "integer") stream.fail("expected name or number", token.line);
  return { type: "item", object, index: { type: "constant", value: BigInt(token.text), line: token.line }, line };
}

function index(stream: TokenStream, expression: () => Expression): Expression {
  const { line } = stream.current;
  let start: Expression | null = null;
  if (!stream.isOperator(":")) {
    start = expression();
    if (!stream.isOperator(":")) return start;
  }
  stream.next();
  const stop = sliceBound(stream, expression);
  const step = stream.skipOperator(":") ? sliceBound(stream, expression) : null;
  return { type: "slice", start, stop, step, line };
}

function sliceBound(stream: TokenStream, expression: () => Expression): Expression | null {
  return stream.isOperator(":") || stream.isOperator("]") || stream.isOperator(",") ? null : expression();
}
