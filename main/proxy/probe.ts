/** What a policy endpoint gives, found by asking it. */
import type { CaptureLevel, Conversation } from "../../engine/conversation/index.ts";
import { WorkbenchError } from "../errors.ts";
import { captureOf } from "./answer-form.ts";
import { loadPolicyText } from "./policy-text.ts";
import type { ServerDefinition } from "./upstreams/definition.ts";
import { isOllama } from "./upstreams/ollama.ts";
import { createServer, type InferenceServer } from "./upstreams/server.ts";
import type { Upstream, UpstreamRequest, UpstreamResult } from "./upstreams/upstream.ts";

const probeMs = 60_000;
const introductionMs = 5_000;

const question: Conversation = {
  model: "probe",
  messages: [{ role: "user", content: [{ type: "text", text: "Say yes." }] }],
  tools: [],
  sampling: { maxTokens: 8, temperature: 0 },
  stream: false,
  extra: "{}",
};

export interface Probed {
  readonly capture: CaptureLevel;
  /** Why prompts can't be sent as ids although a tokenizer is given; null when they can, or none is given. */
  readonly tokenInProblem: string | null;
}

/** Work with an endpoint that ends in a sentence when nothing comes back. `who`: the endpoint, for that sentence. */
async function withinTime<T>(ms: number, who: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(ms);
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new WorkbenchError(
      "upstream",
      `${who} gave no answer within ${ms / 1000} s.`,
      "Look whether the server is still loading, or start it again.",
      {
        cause: error,
      },
    );
  }
}

/** One small call, and one with the prompt as ids where that should work: then its level counts, for rollouts go so. Throws what the endpoint failed with. */
export async function probeUpstream(upstream: Upstream): Promise<Probed> {
  const asMessages = await ask(upstream, {});
  if (!asMessages.ok) throw new WorkbenchError("upstream", asMessages.failure.message, asMessages.failure.remedy);
  const capture = captureOf(asMessages.answer);
  if (!upstream.takesTokenIds || upstream.tokenizerFolder === null) return { capture, tokenInProblem: null };
  const { builder } = await loadPolicyText(upstream.tokenizerFolder);
  const { ids } = builder.history().assemble(question, { mode: "as-template", now: new Date() });
  const asIds = await ask(upstream, { promptIds: ids, endIds: builder.endIds });
  if (!asIds.ok) return { capture, tokenInProblem: asIds.failure.message };
  const level = captureOf(asIds.answer);
  const rendered = asMessages.answer.tokens?.promptIds;
  const isSame = rendered === undefined || (rendered.length === ids.length && rendered.every((id, index) => id === ids[index]));
  return {
    capture: level,
    tokenInProblem: isSame ? null : "the server renders the same messages to other ids: its tokenizer or chat template is another",
  };
}

function ask(upstream: Upstream, prompt: Pick<UpstreamRequest, "promptIds" | "endIds">): Promise<UpstreamResult> {
  const request = { conversation: question, rolloutId: "probe", attempt: 0, callIndex: 0, labels: { dialect: "chat" }, ...prompt };
  return withinTime(probeMs, `The policy ${upstream.id}`, (signal) => upstream.complete(request, signal));
}

/** What can't be done at this level, one sentence each. */
export function lostAt({ capture, tokenInProblem }: Probed, upstream: Upstream): readonly string[] {
  const lost: string[] = [];
  if (tokenInProblem !== null) lost.push(`Prompts as token ids do not work here: ${tokenInProblem}.`);
  if (capture === "nothing") return ["Nothing is recorded: no rollout of this policy can be used."];
  if (capture === "text-only")
    lost.push(
      `Without token ids its rollouts cannot be trained by reinforcement; they can be looked at, compared and exported for SFT.${remedyOfTextOnly(upstream)}`,
    );
  if (capture === "ids") lost.push("Without log-probabilities an update cannot be corrected for the policy's drift.");
  if (capture !== "text-only" && !upstream.takesTokenIds)
    lost.push(
      "Without a tokenizer folder prompts go as messages: a template that rewrites history breaks rollouts into several chains. Give --tokenizer.",
    );
  if (upstream.kind === "llama.cpp" && !upstream.takesTokenIds)
    lost.push("A call whose answer cuts a character into several tokens (rare scripts, emoji) has no ids; with --tokenizer it has.");
  return lost;
}

/** SGLang gives ids only for prompts of ids. */
function remedyOfTextOnly({ kind, takesTokenIds }: Upstream): string {
  return kind === "sglang" && !takesTokenIds ? " SGLang gives ids for prompts of ids: give --tokenizer." : "";
}

/** What a server is, by what it says of itself. Everything unknown is taken for OpenAI-compatible. Throws when it does not answer. */
export async function introduce(url: string, key: string | null): Promise<ServerDefinition["kind"]> {
  if (new URL(url).hostname === anthropicHost) return "anthropic-compatible";
  const server = createServer({ url, key });
  try {
    return await withinTime(introductionMs, `The policy at ${url}`, (signal) => kindOf(server, signal));
  } finally {
    server.close();
  }
}

/** Others that speak Messages have to be named: they list models as everyone does. */
const anthropicHost = "api.anthropic.com";

/** By `owned_by` of what they list. */
const owners: ReadonlyMap<string | null, ServerDefinition["kind"]> = new Map([
  ["vllm", "vllm"],
  ["sglang", "sglang"],
  ["llamacpp", "llama.cpp"],
]);

async function kindOf(server: InferenceServer, signal: AbortSignal): Promise<ServerDefinition["kind"]> {
  const list = await server.models(signal);
  if (!list.ok && list.failure.kind === "unreachable")
    throw new WorkbenchError("upstream", list.failure.message, "Start the server, or say its kind (--kind).");
  const models = list.ok ? list.models : [];
  const known = models.map(({ ownedBy }) => owners.get(ownedBy)).find((kind) => kind !== undefined);
  if (known !== undefined) return known;
  if (await isOllama(server, signal)) return "ollama";
  const version = await server.get("/version", signal);
  return version.ok && models.some(({ contextWindow }) => contextWindow !== null) ? "vllm" : "openai-compatible";
}
