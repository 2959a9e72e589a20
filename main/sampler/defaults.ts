/** Sizes of a sampler where nobody chose them. */
import { freemem } from "node:os";
import { KeyValueCache } from "../../engine/decoding/index.ts";
import { openModelFolder } from "../models/index.ts";
import type { SamplerOptions } from "./protocol.ts";

export interface SamplerChoices {
  readonly lanes?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly deterministic: boolean;
}

const mostLanes = 8;
const usualWindow = 8192;
/** Share of the free memory that keys and values may take. */
const cacheShare = 0.25;

/** Rejects with WorkbenchError for a folder that holds no model. */
export async function samplerOptions(modelFolder: string, choices: SamplerChoices): Promise<SamplerOptions> {
  const model = await openModelFolder(modelFolder);
  model.close();
  const contextWindow = Math.min(model.description.config.contextLength, choices.contextWindow ?? usualWindow);
  const lane = KeyValueCache.bytes(model.description, 1, contextWindow);
  const lanes = choices.lanes ?? Math.max(1, Math.min(mostLanes, Math.floor((freemem() * cacheShare) / lane)));
  return { modelFolder, lora: null, lanes, contextWindow, deterministic: choices.deterministic, parkedBytes: 2 * lane, threads: null };
}
