/** What samples behind a stand-in vLLM server where its answers must be those of real weights: our own sampler, one version an adapter. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plainSampling } from "../../engine/decoding/index.ts";
import { loadTokenizer } from "../../engine/tokenizers/index.ts";
import { createSamplerPool, type SamplerLease } from "../../main/sampler/index.ts";
import type { VllmEngine } from "./vllm-server.ts";

interface VllmEngineOptions {
  readonly modelFolder: string;
  readonly contextWindow: number;
  readonly lanes: number;
}

export function openVllmEngine({ modelFolder, ...sizes }: VllmEngineOptions): VllmEngine & { close(): Promise<void> } {
  const samplers = createSamplerPool();
  const leases = new Map<string, Promise<SamplerLease>>();
  const file = (name: string): string => readFileSync(join(modelFolder, name), "utf8");
  return {
    tokenizer: loadTokenizer(file("tokenizer.json"), file("tokenizer_config.json")),
    async load(name, folder) {
      const lease = samplers.acquire({ modelFolder, deterministic: true, ...sizes }, { name, source: { kind: "adapter", folder } });
      leases.set(name, lease);
      await lease;
    },
    unload(name) {
      void leases.get(name)?.then((lease) => lease.release());
      leases.delete(name);
    },
    async sample({ adapter, promptIds, maxTokens, temperature, seed, endIds }) {
      const lease = await leases.get(adapter);
      if (lease === undefined) throw new Error(`the adapter ${adapter} is not loaded`);
      const asked = { promptIds, maxTokens, seed, endIds, stopStrings: [], sampling: { ...plainSampling, temperature } };
      const result = await lease.sample(asked, new AbortController().signal);
      if (!result.ok) throw new Error(result.failure.message);
      const { ids, logprobs, reason } = result.sample;
      return { ids: [...ids], logprobs: [...logprobs], ended: reason === "end-token" };
    },
    close: () => samplers.close(),
  };
}
