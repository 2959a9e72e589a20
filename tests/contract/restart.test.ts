/**
 * The service is killed (-9) at random moments of an experiment of 20 rollouts and started again each time: no call that a harness
 * was given is lost or stored twice, what a killed service left is reaped and run again, and the experiment completes.
 * OPENFORGE_RESTART_KILLS sets the number of kills (50 = the full form).
 */
import { type ChildProcess, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../../engine/statistics/index.ts";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { type CallRecord, openStore, type RolloutRecord } from "../../main/store/index.ts";
import { type KillableChild, startKillable } from "../stand-ins/killable-child.ts";
import { type CountingPolicy, startCountingPolicy } from "./counting-policy.ts";
import { writeSmallTask } from "./small-task.ts";

const kills = Number(process.env.OPENFORGE_RESTART_KILLS ?? "4");
const rolloutCount = 20;
/** A rollout takes about as long as the service lives between two kills: some complete, most are cut. */
const turns = 8;
const random = seededRandom(Number(process.env.OPENFORGE_RESTART_SEED ?? "1"));

let folder = "";
let policy: CountingPolicy;
let running: ChildProcess | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "restart-"));
  policy = await startCountingPolicy(turns);
});
afterAll(() => {
  running?.kill("SIGKILL");
  policy.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(): KillableChild {
  const started = startKillable(join(import.meta.dirname, "../stand-ins/killable-service/main.ts"), [
    join(folder, "data"),
    join(folder, "spec.json"),
  ]);
  running = started.child;
  return started;
}

test(
  `an experiment outlives ${kills} kills of its service`,
  async () => {
    const task = writeSmallTask(join(folder, "task"), { name: "say-done" });
    const spec = experimentSpecSchema.parse({ tasks: [task], policies: [policy.url], k: rolloutCount, concurrency: 4, attempts: 2 });
    writeFileSync(join(folder, "spec.json"), JSON.stringify(spec));

    let cut = 0;
    for (let kill = 0; kill < kills; kill++) {
      const { child, ready, ended } = start();
      await ready;
      await new Promise((resolve) => setTimeout(resolve, 100 + 1500 * random()));
      child.kill("SIGKILL");
      const output = await ended;
      expect(output).not.toContain("Error");
      if (!output.includes("done")) cut += 1;
    }
    expect(cut).toBeGreaterThanOrEqual(kills * 0.8);
    expect(await start().ended).toContain("done");

    const store = openStore(join(folder, "data"));
    try {
      expect(await store.check()).toEqual([]);
      const [experiment] = store.experiments();
      expect(experiment?.status).toBe("ended");
      const rollouts = store.rolloutsOf(experiment?.id ?? "");
      expect(rollouts).toHaveLength(rolloutCount);
      for (const rollout of rollouts) expect(rollout).toMatchObject({ phase: "ended", outcome: { status: "succeeded" }, reward: 1 });

      const attempts = rollouts.flatMap((rollout) => Array.from({ length: rollout.attempts }, (_, attempt) => ({ rollout, attempt })));
      const calls = attempts.flatMap(({ rollout, attempt }) => [...store.callsOf(rollout.id, attempt)]);
      expectEachCallOnce(calls, (call) => new TextDecoder().decode(store.blobs.get(call.responseBody ?? ("" as never)) ?? undefined));
      for (const rollout of rollouts) {
        expect(store.callsOf(rollout.id).map((call) => call.index)).toEqual(Array.from({ length: turns + 1 }, (_, index) => index));
        expect(restartsOf(rollout)).toBe(rollout.attempts - 1);
      }

      function restartsOf(rollout: RolloutRecord): number {
        const events = store.eventsAfter(0, 10_000, { rolloutId: rollout.id }).filter((event) => event.type === "rollout.attempt");
        const ends = events.map((event) => JSON.parse(event.payload) as { outcome: { cause: string | null }; counts: boolean });
        return ends.filter((end) => end.outcome.cause === "service-restart" && !end.counts).length;
      }
    } finally {
      store.close();
    }
    expect(processesIn(join(folder, "data"))).toEqual([]);
    expect(leftIn(join(folder, "data", "sandboxes", "local"))).toEqual([]);
    expect(leftIn(join(folder, "data", "scratch"))).toEqual([]);
  },
  60_000 + kills * 20_000,
);

/** Every answer that came back to the endpoint is stored; none is stored twice; no index of an attempt is given twice. */
function expectEachCallOnce(calls: readonly CallRecord[], body: (call: CallRecord) => string): void {
  const marks = calls.flatMap((call) => (call.status === "ok" ? [...new Set(body(call).match(/mark-\d+-/g) ?? [])] : []));
  expect(new Set(marks).size).toBe(marks.length);
  const stored = new Set(marks);
  expect([...policy.returned].filter((mark) => !stored.has(mark))).toEqual([]);
  expect(marks.filter((mark) => !policy.given.has(mark))).toEqual([]);
  const places = calls.map((call) => `${call.rolloutId} ${call.attempt} ${call.index}`);
  expect(new Set(places).size).toBe(places.length);
}

function leftIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Processes of this machine whose command line names the data folder. */
function processesIn(path: string): readonly string[] {
  const listed = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n");
  return listed.filter((line) => line.includes(path) && !line.includes("ps -eo"));
}
