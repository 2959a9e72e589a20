/** A policy whose weights this machine runs, opened without a service and its store: for serving it to others. */
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { importedModels, trainingFolder } from "../models/index.ts";
import { createSamplerPool } from "../sampler/index.ts";
import { baseWeightsOf, createEmbeddedUpstream, type EmbeddedWeights } from "./create-upstream.ts";
import { embeddedDefinition, isEmbedded } from "./embedded-name.ts";
import type { ServedPolicy } from "./policy-server/contract.ts";
import { loadPolicyText } from "./policy-text.ts";
import { isTraining, trainingPolicy, trainingWeights } from "./training-policy.ts";
import type { EmbeddedDefinition } from "./upstreams/definition.ts";

export interface LocalPolicyOptions {
  readonly dataFolder: string;
  /** Requests answered at the same time; left out = by the memory of this machine. */
  readonly lanes?: number | undefined;
  /** PEFT folder that is put on the model. */
  readonly adapter?: string | undefined;
}

export interface LocalPolicy extends ServedPolicy {
  close(): Promise<void>;
}

/** `name`: a model folder, an imported model, `embedded:…` or `training:RUN@STEP`. Rejects with WorkbenchError. */
export async function openLocalPolicy(name: string, options: LocalPolicyOptions): Promise<LocalPolicy> {
  const { definition, weights } = await readLocal(name, options);
  const text = await loadPolicyText(definition.folder);
  const samplers = createSamplerPool();
  try {
    const wanted = options.lanes === undefined ? definition : { ...definition, lanes: options.lanes };
    const upstream = await createEmbeddedUpstream(wanted, { embedded: { samplers, modelsFolder: importedModels(options.dataFolder) } }, weights);
    return {
      ...{ name: definition.id.replace(/^training:/, ""), upstream, text },
      async close() {
        await upstream.close();
        await samplers.close();
      },
    };
  } catch (error) {
    await samplers.close();
    throw error;
  }
}

interface Local {
  readonly definition: EmbeddedDefinition;
  readonly weights: EmbeddedWeights;
}

async function readLocal(name: string, { dataFolder, adapter }: LocalPolicyOptions): Promise<Local> {
  if (isTraining(name)) {
    if (adapter !== undefined)
      throw new WorkbenchError(
        "usage",
        "A step of a training run has its weights; --adapter would put others on.",
        "Leave --adapter out, or name the model.",
      );
    return trainingWeights(await trainingPolicy(name, trainingFolder(dataFolder)));
  }
  if (/\.gguf$/i.test(name)) throw new WorkbenchError("usage", `${name} is a GGUF file.`, `Import it first: openforge policy import ${name}`);
  const definition = embeddedDefinition(isEmbedded(name) ? name : `embedded:${name}`, importedModels(dataFolder));
  if (adapter === undefined) return { definition, weights: baseWeightsOf(definition) };
  const folder = resolve(adapter);
  if (!existsSync(join(folder, "adapter_config.json")))
    throw new WorkbenchError(
      "not-found",
      `There is no adapter in ${folder}.`,
      "Name a folder in PEFT's form: adapter_config.json and adapter_model.safetensors.",
    );
  const policyVersion = `${basename(definition.folder)}+${basename(folder)}`;
  return { definition, weights: { weights: { name: policyVersion, source: { kind: "adapter", folder } }, policyVersion } };
}
