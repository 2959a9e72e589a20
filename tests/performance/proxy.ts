import { type BenchmarkRow, rowOf } from "./measure/compare.ts";
import { type LoadResult, load, percentile } from "./proxy-load/load.ts";
import { type Running, startMitmproxy, startOurs, startPolicy } from "./proxy-load/processes.ts";

const streams = 64;
const bodyBytes = 20_000;
const rounds = 5;
const workload = `${streams} streams, ${bodyBytes / 1000} KB bodies`;

/** What the proxy costs with recording on, beside a direct call and beside mitmproxy in reverse mode, saving flows. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  return [...(await throughput(note)), ...(await addedLatency(note))];
}

interface Turn {
  readonly direct: LoadResult;
  readonly ours: LoadResult;
  readonly mitmproxy: LoadResult | null;
}

async function inTurns(policyMs: number, seconds: number, note: (line: string) => void): Promise<readonly Turn[]> {
  const started: Running[] = [];
  const keep = <T extends Running | null>(running: T): T => {
    if (running !== null) started.push(running);
    return running;
  };
  try {
    const policy = keep(await startPolicy(policyMs));
    const ours = keep(await startOurs(policy, streams));
    const mitmproxy = keep(await startMitmproxy(policy, note));
    const measure = (running: Running, time = seconds): Promise<LoadResult> => load(running.target, streams, time, bodyBytes);
    for (const running of [policy, ours, mitmproxy]) if (running !== null) await measure(running, 3);
    const turns: Turn[] = [];
    for (let round = 0; round < rounds; round += 1)
      turns.push({ direct: await measure(policy), ours: await measure(ours), mitmproxy: mitmproxy === null ? null : await measure(mitmproxy) });
    return turns;
  } finally {
    for (const running of started.toReversed()) await running.stop();
  }
}

async function throughput(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const turns = await inTurns(0, 3, note);
  const perSecond = (of: (turn: Turn) => LoadResult | null): number[] =>
    turns.map(of).flatMap((result) => (result === null ? [] : [result.calls / result.seconds]));
  const ours = perSecond((turn) => turn.ours);
  const direct = { name: "direct call", values: perSecond((turn) => turn.direct) };
  const other = perSecond((turn) => turn.mitmproxy);
  const what = (beside: string) => ({ name: `calls a second through the proxy, recording on, ${workload}, beside ${beside}`, unit: "calls/s" });
  return [
    rowOf({ ...what("a direct call"), aim: "≥ 2,800 on a quiet machine of 2 cores" }, ours, direct),
    rowOf(
      { ...what("mitmproxy"), aim: "≥ 5 × mitmproxy" },
      ours,
      other.length === 0 ? null : { name: "mitmproxy, reverse mode, saving flows", values: other },
    ),
  ];
}

/** A policy that takes 200 ms: 64 streams then ask some 300 times a second, and nothing waits for a free processor. */
async function addedLatency(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const policyMs = 200;
  const turns = await inTurns(policyMs, 4, note);
  const added = (share: number, of: (turn: Turn) => LoadResult | null): number[] =>
    turns.flatMap((turn) => {
      const result = of(turn);
      return result === null ? [] : [percentile(result.latencies, share) - percentile(turn.direct.latencies, share)];
    });
  return (
    [
      [0.5, "p50", "≤ 1 ms"],
      [0.99, "p99", "≤ 5 ms"],
    ] as const
  ).map(([share, name, aim]) => {
    const other = added(share, (turn) => turn.mitmproxy);
    return rowOf(
      { name: `milliseconds added to a call, ${name}, recording on, ${workload}, a policy of ${policyMs} ms`, unit: "ms", aim },
      added(share, (turn) => turn.ours),
      other.length === 0 ? null : { name: "mitmproxy, reverse mode, saving flows", values: other },
    );
  });
}
