import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPlacementIndex, type GraphCall, type GraphNode, reconstruct } from "../../engine/graph/index.ts";
import { openStore, type Store } from "../../main/store/index.ts";
import { sampleCall, sampleExperiment, sampleRollout } from "../../main/store/records/sample-records.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { type BenchmarkRow, compare, rate } from "./measure/compare.ts";

interface ServedCall {
  readonly callId: string;
  readonly promptIds: Int32Array;
  readonly sampledIds: Int32Array;
}

/** A rollout of 100 calls whose main line grows to 100,000 tokens, with two subagents and one compaction on the way. */
function madeUpRollout(): ServedCall[] {
  const calls: ServedCall[] = [];
  let state = 1;
  const nextId = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 150_000;
  };
  const ids = (count: number) => Array.from({ length: count }, nextId);
  let main = ids(4_000);
  let subagent: number[] = [];
  for (let index = 0; index < 100; index++) {
    const onSubagent = index % 40 >= 30;
    if (index % 40 === 30) subagent = ids(2_000);
    if (index === 60) main = [...main.slice(0, 4_000), ...ids(1_000)];
    const line = onSubagent ? subagent : main;
    const promptIds = Int32Array.from([...line, ...ids(700)]);
    const sampledIds = Int32Array.from(ids(600));
    calls.push({ callId: `c${index}`, promptIds, sampledIds });
    const next = [...promptIds, ...sampledIds];
    if (onSubagent) subagent = next;
    else main = next;
  }
  return calls;
}

/** Reconstruction of stored nodes, placement while a rollout runs, and a whole rebuild from the store; in tokens a second. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const served = madeUpRollout();
  const seen = served.reduce((sum, call) => sum + call.promptIds.length + call.sampledIds.length, 0);
  const nodes = placeAll(served);
  const calls = served.map((call, index) => graphCall(call.callId, index));
  const onChains = layOutAll(calls, nodes);
  note(`${served.length} calls, ${seen} tokens seen, ${onChains} on chains`);
  const reconstruction = () => rate(onChains, () => layOutAll(calls, nodes));
  const folder = await mkdtemp(join(tmpdir(), "openforge-bench-"));
  const store = openStore(folder);
  try {
    fillStore(store, served, nodes);
    return [
      await compare({
        name: "reconstruction from nodes",
        unit: "tokens/s",
        aim: "≥ 5,000,000",
        measure: reconstruction,
        reference: {
          name: "the same chains and masks by concatenating arrays, token by token",
          measure: () => rate(onChains, () => layOutPlainly(served)),
        },
      }),
      await compare({
        name: "placement of calls",
        unit: "tokens/s",
        aim: "≥ 5,000,000",
        measure: () => rate(seen, () => placeAll(served)),
        reference: { name: "comparing each prompt with every earlier sequence", measure: () => rate(seen, () => placePlainly(served)) },
      }),
      await compare({
        name: "rebuild from the store",
        unit: "tokens/s",
        aim: "≥ 5,000,000",
        measure: () => rate(onChains, () => rebuildAndLayOut(store)),
        reference: { name: "reconstruction from nodes in memory", measure: reconstruction },
      }),
    ];
  } finally {
    store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function placeAll(served: readonly ServedCall[]): GraphNode[] {
  const placements = createPlacementIndex();
  return served.map((call) => ({
    callId: call.callId,
    ...placements.placeCall(call),
    sampledIds: call.sampledIds,
    logprobs: new Float32Array(call.sampledIds.length).fill(-1),
  }));
}

function layOutAll(calls: readonly GraphCall[], nodes: readonly GraphNode[]): number {
  const rebuilt = reconstruct(calls, nodes);
  return rebuilt.chains.reduce((sum, chain) => sum + rebuilt.tokensOf(chain.number).ids.length, 0);
}

function rebuildAndLayOut(store: Store): number {
  const rebuilt = rebuildTrajectories(store, "r");
  return rebuilt.chains.reduce((sum, chain) => sum + rebuilt.tokensOf(chain.number).ids.length, 0);
}

/** The parent of each call by comparing its prompt with all that went before. */
function placePlainly(served: readonly ServedCall[]): (number | null)[] {
  const sequences = served.map((call) => [...call.promptIds, ...call.sampledIds]);
  return served.map((call, index) => {
    let best: number | null = null;
    for (let earlier = 0; earlier < index; earlier++) {
      const sequence = sequences[earlier] ?? [];
      const longer = best === null || sequence.length > (sequences[best]?.length ?? 0);
      if (longer && sequence.length <= call.promptIds.length && sequence.every((id, at) => call.promptIds[at] === id)) best = earlier;
    }
    return best;
  });
}

/** Last calls of chains are those that nobody goes on from; tokens and masks are pushed one by one. */
function layOutPlainly(served: readonly ServedCall[]): number {
  const parents = placedOnce(served);
  let total = 0;
  served.forEach((_, index) => {
    if (parents.includes(index)) return;
    const path: number[] = [];
    for (let at: number | null = index; at !== null; at = parents[at] ?? null) path.unshift(at);
    const tokens: number[] = [];
    const mask: number[] = [];
    for (const at of path) {
      const call = served[at];
      if (call === undefined) continue;
      for (const id of call.promptIds.subarray(tokens.length)) {
        tokens.push(id);
        mask.push(0);
      }
      for (const id of call.sampledIds) {
        tokens.push(id);
        mask.push(1);
      }
    }
    total += tokens.length;
  });
  return total;
}

const parentsOf = new WeakMap<readonly ServedCall[], (number | null)[]>();

function placedOnce(served: readonly ServedCall[]): (number | null)[] {
  const known = parentsOf.get(served) ?? placePlainly(served);
  parentsOf.set(served, known);
  return known;
}

function graphCall(id: string, index: number): GraphCall {
  return { id, index, excluded: null, recordedBreak: "subagent", messages: [], answer: null, tools: null, thread: null };
}

function fillStore(store: Store, served: readonly ServedCall[], nodes: readonly GraphNode[]): void {
  store.createExperiment(sampleExperiment("e"));
  store.createRollouts([sampleRollout("r", "e")]);
  const body = new TextEncoder().encode("{}");
  served.forEach(({ callId }, index) => {
    store.recordCall(sampleCall(store, "r", index, body, body, { id: callId, breakCause: "subagent" }), nodes[index] ?? null);
  });
}
