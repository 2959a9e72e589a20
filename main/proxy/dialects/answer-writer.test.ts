/** Whatever is said in whatever pieces: what goes out is one stream of the dialect that says the same as the whole answer's. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Answer } from "../../../engine/conversation/index.ts";
import { functionAnswerArbitrary } from "./answer-arbitrary.test-data.ts";
import type { SaidPiece } from "./answer-writer.ts";
import { dialects } from "./by-id.ts";
import type { AnswerContext } from "./dialect.ts";

const context: AnswerContext = {
  callId: "r1-0-3",
  createdAt: 1_700_000_000,
  reply: { model: "m", stream: true, includeUsage: true, encryptedReasoning: true, parallelToolCalls: true },
};
const textOf = ({ message }: Answer): string => message.content.map((part) => (part.type === "text" ? part.text : "")).join("");

/** Cut anywhere, inside characters too. */
function piecesOf(kind: SaidPiece["kind"], text: string, cuts: readonly number[]): readonly SaidPiece[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((left, right) => left - right), text.length];
  return places.slice(1).map((end, index) => ({ kind, text: text.slice(places[index], end) }));
}

describe.each(Object.values(dialects))("in $id", (dialect) => {
  it("what was said and the rest are one stream, however much was said", () => {
    const cuts = fc.array(fc.nat(200), { maxLength: 5 });
    fc.assert(
      fc.property(functionAnswerArbitrary, cuts, cuts, fc.nat(12), (answer, reasoningCuts, textCuts, until) => {
        const writer = dialect.openAnswer(context);
        const said = [...piecesOf("reasoning", answer.message.reasoning ?? "", reasoningCuts), ...piecesOf("text", textOf(answer), textCuts)];
        const out = said.slice(0, until).map((piece) => writer.say(piece));
        expect(writer.fits(answer)).toBe(true);
        const stream = out.join("") + writer.finish(answer);
        expect(dialect.readAnswer(stream, true)).toEqual(dialect.readAnswer(dialect.answerStream(answer, context), true));
      }),
    );
  });

  it("takes no reasoning after text, and no answer that goes on otherwise", () => {
    const writer = dialect.openAnswer(context);
    const answer = (text: string): Answer => ({
      message: { role: "assistant", content: [{ type: "text", text }], reasoning: "I wonder.", toolCalls: [] },
      ...{ finishReason: "stop", usage: { promptTokens: 1, completionTokens: 1 }, unparsedToolCall: false, policyVersion: "m" },
    });
    const begun = writer.say({ kind: "text", text: "The file is" });
    expect(writer.say({ kind: "reasoning", text: "I wonder." })).toBe("");
    expect(writer.fits(answer("No file."))).toBe(false);
    expect(writer.fits(answer("The file is empty."))).toBe(true);
    const read = dialect.readAnswer(begun + writer.finish(answer("The file is empty.")), true);
    expect(read?.message).toEqual({ role: "assistant", content: [{ type: "text", text: "The file is empty." }], toolCalls: [] });
  });

  it("a stream that breaks off ends with the dialect's error", () => {
    const writer = dialect.openAnswer(context);
    const begun = writer.say({ kind: "reasoning", text: "I look." }) + writer.say({ kind: "text", text: "The file" });
    const stream = begun + writer.fail({ status: 502, code: "policy_unreachable", type: "server_error", message: "It was cut." });
    expect(stream).toContain("The file");
    expect(stream.trimEnd().split("\n\n").at(-1)).toContain("It was cut.");
    expect(dialect.readAnswer(stream, true)).toBeNull();
  });
});
