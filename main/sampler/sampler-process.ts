/** Entry of a sampler process: holds versions of one model's weights and answers requests until its parent goes away. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ContextOverflow } from "../../engine/decoding/index.ts";
import { loadTokenizer, type Tokenizer } from "../../engine/tokenizers/index.ts";
import { type AskContext, type ChildHandler, serveParent } from "../engine-process/index.ts";
import { openRuntime } from "../engine-runtime/index.ts";
import { openModelFolder } from "../models/index.ts";
import { overflowKind, type SampleRequest, type SamplerAsk, type SamplerInfo, type SamplerOptions, type SamplerReply } from "./protocol.ts";
import { WeightsTable } from "./weights-table.ts";

class SamplerHandler implements ChildHandler<SamplerAsk, SamplerReply> {
  readonly #modelFolder: string;
  readonly #weights: WeightsTable;
  #tokenizer: Promise<Tokenizer> | null = null;

  constructor(modelFolder: string, weights: WeightsTable) {
    this.#modelFolder = modelFolder;
    this.#weights = weights;
  }

  async answer(ask: SamplerAsk, context: AskContext): Promise<SamplerReply> {
    if (ask.type === "sample") return this.#sample(ask.request, context);
    if (ask.type === "publish") await this.#weights.publish(ask.version);
    if (ask.type === "retire") await this.#weights.retire(ask.version);
    return { type: "done", counts: this.#weights.counts };
  }

  #sample({ endIds, maxTokens, stopStrings, followed, ...request }: SampleRequest, { signal, onToken }: AskContext): Promise<SamplerReply> {
    const arrivedAt = performance.now();
    const told = followed === true ? { onToken } : {};
    let queueMs = 0;
    const onStart = (): void => {
      queueMs = performance.now() - arrivedAt;
    };
    return this.#weights.using(request.version, async (generator) => {
      const decoder = stopStrings.length === 0 ? null : (await this.#text()).streamingDecoder({ skipSpecialTokens: true });
      const stop = { endIds, maxTokens, stopStrings, decoder };
      const { ids, logprobs, ending, reusedTokens } = await generator.generate({ ...request, stop, onStart, ...told }, signal);
      const textBeforeStop = ending.exact ? null : ending.text;
      return { type: "sampled", sample: { ids, logprobs, reason: ending.reason, textBeforeStop, reusedTokens, queueMs } };
    });
  }

  #text(): Promise<Tokenizer> {
    this.#tokenizer ??= readFile(join(this.#modelFolder, "tokenizer.json"), "utf8").then((json) => loadTokenizer(json));
    return this.#tokenizer;
  }
}

async function open(options: SamplerOptions): Promise<{ readonly info: SamplerInfo; readonly handler: SamplerHandler }> {
  const runtime = await openRuntime(options.threads === null ? {} : { threads: options.threads });
  const model = await openModelFolder(options.modelFolder);
  const { lanes, contextWindow } = options;
  const { provider, writesInPlace } = runtime;
  const handler = new SamplerHandler(options.modelFolder, new WeightsTable(runtime, model, options));
  return { info: { contextWindow, lanes, provider, writesInPlace }, handler };
}

serveParent<SamplerOptions, SamplerInfo, SamplerAsk, SamplerReply>({
  open,
  failureOf: (error) => (error instanceof ContextOverflow ? { kind: overflowKind, message: error.message } : null),
});
