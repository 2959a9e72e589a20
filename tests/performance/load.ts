import { z } from "zod";
import { type BenchmarkRow, rowOf } from "./measure/compare.ts";
import { percentile } from "./proxy-load/load.ts";
import { type ProxyUnderLoad, startPolicy, startProxyUnderLoad } from "./proxy-load/processes.ts";
import { type Sample, sustain } from "./proxy-load/sustained.ts";

const streams = 64;
/** Straight to the policy at the same time: what the machine does to everybody. */
const directStreams = 8;
const callsARollout = 40;
const policyMs = 600;
const memoryEverySeconds = 5;

const memorySchema = z.object({ rss: z.number(), heap: z.number(), descriptors: z.number() });
const stageSchema = z.object({ path: z.string(), key: z.string() });
const checkSchema = z.object({ recorded: z.number(), problems: z.number() });
type Memory = z.infer<typeof memorySchema> & { readonly at: number };

/** Ten minutes at 64 streams (`OPENFORGE_LOAD_MINUTES`: fewer): whether latency or memory drifts. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const minutes = Number(process.env.OPENFORGE_LOAD_MINUTES ?? 10);
  if (!(minutes > 0)) throw new Error("OPENFORGE_LOAD_MINUTES is a number above 0, for example 2.");
  note(`rollouts of ${callsARollout} calls, streamed and not, a policy of ${policyMs} ms, ${directStreams} more streams straight to the policy`);
  const policy = await startPolicy(policyMs, 0.4);
  const proxy = await startProxyUnderLoad(policy);
  try {
    const result = await measure(proxy, policy.target.port, minutes * 60, note);
    return rowsOf(result, `${streams} streams, ${minutes} min`);
  } finally {
    await proxy.stop();
    await policy.stop();
  }
}

interface LoadResult {
  readonly seconds: number;
  readonly ours: readonly Sample[];
  readonly direct: readonly Sample[];
  readonly memory: readonly Memory[];
  readonly recorded: number;
  readonly problems: number;
}

async function measure(proxy: ProxyUnderLoad, policyPort: number, seconds: number, note: (line: string) => void): Promise<LoadResult> {
  const ask = async (path: string): Promise<unknown> => (await fetch(`http://${proxy.control}${path}`, { method: "POST" })).json();
  const begun = performance.now();
  const memory: Memory[] = [];
  const watch = setInterval(() => {
    const at = (performance.now() - begun) / 1000;
    ask("/memory").then(
      (told) => {
        memory.push({ at, ...memorySchema.parse(told) });
        const last = memory.at(-1);
        if (memory.length % 12 === 0 && last !== undefined)
          note(`${Math.round(at)} s: ${megabytes(last.heap)} MB in use, ${megabytes(last.rss)} MB resident`);
      },
      (error: unknown) => note(`the memory could not be read: ${String(error)}`),
    );
  }, memoryEverySeconds * 1000);
  const time = { seconds, callsARollout, staggerSeconds: Math.min(10, seconds / 10) };
  try {
    const [ours, direct] = await Promise.all([
      sustain({
        ...{ ...time, streams },
        async open() {
          const { path, key } = stageSchema.parse(await ask("/open"));
          return { origin: `http://${proxy.address}`, path: `${path}/v1`, key, leave: async () => void (await ask(`/close${path}`)) };
        },
      }),
      sustain({
        ...{ ...time, streams: directStreams },
        open: async () => ({ origin: `http://127.0.0.1:${policyPort}`, path: "/v1", key: "none", leave: async () => undefined }),
      }),
    ]);
    return { seconds, ours, direct, memory, ...checkSchema.parse(await ask("/check")) };
  } finally {
    clearInterval(watch);
  }
}

function rowsOf({ seconds, ours, direct, memory, recorded, problems }: LoadResult, what: string): readonly BenchmarkRow[] {
  const third = (samples: readonly Sample[], number: number): Float64Array =>
    Float64Array.from(samples.filter(({ at }) => at >= (number * seconds) / 3 && at < ((number + 1) * seconds) / 3).map(({ ms }) => ms)).sort();
  const latency = ([share, name]: readonly [number, string]): BenchmarkRow[] => {
    const of = (samples: readonly Sample[], number: number): number => percentile(third(samples, number), share);
    return [
      ...[0, 2].map((number) =>
        rowOf(
          { name: `${what}: ${name} of a call, ${number === 0 ? "first" : "last"} third`, unit: "ms", aim: "as direct, some ms more" },
          [of(ours, number)],
          {
            name: "direct, at the same time",
            values: [of(direct, number)],
          },
        ),
      ),
      rowOf({ name: `${what}: ${name}, last third ÷ first`, unit: "", aim: "as direct: no drift" }, [of(ours, 2) / of(ours, 0)], {
        name: "direct",
        values: [of(direct, 2) / of(direct, 0)],
      }),
    ];
  };
  const settled = memory.filter(({ at }) => at >= seconds / 3);
  const growth = (of: (each: Memory) => number): number => slope(settled.map((each) => [each.at / 60, of(each)] as const));
  const descriptors = (settled.at(-1)?.descriptors ?? Number.NaN) - (settled[0]?.descriptors ?? Number.NaN);
  return [
    ...(
      [
        [0.5, "p50"],
        [0.99, "p99"],
      ] as const
    ).flatMap(latency),
    rowOf(
      { name: `${what}: memory in use after collection, slope of the last two thirds`, unit: "MB a minute", aim: "about 0" },
      [growth(({ heap }) => heap) / 1e6],
      null,
    ),
    rowOf(
      { name: `${what}: resident memory, slope of the last two thirds`, unit: "MB a minute", aim: "about 0" },
      [growth(({ rss }) => rss) / 1e6],
      null,
    ),
    rowOf({ name: `${what}: resident memory at the end`, unit: "MB", aim: "-" }, [(memory.at(-1)?.rss ?? Number.NaN) / 1e6], null),
    rowOf(
      { name: `${what}: descriptors, last two thirds, end less begin`, unit: "", aim: "0, give or take what is on its way" },
      [descriptors],
      null,
    ),
    rowOf({ name: `${what}: calls answered and not recorded`, unit: "calls", aim: "0" }, [ours.length - recorded], null),
    rowOf({ name: `${what}: calls`, unit: "calls", aim: "-" }, [ours.length], null),
    rowOf({ name: `${what}: problems that store check finds`, unit: "", aim: "0" }, [problems], null),
  ];
}

/** Least squares through `[x, y]`. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number): number => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(([at]) => at), mean(([, value]) => value)];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
