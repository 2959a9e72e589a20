/** Sizes of a sampler where nobody chose them. */
import { freemem } from "node:os";
import { KeyValueCache } from "../../engine/decoding/index.ts";
import { openModelFolder } from "../models/index.ts";
import type { SamplerOptions } from "./protocol.ts";

/** What is wanted of a sampler; what is left out is chosen by the memory of this machine. */
export interface SamplerWish {
  /** Hugging Face folder. */
  readonly modelFolder: string;
  readonly lanes?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly deterministic: boolean;
}

const mostLanes = 8;
const usualWindow = 8192;
/** Share of the free memory that keys and values may take. */
const cacheShare = 0.25;

/** Rejects with WorkbenchError for a folder that holds no model. */
export async function samplerOptions({ modelFolder, ...wish }: SamplerWish): Promise<SamplerOptions> {
  const model = await openModelFolder(modelFolder);
  model.close();
  const contextWindow = Math.min(model.description.config.contextLength, wish.contextWindow ?? usualWindow);
  const lane = KeyValueCache.bytes(model.description, 1, contextWindow);
  const lanes = wish.lanes ?? Math.max(1, Math.min(mostLanes, Math.floor((freemem() * cacheShare) / lane)));
  return { modelFolder, lanes, contextWindow, deterministic: wish.deterministic, parkedBytes: 2 * lane, threads: null };
}
