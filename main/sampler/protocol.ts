/** What the service and a sampler process say to each other, over the process's own channel (structured clones). */
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

export type ToSampler =
  | { readonly type: "open"; readonly options: SamplerOptions }
  | { readonly type: "sample"; readonly id: number; readonly request: SampleRequest }
  | { readonly type: "cancel"; readonly id: number }
  /** A version is the base with a PEFT adapter, or the base itself. */
  | { readonly type: "publish"; readonly id: number; readonly version: string; readonly adapterFolder: string | null }
  | { readonly type: "retire"; readonly id: number; readonly version: string }
  | { readonly type: "count"; readonly id: number };

export type SamplerFailure =
  | { readonly kind: "context-overflow"; readonly promptTokens: number; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

export type FromSampler =
  | { readonly type: "opened"; readonly info: SamplerInfo }
  | { readonly type: "not-opened"; readonly message: string }
  | { readonly type: "sampled"; readonly id: number; readonly sample: Sample }
  | { readonly type: "done"; readonly id: number; readonly counts: SamplerCounts }
  | { readonly type: "failed"; readonly id: number; readonly failure: SamplerFailure };

/** The version of the weights as they lie in the model folder. */
export const baseVersion = "base";
