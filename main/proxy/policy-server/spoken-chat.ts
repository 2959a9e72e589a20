/** A Chat Completions stream that begins while the answer is sampled: text and reasoning as they are certain, calls and the end when it is whole. */
import type { Answer } from "../../../engine/conversation/index.ts";
import type { AnswerDelta } from "../../../engine/tool-calls/index.ts";
import { answerText } from "../dialects/answer-text.ts";
import { chatDialect } from "../dialects/chat/index.ts";
import type { AnswerContext } from "../dialects/dialect.ts";
import { readSse, sseText } from "../streams/sse.ts";

type Channel = "content" | "reasoning";

export class SpokenChat {
  readonly #context: AnswerContext;
  readonly #said: Record<Channel, string> = { content: "", reasoning: "" };

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  /** The events that say these; "" when there is nothing to say yet. */
  events(deltas: readonly AnswerDelta[]): string {
    const isFirst = this.#isSilent;
    const spoken = deltas.flatMap((delta) => (delta.type === "tool-call" || delta.delta === "" ? [] : [delta]));
    for (const { type, delta } of spoken) this.#said[type] += delta;
    const chunks = spoken.map(({ type, delta }) => this.#chunk(type === "content" ? { content: delta } : { reasoning_content: delta }));
    return (isFirst && chunks.length > 0 ? [this.#chunk({ role: "assistant", content: "" }), ...chunks] : chunks).join("");
  }

  /** The events that are still to be sent. Throws for an answer that does not begin as it was said. */
  rest(answer: Answer): string {
    if (this.#isSilent) return chatDialect.answerStream(answer, this.#context);
    const { reasoning, content, ...message } = answer.message;
    const text = this.#after("content", answerText(content));
    const thought = this.#after("reasoning", reasoning ?? "");
    const left: Answer = {
      ...answer,
      message: { ...message, content: text === "" ? [] : [{ type: "text", text }], ...(thought === "" ? {} : { reasoning: thought }) },
    };
    // The first event says who speaks.
    const [, ...events] = readSse(chatDialect.answerStream(left, this.#context));
    return events.map(sseText).join("");
  }

  get #isSilent(): boolean {
    return this.#said.content === "" && this.#said.reasoning === "";
  }

  #after(channel: Channel, whole: string): string {
    const said = this.#said[channel];
    if (!whole.startsWith(said)) throw new Error(`the ${channel} of a streamed answer does not begin with what was sent of it`);
    return whole.slice(said.length);
  }

  #chunk(delta: object): string {
    const { callId, createdAt, reply } = this.#context;
    const head = { id: `chatcmpl-${callId}`, object: "chat.completion.chunk", created: createdAt, model: reply.model };
    return sseText({ event: "", data: JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: null }] }) });
  }
}
