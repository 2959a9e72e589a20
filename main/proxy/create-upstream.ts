/** A declared policy endpoint → something that answers. */
import { basename, join } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { baseVersion, type SamplerPool, type WeightsVersion } from "../sampler/index.ts";
import type { MediaStore } from "./dialects/dialect.ts";
import { loadPolicyText } from "./policy-text.ts";
import { createAnthropicCompatible } from "./upstreams/anthropic-compatible.ts";
import type { EmbeddedDefinition, TokenServerDefinition, UpstreamDefinition } from "./upstreams/definition.ts";
import { drawnAt } from "./upstreams/drawn-at.ts";
import { createEmbedded } from "./upstreams/embedded.ts";
import { createLlamaCpp, llamaCppWindow } from "./upstreams/llama-cpp.ts";
import { createOllama } from "./upstreams/ollama.ts";
import { createOpenAiCompatible } from "./upstreams/openai-compatible.ts";
import { readScript } from "./upstreams/scripted/read-script.ts";
import { createScripted } from "./upstreams/scripted/scripted-upstream.ts";
import { createServer } from "./upstreams/server.ts";
import { createSglang } from "./upstreams/sglang.ts";
import type { Upstream } from "./upstreams/upstream.ts";
import { createVllm } from "./upstreams/vllm.ts";

export interface UpstreamParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Holds `tokenizer/`, for scripted policies that name none. */
  readonly policiesFolder: string;
  readonly media: MediaStore;
  /** Runs embedded policies; absent = they are not offered here. */
  readonly embedded?: EmbeddedParts;
}

export interface EmbeddedParts {
  readonly samplers: SamplerPool;
  /** Imported models by name. */
  readonly modelsFolder: string;
}

/** How long an endpoint may take to say what it serves, before a rollout begins without knowing. */
const introductionMs = 5_000;

export async function createUpstream(definition: UpstreamDefinition, parts: UpstreamParts): Promise<Upstream> {
  switch (definition.kind) {
    case "scripted": {
      const script = await readScript(definition.file);
      const tokenizerFolder = definition.tokenizer ?? shippedTokenizer(parts.policiesFolder);
      return createScripted({ id: definition.id, script, text: await loadPolicyText(tokenizerFolder), tokenizerFolder });
    }
    case "embedded":
      return createEmbeddedUpstream(definition, parts, baseWeightsOf(definition));
    case "openai-compatible":
      return createOpenAiCompatible(definition, keyOf(definition, parts), parts.media);
    case "anthropic-compatible":
      return createAnthropicCompatible(definition, keyOf(definition, parts), parts.media);
    case "ollama":
      return createOllama(definition, keyOf(definition, parts), parts.media);
    case "vllm":
      return createVllm({ definition, ...(await tokenServer(definition, parts)) });
    case "sglang":
      return createSglang({ definition, ...(await tokenServer(definition, parts)) });
    case "llama.cpp":
      return createLlamaCpp({ definition, ...(await tokenServer(definition, parts)) });
  }
}

async function tokenServer(definition: TokenServerDefinition, parts: UpstreamParts) {
  const key = keyOf(definition, parts);
  return { key, media: parts.media, contextWindow: await windowOf(definition, key) };
}

export interface EmbeddedWeights {
  /** Which weights answer. */
  readonly weights: WeightsVersion;
  /** What the answers are stamped with. */
  readonly policyVersion: string;
}

export function baseWeightsOf({ folder }: EmbeddedDefinition): EmbeddedWeights {
  return { weights: baseVersion, policyVersion: basename(folder) };
}

/** `definition.folder`: tokenizer, template and architecture, whatever weights answer. */
export async function createEmbeddedUpstream(
  definition: EmbeddedDefinition,
  parts: Pick<UpstreamParts, "embedded">,
  { weights, policyVersion }: EmbeddedWeights,
): Promise<Upstream> {
  if (parts.embedded === undefined)
    throw new WorkbenchError("unavailable", "Embedded policies are not offered here.", "Start the workbench's own service.");
  const { id, folder, maxTokens, lanes, contextWindow, deterministic, temperature } = definition;
  const text = await loadPolicyText(folder);
  const lease = await parts.embedded.samplers.acquire({ modelFolder: folder, lanes, contextWindow, deterministic }, weights);
  const upstream = createEmbedded({ id, folder, text, lease, policyVersion, maxTokens: maxTokens ?? null });
  return temperature === undefined ? upstream : drawnAt(upstream, temperature);
}

/** Of scripted policies that name none. */
export function shippedTokenizer(policiesFolder: string): string {
  return join(policiesFolder, "tokenizer");
}

export function keyOf(
  definition: { readonly id: string; readonly keyVariable?: string | undefined },
  parts: Pick<UpstreamParts, "env">,
): string | null {
  if (definition.keyVariable === undefined) return null;
  const key = parts.env[definition.keyVariable];
  if (key === undefined || key === "")
    throw new WorkbenchError(
      "unavailable",
      `The policy ${definition.id} takes its key from ${definition.keyVariable}, which is not set.`,
      `Set ${definition.keyVariable} and start again.`,
    );
  return key;
}

/** null when the server is not there yet or does not say: the first call will tell. */
export async function windowOf(definition: TokenServerDefinition, key: string | null): Promise<number | null> {
  const server = createServer({ url: definition.url, model: definition.model, key });
  try {
    if (definition.kind === "llama.cpp") return await llamaCppWindow(server, AbortSignal.timeout(introductionMs));
    const list = await server.models(AbortSignal.timeout(introductionMs));
    if (!list.ok) return null;
    const served = definition.model === undefined ? list.models[0] : list.models.find((model) => model.id === definition.model);
    return served?.contextWindow ?? null;
  } catch {
    return null;
  } finally {
    server.close();
  }
}
