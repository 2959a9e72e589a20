/** `training:RUN@STEP`, `@last`, `@best`: what a training run has published, as something that answers. */
import { WorkbenchError } from "../errors.ts";
import { type PublishedVersion, readPublishedVersion } from "../models/index.ts";
import { createEmbeddedUpstream, type EmbeddedWeights, keyOf, type UpstreamParts, windowOf } from "./create-upstream.ts";
import type { EmbeddedDefinition, UpstreamDefinition } from "./upstreams/definition.ts";
import { drawnAt } from "./upstreams/drawn-at.ts";
import type { Upstream } from "./upstreams/upstream.ts";
import { createVllm } from "./upstreams/vllm.ts";
import type { VllmAdapters } from "./upstreams/vllm-adapters.ts";

const prefix = "training:";

export interface TrainingPolicy {
  readonly version: PublishedVersion;
  /** The name with its step said. */
  readonly name: string;
  readonly temperature: number | undefined;
}

export function isTraining(name: string): boolean {
  return name.startsWith(prefix);
}

/** `training:RUN@STEP?temperature=T`. Rejects with WorkbenchError when there is no such run or step. */
export async function trainingPolicy(name: string, folder: string | undefined): Promise<TrainingPolicy> {
  if (folder === undefined)
    throw new WorkbenchError("unavailable", "Policies of training runs are not offered here.", "Start the workbench's own service.");
  const [step = "", settings] = name.slice(prefix.length).split("?", 2);
  const version = await readPublishedVersion(folder, step);
  const suffix = settings === undefined ? "" : `?${settings}`;
  return { version, name: `${prefix}${version.name}${suffix}`, temperature: temperatureOf(name, settings) ?? version.run.temperature };
}

function temperatureOf(name: string, settings: string | undefined): number | undefined {
  if (settings === undefined) return undefined;
  const given = /^temperature=(\d+(?:\.\d+)?)$/.exec(settings)?.[1];
  if (given !== undefined) return Number(given);
  throw new WorkbenchError("usage", `The settings of ${name} cannot be read.`, "Known: temperature, as in training:RUN@STEP?temperature=0.7.");
}

/** What the policy is made of, for lists and for its tokenizer; embedded also where a vLLM server samples. */
export function definitionOf({ version, name, temperature }: TrainingPolicy): EmbeddedDefinition {
  const { baseModel, lanes, contextWindow, maxTokens, deterministic } = version.run;
  return { kind: "embedded", id: name, folder: baseModel, lanes, contextWindow, maxTokens, deterministic, temperature };
}

/** The step's weights as this machine samples from them. */
export function trainingWeights(policy: TrainingPolicy): { readonly definition: EmbeddedDefinition; readonly weights: EmbeddedWeights } {
  const { version } = policy;
  const source = { kind: version.run.kind, folder: version.folder };
  return { definition: definitionOf(policy), weights: { weights: { name: servedName(version), source }, policyVersion: version.name } };
}

/** `saved`: a saved policy by its id. */
export async function createTrainingUpstream(
  policy: TrainingPolicy,
  parts: UpstreamParts & { readonly adapters: VllmAdapters; readonly saved: (id: string) => UpstreamDefinition | null },
): Promise<Upstream> {
  const { version } = policy;
  const { kind, sampler } = version.run;
  if (sampler === "embedded") {
    const { definition, weights } = trainingWeights(policy);
    return createEmbeddedUpstream(definition, parts, weights);
  }
  const definition = parts.saved(sampler.vllm);
  if (definition?.kind !== "vllm")
    throw new WorkbenchError(
      "not-found",
      `${version.name} is sampled by the vLLM policy "${sampler.vllm}", which is not saved here.`,
      `Add it: openforge policy add ${sampler.vllm} URL --kind vllm`,
    );
  if (kind !== "adapter")
    throw new WorkbenchError(
      "usage",
      `${version.name} has whole weights, and a vLLM server takes only adapters.`,
      "Train an adapter, or sample embedded.",
    );
  return createVllmUpstream(policy, definition, parts);
}

async function createVllmUpstream(
  { version, name, temperature }: TrainingPolicy,
  definition: Extract<UpstreamDefinition, { kind: "vllm" }>,
  parts: UpstreamParts & { readonly adapters: VllmAdapters },
): Promise<Upstream> {
  const key = keyOf(definition, parts);
  const contextWindow = version.run.contextWindow ?? (await windowOf(definition, key));
  const served = servedName(version);
  const giveBack = await parts.adapters.hold({ url: definition.url, key }, { name: served, folder: version.folder });
  const upstream = createVllm({
    definition: { ...definition, id: name, model: served, tokenizer: definition.tokenizer ?? version.run.baseModel },
    ...{ key, media: parts.media, contextWindow, policyVersion: version.name },
  });
  const held: Upstream = {
    ...upstream,
    async close() {
      giveBack();
      await upstream.close();
    },
  };
  return temperature === undefined ? held : drawnAt(held, temperature);
}

/** Another name for another content, also where a step was published twice. */
function servedName({ name, stamp }: PublishedVersion): string {
  return `${name}-${stamp}`;
}
