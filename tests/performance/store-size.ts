import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../main/store/index.ts";
import { sampleCall, sampleExperiment, sampleRollout } from "../../main/store/records/sample-records.ts";
import { type BenchmarkRow, compare } from "./measure/compare.ts";
import { madeUpRollout, type RolloutCall } from "./store-load/rollout.ts";

const calls = 100;
const tokens = 100_000;

/** Bytes of bodies on disk for a rollout of 100 calls that grows to 100k tokens, beside `zstd -19 --long` of its raw JSON lines; the index apart. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const zstd = spawnSync("zstd", ["--version"]).status === 0;
  if (!zstd) note("zstd is not installed (apt-get install zstd): no reference");
  const rows: BenchmarkRow[] = [];
  for (const upstream of [false, true]) {
    const what = upstream ? "requests, answers and token-in upstream bodies" : "requests and answers";
    // Both measures go through the same rollouts in turn; the first of each is not counted.
    const turns = { ours: 0, reference: 0 };
    const rollout = (turn: number) => madeUpRollout(calls, tokens, turn + 1);
    rows.push(
      await compare({
        name: `stored bytes of ${calls} calls growing to ${tokens / 1000}k tokens (${what})`,
        unit: "bytes",
        aim: "≤ 1.5 × the reference, index apart",
        repetitions: 5,
        measure: () => stored(rollout(turns.ours++), upstream, note),
        reference: zstd ? { name: "zstd -19 --long of the raw JSON lines", measure: () => compressed(rollout(turns.reference++), upstream) } : null,
      }),
    );
  }
  return rows;
}

async function stored(rollout: readonly RolloutCall[], upstream: boolean, note: (line: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), "openforge-bench-"));
  const store = openStore(folder);
  try {
    store.createExperiment(sampleExperiment("e"));
    store.createRollouts([sampleRollout("r", "e")]);
    rollout.forEach((call, index) => {
      const put = (text: string, near: string) => store.blobs.put(Buffer.from(text), near).hash;
      const extra = upstream
        ? { upstreamRequestBody: put(call.upstreamRequest, "r upstream"), upstreamResponseBody: put(call.upstreamResponse, "r upstream answers") }
        : {};
      store.recordCall(sampleCall(store, "r", index, Buffer.from(call.request), Buffer.from(call.response), extra), null);
    });
    const journal = store.usage().packBytes;
    const started = performance.now();
    await store.compact();
    const took = Math.round(performance.now() - started);
    const packs = store.usage().packBytes;
    store.close();
    note(`journal ${journal} bytes; packs ${packs} bytes after ${took} ms; index ${statSync(join(folder, "workbench.db")).size} bytes`);
    return packs;
  } finally {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function compressed(rollout: readonly RolloutCall[], upstream: boolean): number {
  const lines = rollout.map(({ request, response, upstreamRequest, upstreamResponse }) =>
    JSON.stringify(upstream ? { request, response, upstreamRequest, upstreamResponse } : { request, response }),
  );
  const { status, stdout, stderr } = spawnSync("zstd", ["-19", "--long", "-c", "-q"], { input: `${lines.join("\n")}\n`, maxBuffer: 1024 ** 3 });
  if (status !== 0) throw new Error(`zstd failed: ${stderr}`);
  return stdout.length;
}
