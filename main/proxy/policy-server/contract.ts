/**
 * A policy of this machine as an OpenAI-compatible server, with vLLM's additions for whoever records tokens: `return_token_ids`, prompts
 * of ids, log-probabilities of the sampled tokens. One answer a request; what would change an answer and is not offered is refused.
 */
import type { Answer } from "../../../engine/conversation/index.ts";
import type { Fault } from "../dialects/dialect.ts";
import type { PolicyText } from "../policy-text.ts";
import type { Upstream, UpstreamRequest } from "../upstreams/upstream.ts";

export interface ServedPolicy {
  /** What clients name as `model`. */
  readonly name: string;
  readonly upstream: Upstream;
  readonly text: PolicyText;
}

/** An answer as the client wants it: the one body, or the events of a stream that were not sent while it was sampled. */
interface AnswerTexts {
  readonly body: () => string;
  readonly stream: () => string;
}

/** How one request's answer is said. */
interface AnswerVoice {
  /** Events of a stream for each id as it is drawn; "" = nothing is certain yet. */
  readonly follow: (begun: { readonly reasoningOpened: boolean }) => (id: number) => string;
  readonly say: (answer: Answer) => AnswerTexts;
}

/** A request that was read: what to ask of the policy, and how to say its answer. */
export type ReadRequest =
  | { readonly ok: false; readonly fault: Fault }
  | {
      readonly ok: true;
      readonly stream: boolean;
      readonly ask: Pick<UpstreamRequest, "conversation" | "promptIds" | "endIds">;
      readonly voice: (callId: string) => AnswerVoice;
    };

export interface PolicyServer {
  /** With `/v1`. */
  readonly url: string;
  close(): Promise<void>;
}
