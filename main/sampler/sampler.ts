/** A sampler process as the service sees it. */
import { type Child, type ChildFailure, openChild } from "../engine-process/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { Sample, SampleRequest, SamplerAsk, SamplerCounts, SamplerInfo, SamplerOptions, SamplerReply, WeightsVersion } from "./protocol.ts";

export type SampleResult = { readonly ok: true; readonly sample: Sample } | { readonly ok: false; readonly failure: ChildFailure };

export interface Sampler {
  readonly info: SamplerInfo;
  /** The process is there. */
  readonly alive: boolean;
  /** Rejects only with the signal's reason. */
  sample(request: SampleRequest, signal: AbortSignal, onToken?: (id: number) => void): Promise<SampleResult>;
  /** Loads weights under a new name. Rejects with WorkbenchError. */
  publish(version: WeightsVersion): Promise<void>;
  /** Forgets a version; its requests under way are answered first. Rejects with WorkbenchError. */
  retire(version: string): Promise<void>;
  counts(): Promise<SamplerCounts>;
  close(): Promise<void>;
}

const entry = { source: new URL("./process-from-source.mjs", import.meta.url), built: new URL("./sampler-process.js", import.meta.url) };

/** Resolves when the process is ready for weights. Rejects with WorkbenchError when the folder holds no model. */
export async function openSampler(options: SamplerOptions): Promise<Sampler> {
  try {
    const { info, child } = await openChild<SamplerOptions, SamplerInfo, SamplerAsk, SamplerReply>(entry, options);
    return samplerOf(info, child, options.modelFolder);
  } catch (error) {
    throw notLoaded(options.modelFolder, error instanceof Error ? error.message : String(error), error);
  }
}

function samplerOf(info: SamplerInfo, child: Child<SamplerAsk, SamplerReply>, modelFolder: string): Sampler {
  async function manage(ask: SamplerAsk): Promise<SamplerCounts | { readonly problem: string }> {
    const answer = await child.ask(ask);
    if (answer.ok && answer.reply.type === "done") return answer.reply.counts;
    return { problem: answer.ok ? "it answered something else" : answer.failure.message };
  }
  return {
    info,
    get alive() {
      return child.alive;
    },
    async sample(request, signal, onToken) {
      const followed = onToken === undefined ? {} : { onToken };
      const answer = await child.ask({ type: "sample", request: { ...request, followed: onToken !== undefined } }, { signal, ...followed });
      if (!answer.ok) return answer;
      if (answer.reply.type === "sampled") return { ok: true, sample: answer.reply.sample };
      return { ok: false, failure: { kind: "failed", message: "the sampler answered something else" } };
    },
    async publish(version) {
      const done = await manage({ type: "publish", version });
      if ("problem" in done) throw notLoaded(version.source.kind === "base" ? modelFolder : version.source.folder, done.problem);
    },
    async retire(version) {
      const done = await manage({ type: "retire", version });
      if ("problem" in done) throw new WorkbenchError("unavailable", `The sampler cannot do that: ${done.problem}.`, "Start the policy again.");
    },
    async counts() {
      const done = await manage({ type: "count" });
      if ("problem" in done) throw new WorkbenchError("unavailable", `The sampler cannot be asked: ${done.problem}.`, "Start the policy again.");
      return done;
    },
    close: () => child.close(),
  };
}

function notLoaded(folder: string, problem: string, cause?: unknown): WorkbenchError {
  return new WorkbenchError(
    "unavailable",
    `The model in ${folder} cannot be loaded: ${problem}${problem.endsWith(".") ? "" : "."}`,
    "See that the folder is whole and that memory is enough.",
    { cause },
  );
}
