import { DecoderModel, Generator, plainSampling } from "../../engine/decoding/index.ts";
import { describeModel, weightsInMemory } from "../../engine/models/index.ts";
import { deriveSeed, seededRandom } from "../../engine/statistics/index.ts";
import { memoryPlans, SequenceModel } from "../../engine/training/index.ts";
import { openRuntime } from "../../main/engine-runtime/index.ts";
import { randomWeights, starter } from "./engine/models.ts";
import { type BenchmarkRow, rowOf } from "./measure/compare.ts";

const lanes = 32;
const description = describeModel(starter);
const repetitions = 5;

/** One rollout: the prompt of its first call, what is appended before each further call, and how long the answers are. */
interface Plan {
  readonly first: Int32Array;
  readonly appended: readonly Int32Array[];
  readonly answerTokens: number;
}

interface Played {
  readonly seconds: number;
  readonly calls: number;
  readonly sampledTokens: number;
  /** Tokens of all prompts that the model read, of all tokens of all prompts. */
  readonly readShare: number;
  /** Whole sequences, the first sampled position of the last call, and its log-probabilities. */
  readonly last: readonly { readonly ids: Int32Array; readonly from: number; readonly logprobs: Float32Array }[];
}

/**
 * What sampling costs in rollouts of many calls: how much of the prompts is read again, how many calls a second a policy of starter size
 * answers, and how far the trainer's log-probabilities are from the sampler's. Needs nothing but the engine, and takes seconds.
 */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const weights = weightsInMemory(keptWeights());
  const runtime = await openRuntime();
  const model = await DecoderModel.open({ runtime, description, weights, adapter: null, lanes, capacity: 1024 });
  const scorer = new SequenceModel({
    ...{ runtime, description, weights, adapter: null, parameters: new Map(), trained: "adapter", withEntropy: false, withValues: false },
    memory: memoryPlans(description, false)[0] ?? never("a memory plan"),
  });
  const play = (plans: readonly Plan[], deterministic: boolean): Promise<Played> => playAll(model, plans, deterministic);
  try {
    const rows = [await throughput(play, note)];
    rows.push(await share("20 calls, each prompt 40 tokens longer", longRollouts(1), "≤ 0.15", play));
    rows.push(await share("a main line and a subagent that shares its first 200 tokens", withSubagent(), "≤ 0.3", play));
    rows.push(await agreement(play, scorer));
    return rows;
  } finally {
    await model.close();
    await scorer.close();
  }
}

type Play = (plans: readonly Plan[], deterministic: boolean) => Promise<Played>;

/** A step of the starter experiment: 16 tasks, 8 rollouts each, three calls of ten tokens. */
async function throughput(play: Play, note: (line: string) => void): Promise<BenchmarkRow> {
  const plans = starterRollouts();
  const speeds: { readonly free: number[]; readonly deterministic: number[] } = { free: [], deterministic: [] };
  await play(plans, false);
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const free = await play(plans, false);
    const deterministic = await play(plans, true);
    speeds.free.push(free.calls / free.seconds);
    speeds.deterministic.push(deterministic.calls / deterministic.seconds);
    if (repetition === 0)
      note(`${Math.round(free.sampledTokens / free.seconds)} tokens sampled a second; ${free.readShare.toFixed(2)} of the prompts read`);
  }
  return rowOf(
    { name: `calls a second, policy of 0.6M, ${plans.length} rollouts over ${lanes} lanes`, unit: "calls/s", aim: "≥ 1 × deterministic mode" },
    speeds.free,
    { name: "deterministic mode", values: speeds.deterministic },
  );
}

async function share(what: string, plans: readonly Plan[], aim: string, play: Play): Promise<BenchmarkRow> {
  const [free, deterministic] = [await play(plans, false), await play(plans, true)];
  const reference = { name: "deterministic mode", values: [deterministic.readShare] };
  return rowOf({ name: `prompt tokens read ÷ prompt tokens, ${what}`, unit: "of 1", aim }, [free.readShare], reference);
}

/** The mean absolute difference of log-probabilities over the answers of last calls, whose prompts were read in pieces. */
async function agreement(play: Play, scorer: SequenceModel): Promise<BenchmarkRow> {
  const { last } = await play(starterRollouts().slice(0, lanes), true);
  const differences: number[] = [];
  for (const { ids, from, logprobs } of last) {
    const placement = { rows: 1, width: ids.length - 1, packed: false, places: [{ row: 0, start: 0, length: ids.length - 1 }] };
    const scores = await scorer.score({ sequences: [ids], placement });
    for (const [index, logprob] of logprobs.entries()) differences.push(Math.abs(logprob - (scores.logprobs.values[from - 1 + index] ?? Number.NaN)));
  }
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / differences.length;
  return rowOf({ name: "mean difference of sampled and trainer log-probabilities", unit: "nats", aim: "≤ 1e-4" }, [mean], null);
}

let version = 0;

async function playAll(model: DecoderModel, plans: readonly Plan[], deterministic: boolean): Promise<Played> {
  const generator = new Generator(model, { deterministic, chunk: deterministic ? 32 : 128, parkedBytes: 16 << 20 });
  const name = `version ${++version}`;
  generator.publish(name, {});
  const waiting = plans.map((plan, index) => ({ plan, index }));
  const last: Played["last"][number][] = [];
  const started = performance.now();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        last[next.index] = await playOne(generator, name, next.plan, next.index);
    }),
  );
  const { promptTokens, readTokens, sampledTokens } = generator.counts;
  const calls = plans.reduce((sum, { appended }) => sum + appended.length + 1, 0);
  return { seconds: (performance.now() - started) / 1000, calls, sampledTokens, readShare: readTokens / promptTokens, last };
}

async function playOne(generator: Generator, name: string, plan: Plan, index: number): Promise<Played["last"][number]> {
  let promptIds = plan.first;
  for (let call = 0; ; call += 1) {
    const stop = { endIds: [], maxTokens: plan.answerTokens, stopStrings: [], decoder: null };
    const { ids, logprobs } = await generator.generate({ promptIds, sampling: plainSampling, stop, seed: deriveSeed(index, call), version: name });
    const whole = joined(promptIds, ids);
    const appended = plan.appended[call];
    if (appended === undefined) return { ids: whole, from: promptIds.length, logprobs };
    promptIds = joined(whole, appended);
  }
}

function starterRollouts(): readonly Plan[] {
  const system = tokens(30, 1);
  return Array.from({ length: 128 }, (_unused, index) => {
    const task = index >> 3;
    const first = joined(system, tokens(10 + ((task * 7) % 50), 2 + task));
    return { first, appended: [tokens(12 + (index % 16), 100 + index), tokens(10, 300 + index)], answerTokens: 10 };
  });
}

function longRollouts(count: number): readonly Plan[] {
  return Array.from({ length: count }, (_unused, index) => {
    const appended = Array.from({ length: 19 }, (_none, call) => tokens(30, 1000 * index + call));
    return { first: tokens(100, 7 + index), appended, answerTokens: 10 };
  });
}

/** The subagent's prompts begin as the main line's do and go on apart. */
function withSubagent(): readonly Plan[] {
  const shared = tokens(200, 11);
  return [12, 13].map((seed) => {
    const appended = Array.from({ length: 7 }, (_unused, call) => tokens(30, 50 * seed + call));
    return { first: joined(shared, tokens(20, seed)), appended, answerTokens: 10 };
  });
}

function tokens(length: number, seed: number): Int32Array {
  const random = seededRandom(seed);
  return Int32Array.from({ length }, () => Math.floor(random() * starter.vocabularySize));
}

function joined(...parts: readonly Int32Array[]): Int32Array {
  return Int32Array.from(parts.flatMap((part) => [...part]));
}

function keptWeights(): (name: string) => Float32Array {
  const make = randomWeights(starter);
  const kept = new Map<string, Float32Array>();
  return (name) => {
    const known = kept.get(name) ?? make(name);
    kept.set(name, known);
    return known;
  };
}

function never(what: string): never {
  throw new Error(`there is no ${what}`);
}
