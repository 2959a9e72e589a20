/** What a sampler process is opened with and asked. */
import type { SamplingSettings } from "../../engine/decoding/index.ts";

export interface SamplerOptions {
  /** Hugging Face folder: base weights and tokenizer of every version. */
  readonly modelFolder: string;
  /** Requests that are answered at the same time. */
  readonly lanes: number;
  /** Tokens of prompt and answer together. */
  readonly contextWindow: number;
  /** Repeats to the bit whatever the order of arrival. */
  readonly deterministic: boolean;
  /** Bytes of keys and values kept outside the lanes. */
  readonly parkedBytes: number;
  readonly threads: number | null;
}

/** Weights under a name. A name stands for one content: other weights need another name, or what was read under the old ones is taken for theirs. */
export interface WeightsVersion {
  readonly name: string;
  readonly source: WeightsSource;
}

export type WeightsSource =
  /** As they lie in the model folder. */
  | { readonly kind: "base" }
  /** The base with a PEFT adapter. */
  | { readonly kind: "adapter"; readonly folder: string }
  /** A whole model of the same architecture. */
  | { readonly kind: "weights"; readonly folder: string };

export const baseVersion: WeightsVersion = { name: "base", source: { kind: "base" } };

export interface SamplerInfo {
  readonly contextWindow: number;
  readonly lanes: number;
  readonly provider: { readonly name: string; readonly reason: string };
  readonly writesInPlace: boolean;
}

export interface SampleRequest {
  readonly promptIds: Int32Array;
  readonly sampling: SamplingSettings;
  readonly endIds: readonly number[];
  readonly maxTokens: number;
  readonly stopStrings: readonly string[];
  readonly seed: number;
  /** Name of published weights. */
  readonly version: string;
  /** Each token is told as it is drawn. */
  readonly followed?: boolean;
}

export interface Sample {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  readonly reason: "end-token" | "stop-string" | "length";
  /** Text before the stop string, when it began inside a token; then the ids say less than the text. */
  readonly textBeforeStop: string | null;
  readonly reusedTokens: number;
  /** Milliseconds from the request's arrival until a lane took it. */
  readonly queueMs: number;
}

export interface SamplerCounts {
  readonly promptTokens: number;
  readonly readTokens: number;
  readonly sampledTokens: number;
  readonly steps: number;
}

export type SamplerAsk =
  | { readonly type: "sample"; readonly request: SampleRequest }
  | { readonly type: "publish"; readonly version: WeightsVersion }
  /** Answered when the last request of the version has ended and its weights are gone. */
  | { readonly type: "retire"; readonly version: string }
  | { readonly type: "count" };

export type SamplerReply = { readonly type: "sampled"; readonly sample: Sample } | { readonly type: "done"; readonly counts: SamplerCounts };

/** Kind of failure of a prompt that leaves no room for an answer. */
export const overflowKind = "context-overflow";
