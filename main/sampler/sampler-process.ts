/** Entry of a sampler process: holds one model's decoding session and answers requests until its parent goes away. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { adapterFeeds, ContextOverflow, DecoderModel, Generator } from "../../engine/decoding/index.ts";
import { type Adapter, createAdapter, readPeftAdapter } from "../../engine/models/index.ts";
import { loadTokenizer, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { type AskContext, type ChildHandler, serveParent } from "../engine-process/index.ts";
import { openRuntime } from "../engine-runtime/index.ts";
import { type ModelFolder, openFile, openModelFolder } from "../models/index.ts";
import {
  baseVersion,
  overflowKind,
  type SampleRequest,
  type SamplerAsk,
  type SamplerInfo,
  type SamplerOptions,
  type SamplerReply,
} from "./protocol.ts";

/** Tokens of a prompt that are read at once. Small, so that others' answers go on; deterministic runs pad the last piece. */
const chunkTokens = 128;

class SamplerHandler implements ChildHandler<SamplerAsk, SamplerReply> {
  readonly #model: ModelFolder;
  readonly #blank: Adapter | null;
  readonly #generator: Generator;
  #tokenizer: Promise<Tokenizer> | null = null;

  constructor(model: ModelFolder, blank: Adapter | null, generator: Generator) {
    this.#model = model;
    this.#blank = blank;
    this.#generator = generator;
  }

  async answer(ask: SamplerAsk, { signal }: AskContext): Promise<SamplerReply> {
    if (ask.type === "sample") return this.#sample(ask.request, signal);
    if (ask.type === "publish") this.#generator.publish(ask.version, adapterFeeds(await this.#adapter(ask.adapterFolder)));
    if (ask.type === "retire") await this.#generator.retire(ask.version);
    return { type: "done", counts: this.#generator.counts };
  }

  async #sample({ endIds, maxTokens, stopStrings, ...request }: SampleRequest, signal: AbortSignal): Promise<SamplerReply> {
    const decoder = stopStrings.length === 0 ? null : (await this.#text()).streamingDecoder({ skipSpecialTokens: true });
    const stop = { endIds, maxTokens, stopStrings, decoder };
    const { ids, logprobs, ending, reusedTokens } = await this.#generator.generate({ ...request, stop }, signal);
    const textBeforeStop = ending.exact ? null : ending.text;
    return { type: "sampled", sample: { ids, logprobs, reason: ending.reason, textBeforeStop, reusedTokens } };
  }

  async #adapter(folder: string | null): Promise<Adapter> {
    if (folder === null) return this.#blank ?? new Map();
    if (this.#blank === null) throw new Error("this sampler was opened without adapters");
    const weights = openFile(join(folder, "adapter_model.safetensors"), "adapter_model.safetensors");
    try {
      const adapter = readPeftAdapter(this.#model.description, await readFile(join(folder, "adapter_config.json"), "utf8"), weights);
      for (const [module, { rank, factor }] of this.#blank) {
        const given = adapter.get(module);
        if (given?.rank !== rank || given.factor !== factor)
          throw new Error(`${folder} has another rank, factor or set of modules than this sampler was opened for`);
      }
      return adapter;
    } finally {
      weights.close();
    }
  }

  #text(): Promise<Tokenizer> {
    this.#tokenizer ??= readFile(join(this.#model.folder, "tokenizer.json"), "utf8").then((json) => loadTokenizer(json));
    return this.#tokenizer;
  }
}

async function open(options: SamplerOptions): Promise<{ readonly info: SamplerInfo; readonly handler: SamplerHandler }> {
  const runtime = await openRuntime(options.threads === null ? {} : { threads: options.threads });
  const model = await openModelFolder(options.modelFolder);
  const blank = options.lora === null ? null : createAdapter(model.description, options.lora, 0);
  const { lanes, deterministic, parkedBytes, contextWindow } = options;
  // One place of a lane always stays free.
  const capacity = Math.ceil((contextWindow + 1) / chunkTokens) * chunkTokens;
  const decoder = await DecoderModel.open({ ...model, runtime, adapter: blank, lanes, capacity });
  const generator = new Generator(decoder, { deterministic, parkedBytes, chunk: chunkTokens });
  generator.publish(baseVersion, adapterFeeds(blank ?? new Map()));
  const { provider, writesInPlace } = runtime;
  return { info: { contextWindow, lanes, provider, writesInPlace }, handler: new SamplerHandler(model, blank, generator) };
}

serveParent<SamplerOptions, SamplerInfo, SamplerAsk, SamplerReply>({
  open,
  failureOf: (error) => (error instanceof ContextOverflow ? { kind: overflowKind, message: error.message } : null),
});
