/** Entry of a sampler process: holds one model's decoding session and answers requests until its parent goes away. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { adapterFeeds, ContextOverflow, DecoderModel, Generator } from "../../engine/decoding/index.ts";
import { type Adapter, createAdapter, readPeftAdapter } from "../../engine/models/index.ts";
import { loadTokenizer, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { openRuntime } from "../engine-runtime/index.ts";
import { type ModelFolder, openFile, openModelFolder } from "../models/index.ts";
import {
  baseVersion,
  type FromSampler,
  type SampleRequest,
  type SamplerFailure,
  type SamplerInfo,
  type SamplerOptions,
  type ToSampler,
} from "./protocol.ts";

/** Tokens of a prompt that are read at once. Small, so that others' answers go on; deterministic runs pad the last piece. */
const chunkTokens = 128;

class SamplerProcess {
  readonly #model: ModelFolder;
  readonly #blank: Adapter | null;
  readonly #generator: Generator;
  readonly #running = new Map<number, AbortController>();
  #tokenizer: Promise<Tokenizer> | null = null;

  constructor(model: ModelFolder, blank: Adapter | null, generator: Generator) {
    this.#model = model;
    this.#blank = blank;
    this.#generator = generator;
  }

  static async open(options: SamplerOptions): Promise<{ readonly sampler: SamplerProcess; readonly info: SamplerInfo }> {
    const runtime = await openRuntime(options.threads === null ? {} : { threads: options.threads });
    const model = await openModelFolder(options.modelFolder);
    const blank = options.lora === null ? null : createAdapter(model.description, options.lora, 0);
    // One place of a lane always stays free.
    const capacity = Math.ceil((options.contextWindow + 1) / chunkTokens) * chunkTokens;
    const decoder = await DecoderModel.open({ ...model, runtime, adapter: blank, lanes: options.lanes, capacity });
    const { deterministic, parkedBytes } = options;
    const generator = new Generator(decoder, { deterministic, parkedBytes, chunk: chunkTokens });
    generator.publish(baseVersion, adapterFeeds(blank ?? new Map()));
    const { provider, writesInPlace } = runtime;
    return {
      sampler: new SamplerProcess(model, blank, generator),
      info: { contextWindow: options.contextWindow, lanes: options.lanes, provider, writesInPlace },
    };
  }

  async answer(message: Exclude<ToSampler, { type: "open" }>): Promise<void> {
    if (message.type === "cancel") {
      this.#running.get(message.id)?.abort(new Error("cancelled"));
      return;
    }
    try {
      if (message.type === "sample") await this.#sample(message.id, message.request);
      else {
        if (message.type === "publish") this.#generator.publish(message.version, adapterFeeds(await this.#adapter(message.adapterFolder)));
        if (message.type === "retire") this.#generator.retire(message.version);
        send({ type: "done", id: message.id, counts: this.#generator.counts });
      }
    } catch (error) {
      send({ type: "failed", id: message.id, failure: failureOf(error) });
    }
  }

  async #sample(id: number, { endIds, maxTokens, stopStrings, ...request }: SampleRequest): Promise<void> {
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      const decoder = stopStrings.length === 0 ? null : (await this.#text()).streamingDecoder({ skipSpecialTokens: true });
      const { ids, logprobs, ending, reusedTokens } = await this.#generator.generate(
        { ...request, stop: { endIds, maxTokens, stopStrings, decoder } },
        controller.signal,
      );
      const textBeforeStop = ending.exact ? null : ending.text;
      send({ type: "sampled", id, sample: { ids, logprobs, reason: ending.reason, textBeforeStop, reusedTokens } });
    } finally {
      this.#running.delete(id);
    }
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

function failureOf(error: unknown): SamplerFailure {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof ContextOverflow ? { kind: "context-overflow", promptTokens: error.promptTokens, message } : { kind: "failed", message };
}

function send(message: FromSampler): void {
  process.send?.(message);
}

let opened: Promise<SamplerProcess> | null = null;
process.on("message", (message: ToSampler) => {
  if (message.type === "open") {
    opened = SamplerProcess.open(message.options).then(({ sampler, info }) => {
      send({ type: "opened", info });
      return sampler;
    });
    opened.catch((error: unknown) => send({ type: "not-opened", message: error instanceof Error ? error.message : String(error) }));
    return;
  }
  void opened?.then((sampler) => sampler.answer(message));
});
// The channel closes when the parent ends, however it ends.
process.on("disconnect", () => process.exit(0));
