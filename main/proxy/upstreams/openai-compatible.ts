/** Any server that speaks Chat Completions. Text only: its rollouts can be looked at and exported, not trained by reinforcement. */
import type { MediaStore } from "../dialects/dialect.ts";
import { callChat } from "./chat-completion.ts";
import type { DefinitionOf } from "./definition.ts";
import { createServer } from "./server.ts";
import type { Upstream } from "./upstream.ts";

export function createOpenAiCompatible(definition: DefinitionOf<"openai-compatible">, key: string | null, media: MediaStore): Upstream {
  const server = createServer({ url: definition.url, model: definition.model, key });
  return {
    id: definition.id,
    kind: "openai-compatible",
    capture: "text-only",
    takesTokenIds: false,
    contextWindow: null,
    tokenizerFolder: null,
    async complete(request, signal) {
      const call = await callChat(request, { server, media, rules: definition.messageRules, ask: new Map(), streams: true }, signal);
      return call.ok ? { ok: true, answer: call.answer, exchange: call.exchange, notes: call.notes } : call;
    },
    async close() {
      server.close();
    },
  };
}
