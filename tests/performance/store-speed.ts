import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "../../main/store/index.ts";
import { sampleCall, sampleExperiment, sampleNode, sampleRollout } from "../../main/store/records/sample-records.ts";
import { type BenchmarkRow, compare } from "./measure/compare.ts";
import { agentBody } from "./proxy-load/load.ts";

const streams = 64;
const callsPerStream = 40;
const bodyBytes = 20_000;
const listed = { rollouts: 1500, callsPerRollout: 20 };

/** Recording at full speed, and reading lists of a large data folder. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  return [await recording(note), ...(await lists(note))];
}

async function recording(note: (line: string) => void): Promise<BenchmarkRow> {
  const folder = mkdtempSync(join(tmpdir(), "openforge-bench-"));
  const store = openStore(folder);
  let round = 0;
  const bodies = (stream: number, call: number) =>
    [Buffer.from(agentBody(bodyBytes, stream, call + round * callsPerStream)), Buffer.from(`{"answer":"${round} ${stream} ${call}"}`)] as const;

  async function ours(): Promise<number> {
    round += 1;
    const experiment = `e${round}`;
    store.createExperiment(sampleExperiment(experiment));
    const ids = Array.from({ length: streams }, (_, stream) => `${experiment}-r${stream}`);
    store.createRollouts(ids.map((id) => sampleRollout(id, experiment)));
    const all = ids.map((_, stream) => Array.from({ length: callsPerStream }, (_none, call) => bodies(stream, call)));
    const started = performance.now();
    await Promise.all(
      ids.map(async (id, stream) => {
        for (const [index, [request, response]] of (all[stream] ?? []).entries()) {
          const call = sampleCall(store, id, index, request, response);
          await store.recordCallDurably(call, { ...sampleNode(call.id), sampledIds: new Int32Array(200), logprobs: new Float32Array(200) });
        }
      }),
    );
    const perSecond = (streams * callsPerStream) / ((performance.now() - started) / 1000);
    store.deleteExperiment(experiment);
    return perSecond;
  }

  function reference(): number {
    const file = join(folder, "lines.jsonl");
    const all = Array.from({ length: streams * callsPerStream }, (_, number) => bodies(number % streams, Math.floor(number / streams)));
    const started = performance.now();
    for (const [request, response] of all)
      appendFileSync(file, `${JSON.stringify({ request: request.toString(), response: response.toString() })}\n`);
    const perSecond = all.length / ((performance.now() - started) / 1000);
    rmSync(file);
    return perSecond;
  }

  try {
    const row = await compare({
      name: `calls recorded a second, ${streams} streams, ${bodyBytes / 1000} KB bodies, durable against kill -9`,
      unit: "calls/s",
      aim: "≥ 3,000, and a small part of a proxied call",
      measure: ours,
      reference: { name: "appending the same bodies to a file as JSON lines", measure: reference },
    });
    note(`${Math.round(1e6 / row.value)} µs a call`);
    return row;
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function lists(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "openforge-bench-"));
  const store = openStore(folder);
  try {
    fill(store);
    note(`${listed.rollouts} rollouts, ${listed.rollouts * listed.callsPerRollout} calls`);
    const file = join(folder, "rollouts.json");
    writeFileSync(file, JSON.stringify(store.rolloutsOf("e")));
    const parse = { name: "reading the same rollouts from a JSON file", measure: () => milliseconds(() => JSON.parse(readFileSync(file, "utf8"))) };
    const comparison = (name: string, aim: string, read: () => unknown) =>
      compare({ name, unit: "ms", aim, measure: () => milliseconds(read), reference: parse });
    return [
      await comparison("sums of an experiment", "≤ 50 ms", () => store.experimentSummary("e")),
      await comparison(`list of ${listed.rollouts} rollouts`, "≤ 100 ms", () => store.rolloutsOf("e")),
      await comparison(`calls of one rollout of ${listed.callsPerRollout}`, "≤ 10 ms", () => store.callsOf("r700")),
      await comparison("newest 200 events", "≤ 10 ms", () => store.eventsAfter(store.lastSequence() - 200, 200, { experimentId: "e" })),
    ];
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function fill(store: Store): void {
  store.createExperiment(sampleExperiment("e"));
  const ids = Array.from({ length: listed.rollouts }, (_, number) => `r${number}`);
  store.createRollouts(
    ids.map((id, groupIndex) =>
      sampleRollout(id, "e", {
        groupIndex,
        phase: "ended",
        reward: groupIndex % 2,
        outcome: { status: "succeeded", cause: null, action: "train", detail: null },
      }),
    ),
  );
  for (const id of ids)
    store.atomically(() => {
      for (let index = 0; index < listed.callsPerRollout; index++)
        store.recordCall(sampleCall(store, id, index, Buffer.from(`request ${id} ${index}`), Buffer.from(`answer ${id} ${index}`)), null);
    });
}

function milliseconds(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}
