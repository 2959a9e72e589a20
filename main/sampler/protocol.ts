/** What a sampler process is opened with and asked. */
import type { SamplingSettings } from "../../engine/decoding/index.ts";
import type { LoraSettings } from "../../engine/models/index.ts";

export interface SamplerOptions {
  /** Hugging Face folder. */
  readonly modelFolder: string;
  /** Adapters that versions may have; null = the base weights only. */
  readonly lora: LoraSettings | null;
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
  readonly version: string;
}

export interface Sample {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  readonly reason: "end-token" | "stop-string" | "length";
  /** Text before the stop string, when it began inside a token; then the ids say less than the text. */
  readonly textBeforeStop: string | null;
  readonly reusedTokens: number;
}

export interface SamplerCounts {
  readonly promptTokens: number;
  readonly readTokens: number;
  readonly sampledTokens: number;
  readonly steps: number;
}

export type SamplerAsk =
  | { readonly type: "sample"; readonly request: SampleRequest }
  /** A version is the base with a PEFT adapter, or the base itself. */
  | { readonly type: "publish"; readonly version: string; readonly adapterFolder: string | null }
  | { readonly type: "retire"; readonly version: string }
  | { readonly type: "count" };

export type SamplerReply = { readonly type: "sampled"; readonly sample: Sample } | { readonly type: "done"; readonly counts: SamplerCounts };

/** The version of the weights as they lie in the model folder. */
export const baseVersion = "base";
/** Kind of failure of a prompt that leaves no room for an answer. */
export const overflowKind = "context-overflow";
