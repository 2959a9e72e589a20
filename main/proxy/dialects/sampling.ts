import type { Sampling } from "../../../engine/conversation/index.ts";

/** Sampling fields that the OpenAI dialects spell alike (and the widespread extensions `top_k`, `min_p`). */
export interface SamplingFields {
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  readonly top_k?: number | null | undefined;
  readonly min_p?: number | null | undefined;
  readonly stop?: string | readonly string[] | null | undefined;
  readonly seed?: number | null | undefined;
}

export function readSampling(fields: SamplingFields, maxTokens: number | null | undefined): Sampling {
  const stop = typeof fields.stop === "string" ? [fields.stop] : fields.stop;
  return {
    ...(fields.temperature == null ? {} : { temperature: fields.temperature }),
    ...(fields.top_p == null ? {} : { topP: fields.top_p }),
    ...(fields.top_k == null ? {} : { topK: fields.top_k }),
    ...(fields.min_p == null ? {} : { minP: fields.min_p }),
    ...(maxTokens == null ? {} : { maxTokens }),
    ...(stop == null || stop.length === 0 ? {} : { stop }),
    ...(fields.seed == null ? {} : { seed: fields.seed }),
  };
}
