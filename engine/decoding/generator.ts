/**
 * Answers many requests at once: each takes a lane of the cache, reads its prompt in chunks and then gains one token with every step that
 * all lanes share. Requests come and go between steps.
 *
 * Deterministic mode repeats to the bit whatever the order of arrival: every step runs all lanes, prompts are cut at fixed places, and only
 * whole chunks are reused, so that how a token was read depends on its prompt alone; what a lane computes does not depend on what the
 * others hold.
 */
import { at } from "../algorithms/index.ts";
import { seededRandom } from "../statistics/index.ts";
import type { AdapterFeeds, DecoderModel } from "./decoder-model.ts";
import { type Job, newJob } from "./job.ts";
import { type Lane, LaneTable } from "./lanes.ts";
import type { ReuseRule } from "./prefixes.ts";
import { type SamplingSettings, TokenSampler } from "./sampling.ts";
import type { Ending, StopSettings } from "./stop-condition.ts";

export interface GenerationRequest {
  readonly promptIds: Int32Array;
  readonly sampling: SamplingSettings;
  readonly stop: StopSettings;
  /** Of the draws; derive it from rollout and call, so that it does not depend on the order of arrival. */
  readonly seed: number;
  /** Name of a published version of the weights. */
  readonly version: string;
  /** Called when it takes a lane: until then it waited for others. */
  readonly onStart?: () => void;
  /** Called with each id as it is drawn, also with those that end the answer or are taken back with a stop string. */
  readonly onToken?: (id: number) => void;
}

export interface Generation {
  readonly ids: Int32Array;
  /** Of each id in the distribution that it was drawn from. */
  readonly logprobs: Float32Array;
  readonly ending: Ending;
  /** Tokens of the prompt whose keys and values were at hand. */
  readonly reusedTokens: number;
}

/** The prompt leaves no room for an answer. */
export class ContextOverflow extends Error {
  readonly promptTokens: number;
  readonly capacity: number;
  constructor(promptTokens: number, capacity: number) {
    super(`the prompt has ${promptTokens} tokens and leaves no room in a context of ${capacity}`);
    this.name = "ContextOverflow";
    this.promptTokens = promptTokens;
    this.capacity = capacity;
  }
}

export interface GeneratorOptions {
  readonly deterministic: boolean;
  /** Tokens of a prompt that are read at once; decoding goes on between chunks. Deterministic mode reuses whole chunks only. */
  readonly chunk: number;
  /** Bytes of keys and values kept outside the lanes. */
  readonly parkedBytes: number;
}

export interface GeneratorCounts {
  /** Tokens of all prompts. */
  readonly promptTokens: number;
  /** Of them, read by the model. */
  readonly readTokens: number;
  readonly sampledTokens: number;
  readonly steps: number;
}

/**
 * Tokens of prompts that are read before all lanes take a further step, at least a chunk. Several short prompts: else a step would be taken for
 * each, with most lanes idle.
 */
const readBetweenSteps = 128;

export class Generator {
  readonly #model: DecoderModel;
  readonly #options: GeneratorOptions;
  readonly #rule: ReuseRule;
  readonly #lanes: LaneTable;
  readonly #sampler: TokenSampler;
  readonly #versions = new Map<string, AdapterFeeds>();
  readonly #waiting: Job[] = [];
  #running = false;
  #counts = { promptTokens: 0, readTokens: 0, sampledTokens: 0, steps: 0 };

  constructor(model: DecoderModel, options: GeneratorOptions) {
    this.#model = model;
    this.#options = options;
    this.#rule = { chunk: options.deterministic ? options.chunk : null };
    this.#lanes = new LaneTable(model.cache, options.parkedBytes);
    this.#sampler = new TokenSampler(model.vocabularySize);
  }

  get counts(): GeneratorCounts {
    return { ...this.#counts };
  }

  /** Makes a version of the weights known. Requests under way keep theirs. */
  publish(version: string, adapter: AdapterFeeds): void {
    if (this.#versions.has(version)) throw new RangeError(`the version ${version} has been published before`);
    this.#versions.set(version, adapter);
  }

  /** Forgets a version and what was read under it. Throws RangeError while a request uses it. */
  retire(version: string): void {
    const inUse = [...this.#waiting, ...this.#lanes.jobs].some((job) => job.request.version === version);
    if (inUse) throw new RangeError(`the version ${version} is in use`);
    this.#versions.delete(version);
    this.#lanes.forget(version);
  }

  /** Rejects with ContextOverflow, with the signal's reason when aborted, or with what the runtime says. */
  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    if (!this.#versions.has(request.version)) return Promise.reject(new RangeError(`the version ${request.version} has not been published`));
    if (request.promptIds.length === 0) return Promise.reject(new RangeError("the prompt has no tokens"));
    // A lane always keeps one free place: a step may write there for lanes that do not take part.
    const room = this.#model.cache.capacity - 1 - request.promptIds.length;
    if (room < 1) return Promise.reject(new ContextOverflow(request.promptIds.length, this.#model.cache.capacity));
    return new Promise((resolve, reject) => {
      this.#waiting.push(
        newJob(request, Math.min(room, request.stop.maxTokens), seededRandom(request.seed), { resolve, reject, signal: signal ?? null }),
      );
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      for (;;) {
        this.#dropAborted();
        this.#admit();
        const { jobs } = this.#lanes;
        if (jobs.length === 0) break;
        await this.#readPrompts();
        for (const version of new Set(jobs.map((job) => job.request.version))) await this.#step(version);
      }
    } catch (error) {
      for (const job of [...this.#waiting.splice(0), ...this.#lanes.jobs]) job.reject(error);
      this.#lanes.clear();
    } finally {
      this.#running = false;
    }
    if (this.#waiting.length > 0) void this.#run();
  }

  #dropAborted(): void {
    for (const job of [...this.#waiting, ...this.#lanes.jobs]) {
      if (job.signal?.aborted !== true) continue;
      const place = this.#waiting.indexOf(job);
      if (place >= 0) this.#waiting.splice(place, 1);
      else this.#lanes.release(job);
      job.reject(job.signal.reason);
    }
  }

  /** Gives free lanes to those who have waited longest. */
  #admit(): void {
    while (this.#lanes.hasFree) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      job.reused = this.#lanes.assign(job, this.#rule);
      job.read = job.reused;
      job.request.onStart?.();
      this.#counts.promptTokens += job.request.promptIds.length;
    }
  }

  /** The prompts that have waited longest, as much of them as is read between two steps. */
  async #readPrompts(): Promise<void> {
    let tokens = 0;
    for (const { lane, job } of this.#lanes.busy) {
      while (job.read < job.request.promptIds.length) {
        if (tokens >= readBetweenSteps) return;
        tokens += await this.#readChunk(lane, job);
      }
    }
  }

  async #readChunk(lane: Lane, job: Job): Promise<number> {
    const { promptIds, version } = job.request;
    const { chunk } = this.#options;
    this.#lanes.catchUp(lane, job, this.#rule);
    const start = job.read;
    const end = Math.min(promptIds.length, start + chunk);
    const tokens = promptIds.slice(start, end);
    const logits = await this.#model.prefill(lane.index, start, tokens, this.#adapter(version));
    lane.hold(tokens, tokens.length === chunk && start % chunk === 0);
    job.read = end;
    this.#counts.readTokens += end - start;
    if (end === promptIds.length) this.#sample(lane, job, logits);
    return end - start;
  }

  /** One token for every lane of a version whose prompt is read. */
  async #step(version: string): Promise<void> {
    const ready = this.#lanes.busy.filter(({ job }) => job.request.version === version && job.ids.length > 0);
    if (ready.length === 0) return;
    const count = this.#options.deterministic ? this.#lanes.all.length : Math.max(...ready.map(({ lane }) => lane.index)) + 1;
    const lanes = this.#lanes.all.slice(0, count);
    const tokens = new Int32Array(count);
    for (const { lane, job } of ready) tokens[lane.index] = job.ids.at(-1) ?? 0;
    // Lanes that do not take part write behind what they hold, where their own next token will be written.
    const logits = await this.#model.decode(
      tokens,
      lanes.map((lane) => lane.length),
      this.#adapter(version),
    );
    this.#counts.steps += 1;
    const size = this.#model.vocabularySize;
    for (const { lane, job } of ready) {
      lane.hold(tokens.subarray(lane.index, lane.index + 1), false);
      this.#sample(lane, job, logits.subarray(lane.index * size, (lane.index + 1) * size));
    }
  }

  #sample(lane: Lane, job: Job, logits: Float32Array): void {
    const { id, logprob } = this.#sampler.sample(logits, job.request.sampling, job.random);
    job.ids.push(id);
    job.logprobs.push(logprob);
    job.request.onToken?.(id);
    this.#counts.sampledTokens += 1;
    const ending = job.stop.next(id);
    if (ending === null) return;
    this.#lanes.free(lane);
    job.resolve({
      ids: Int32Array.from(job.ids.slice(0, ending.kept)),
      logprobs: Float32Array.from({ length: ending.kept }, (_unused, index) => at(job.logprobs, index)),
      ending,
      reusedTokens: job.reused,
    });
  }

  #adapter(version: string): AdapterFeeds {
    const adapter = this.#versions.get(version);
    if (adapter === undefined) throw new RangeError(`the version ${version} has not been published`);
    return adapter;
  }
}
