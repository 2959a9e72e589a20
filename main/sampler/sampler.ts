/** A sampler process as the service sees it. */
import { type Child, type ChildFailure, openChild } from "../engine-process/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { Sample, SampleRequest, SamplerAsk, SamplerCounts, SamplerInfo, SamplerOptions, SamplerReply } from "./protocol.ts";

type SampleResult = { readonly ok: true; readonly sample: Sample } | { readonly ok: false; readonly failure: ChildFailure };

export interface Sampler {
  readonly info: SamplerInfo;
  /** The process is there. */
  readonly alive: boolean;
  /** Rejects only with the signal's reason. */
  sample(request: SampleRequest, signal: AbortSignal): Promise<SampleResult>;
  /** Makes weights known under a new name: the base with a PEFT adapter. Rejects with WorkbenchError. */
  publish(version: string, adapterFolder: string | null): Promise<void>;
  /** Forgets a version that no request uses. Rejects with WorkbenchError. */
  retire(version: string): Promise<void>;
  counts(): Promise<SamplerCounts>;
  close(): Promise<void>;
}

const entry = { source: new URL("./process-from-source.mjs", import.meta.url), built: new URL("./sampler-process.js", import.meta.url) };

/** Resolves when the model is loaded. Rejects with WorkbenchError when it cannot be. */
export async function openSampler(options: SamplerOptions): Promise<Sampler> {
  try {
    const { info, child } = await openChild<SamplerOptions, SamplerInfo, SamplerAsk, SamplerReply>(entry, options);
    return samplerOf(info, child);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new WorkbenchError(
      "unavailable",
      `The model in ${options.modelFolder} cannot be loaded: ${problem}`,
      "See that the folder is whole and that memory is enough.",
      { cause: error },
    );
  }
}

function samplerOf(info: SamplerInfo, child: Child<SamplerAsk, SamplerReply>): Sampler {
  async function manage(ask: SamplerAsk): Promise<SamplerCounts> {
    const answer = await child.ask(ask);
    if (answer.ok && answer.reply.type === "done") return answer.reply.counts;
    const problem = answer.ok ? "it answered something else" : answer.failure.message;
    throw new WorkbenchError("unavailable", `The sampler cannot do that: ${problem}.`, "Start the policy again.");
  }
  return {
    info,
    get alive() {
      return child.alive;
    },
    async sample(request, signal) {
      const answer = await child.ask({ type: "sample", request }, { signal });
      if (!answer.ok) return answer;
      if (answer.reply.type === "sampled") return { ok: true, sample: answer.reply.sample };
      return { ok: false, failure: { kind: "failed", message: "the sampler answered something else" } };
    },
    publish: async (version, adapterFolder) => void (await manage({ type: "publish", version, adapterFolder })),
    retire: async (version) => void (await manage({ type: "retire", version })),
    counts: () => manage({ type: "count" }),
    close: () => child.close(),
  };
}
