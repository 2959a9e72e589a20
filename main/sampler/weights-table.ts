/**
 * The versions of the weights that a sampler process holds. Versions that are adapters of one shape share a decoding session, which is fed
 * with their matrices; a version with weights of its own has a session of its own. Each session has its own cache, and inside a session
 * what was read belongs to a version: a prefix is never reused across two.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type AdapterFeeds, adapterFeeds, DecoderModel, Generator, type GeneratorCounts } from "../../engine/decoding/index.ts";
import { type Adapter, type AdapterShape, readPeftAdapter } from "../../engine/models/index.ts";
import type { Runtime } from "../../engine/onnx/index.ts";
import { type ModelFolder, openFile, openModelFolder } from "../models/index.ts";
import type { SamplerOptions, WeightsSource, WeightsVersion } from "./protocol.ts";

/** Tokens of a prompt that are read at once. Small, so that others' answers go on. */
const chunkTokens = 128;
/** Deterministic runs reuse whole chunks only; where prompts are short, so are chunks. */
const shortChunk = { tokens: 32, contextWindow: 1024 };

interface Engine {
  readonly decoder: DecoderModel;
  readonly generator: Generator;
}

interface EngineEntry {
  readonly opening: Promise<Engine>;
  /** null until it is open. */
  engine: Engine | null;
  /** Versions that use it or are about to. */
  holders: number;
}

interface Version {
  readonly opening: Promise<{ readonly key: string; readonly engine: Engine }>;
  requests: number;
  onIdle: (() => void) | null;
}

export class WeightsTable {
  readonly #runtime: Runtime;
  readonly #base: ModelFolder;
  readonly #options: SamplerOptions;
  readonly #engines = new Map<string, EngineEntry>();
  readonly #versions = new Map<string, Version>();
  #past: GeneratorCounts = { promptTokens: 0, readTokens: 0, sampledTokens: 0, steps: 0 };

  constructor(runtime: Runtime, base: ModelFolder, options: SamplerOptions) {
    this.#runtime = runtime;
    this.#base = base;
    this.#options = options;
  }

  /** Loads weights under a new name. Rejects for a name that is taken, and for weights that do not fit the base model. */
  async publish({ name, source }: WeightsVersion): Promise<void> {
    if (this.#versions.has(name)) throw new RangeError(`the version ${name} has been published before`);
    const version: Version = { opening: this.#load(name, source), requests: 0, onIdle: null };
    this.#versions.set(name, version);
    try {
      await version.opening;
    } catch (error) {
      this.#versions.delete(name);
      throw error;
    }
  }

  /** Refuses new requests of a version at once; resolves when its last request has ended and its weights are gone. */
  async retire(name: string): Promise<void> {
    const version = this.#version(name);
    this.#versions.delete(name);
    const { key, engine } = await version.opening;
    if (version.requests > 0)
      await new Promise<void>((resolve) => {
        version.onIdle = resolve;
      });
    engine.generator.retire(name);
    const entry = this.#engines.get(key);
    if (entry !== undefined) entry.holders -= 1;
    if (key === ownKey(name)) await this.#close(key);
  }

  /** Work on the session that holds a version, which stays until it is done. */
  async using<T>(name: string, work: (generator: Generator) => Promise<T>): Promise<T> {
    const version = this.#version(name);
    version.requests += 1;
    try {
      const { engine } = await version.opening;
      return await work(engine.generator);
    } finally {
      version.requests -= 1;
      if (version.requests === 0) version.onIdle?.();
    }
  }

  /** Of all sessions so far. */
  get counts(): GeneratorCounts {
    return [...this.#engines.values()].reduce((sum, { engine }) => (engine === null ? sum : added(sum, engine.generator.counts)), this.#past);
  }

  #version(name: string): Version {
    const version = this.#versions.get(name);
    if (version === undefined) throw new RangeError(`the version ${name} has not been published`);
    return version;
  }

  async #load(name: string, source: WeightsSource): Promise<{ readonly key: string; readonly engine: Engine }> {
    const adapter = source.kind === "adapter" ? await this.#readAdapter(source.folder) : null;
    const key = source.kind === "weights" ? ownKey(name) : adapter === null ? "base" : shapeKey(adapter);
    const entry = await this.#engineFor(key, () => (source.kind === "weights" ? this.#openOwn(source.folder) : this.#open(this.#base, adapter)));
    const feeds: AdapterFeeds = adapter === null ? {} : adapterFeeds(adapter);
    try {
      const engine = await entry.opening;
      engine.generator.publish(name, feeds);
      return { key, engine };
    } catch (error) {
      entry.holders -= 1;
      throw error;
    }
  }

  /** The session of that key, held. Before another is opened, those that nobody holds give back their memory. */
  async #engineFor(key: string, open: () => Promise<Engine>): Promise<EngineEntry> {
    const known = this.#engines.get(key);
    if (known !== undefined) {
      known.holders += 1;
      return known;
    }
    const idle = [...this.#engines].filter(([, { holders }]) => holders === 0).map(([unused]) => unused);
    const entry: EngineEntry = { opening: Promise.all(idle.map((unused) => this.#close(unused))).then(open), engine: null, holders: 1 };
    this.#engines.set(key, entry);
    entry.opening.then(
      (engine) => {
        entry.engine = engine;
      },
      () => this.#engines.delete(key),
    );
    return entry;
  }

  async #close(key: string): Promise<void> {
    const entry = this.#engines.get(key);
    if (entry === undefined) return;
    this.#engines.delete(key);
    const { decoder, generator } = await entry.opening;
    this.#past = added(this.#past, generator.counts);
    await decoder.close();
  }

  async #openOwn(folder: string): Promise<Engine> {
    const model = await openModelFolder(folder);
    try {
      if (JSON.stringify(model.description.config) !== JSON.stringify(this.#base.description.config))
        throw new RangeError(`${folder} is a model of another architecture than ${this.#base.folder}`);
      return await this.#open(model, null);
    } finally {
      model.close();
    }
  }

  async #open(model: ModelFolder, adapter: AdapterShape | null): Promise<Engine> {
    const { lanes, deterministic, parkedBytes, contextWindow } = this.#options;
    // One place of a lane always stays free.
    const decoder = await DecoderModel.open({ ...model, runtime: this.#runtime, adapter, lanes, capacity: contextWindow + 1 });
    const chunk = deterministic && contextWindow <= shortChunk.contextWindow ? shortChunk.tokens : chunkTokens;
    return { decoder, generator: new Generator(decoder, { deterministic, parkedBytes, chunk }) };
  }

  async #readAdapter(folder: string): Promise<Adapter> {
    const weights = openFile(join(folder, "adapter_model.safetensors"), "adapter_model.safetensors");
    try {
      return readPeftAdapter(this.#base.description, await readFile(join(folder, "adapter_config.json"), "utf8"), weights);
    } finally {
      weights.close();
    }
  }
}

function ownKey(name: string): string {
  return `weights ${name}`;
}

function shapeKey(shape: AdapterShape): string {
  return `adapter ${JSON.stringify([...shape].map(([module, { rank, factor }]) => [module, rank, factor]))}`;
}

function added(left: GeneratorCounts, right: GeneratorCounts): GeneratorCounts {
  return {
    promptTokens: left.promptTokens + right.promptTokens,
    readTokens: left.readTokens + right.readTokens,
    sampledTokens: left.sampledTokens + right.sampledTokens,
    steps: left.steps + right.steps,
  };
}
