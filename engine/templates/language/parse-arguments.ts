/** The arguments of a call, in the order that Python allows. */
import type { CallArguments, Expression } from "./syntax.ts";
import type { TokenStream } from "./token-stream.ts";

/** From the opening to the closing bracket; `expression` reads one argument's value. */
export function parseArguments(stream: TokenStream, expression: () => Expression): CallArguments {
  const { line } = stream.expectOperator("(");
  const positional: Expression[] = [];
  const keywords: { name: string; value: Expression }[] = [];
  let spread: Expression | null = null;
  let keywordSpread: Expression | null = null;
  const ensure = (valid: boolean): void => {
    if (!valid) stream.fail("invalid syntax for function call expression", line);
  };
  for (let first = true; !stream.isOperator(")"); first = false) {
    if (!first) stream.expectOperator(",");
    if (!first && stream.isOperator(")")) break;
    if (stream.skipOperator("*")) {
      ensure(spread === null && keywordSpread === null);
      spread = expression();
    } else if (stream.skipOperator("**")) {
      ensure(keywordSpread === null);
      keywordSpread = expression();
    } else if (stream.isKind("name") && stream.following.kind === "operator" && stream.following.text === "=") {
      ensure(keywordSpread === null);
      const name = stream.next().text;
      stream.next();
      keywords.push({ name, value: expression() });
    } else {
      ensure(spread === null && keywordSpread === null && keywords.length === 0);
      positional.push(expression());
    }
  }
  stream.expectOperator(")");
  return { positional, keywords, spread, keywordSpread };
}
