/**
 * A stand-in for the service behind the window: it speaks the whole contract with invented data, so that the window can be looked
 * at and measured in states that real runs reach rarely or slowly (every outcome, 1,500 rollouts, 30,000 calls, an empty store).
 * Run: npx tsx tests/stand-ins/workbench-service/main.ts --window DIR [--empty] [--rollouts N] [--calls N] [--port N] [--token T]
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { implement, ORPCError } from "@orpc/server";
import { contract } from "../../../main/api/contract.ts";
import type { ExperimentView } from "../../../main/api/experiment-views.ts";
import type { HarnessView } from "../../../main/api/harness-views.ts";
import type { RolloutView } from "../../../main/api/rollout-views.ts";
import { startServer } from "../../../main/api/server.ts";
import type { EventView } from "../../../main/api/system-views.ts";
import { sampleAnalysis } from "./sample-analysis.ts";
import { attachExperiment, sampleAttach, sessionRollout } from "./sample-attach.ts";
import { picture, pictureHash, sampleBody, sampleDetail, sampleTokens } from "./sample-call.ts";
import { doctor, harnesses, sampleProbe, tasks } from "./sample-catalogue.ts";
import { now, sampleCalls, sampleExperiment, sampleRollout } from "./sample-experiments.ts";
import { sampleArtifacts, sampleSteps, storedBytes, storedText } from "./sample-files.ts";
import { sampleRegrade } from "./sample-grades.ts";
import { samplePolicies } from "./sample-policies.ts";
import { sampleTraining } from "./sample-training.ts";
import { lines, pause } from "./sample-work.ts";

const { values } = parseArgs({
  options: {
    window: { type: "string", default: "dist/renderer" },
    empty: { type: "boolean", default: false },
    rollouts: { type: "string", default: "18" },
    calls: { type: "string", default: "0" },
    port: { type: "string", default: "0" },
  },
});

const settings = new Map<string, string>();
const phases = ["preparing", "running", "verifying", "running", "queued"] as const;
const manyCalls = Number(values.calls);

function build(
  id: string,
  name: string,
  at: number,
  status: ExperimentView["status"],
  count: number,
): { experiment: ExperimentView; rollouts: RolloutView[] } {
  const rollouts = Array.from({ length: count }, (_, index) => {
    const unended = status === "running" ? phases[index] : undefined;
    const rollout = sampleRollout(id, index, at, unended ?? "ended");
    return {
      ...rollout,
      id: id === "e-1" ? rollout.id : `${id}-${index}`,
      ...(manyCalls > 0 && index === 6 ? { calls: manyCalls } : {}),
      ...(rollout.task === "ledger-balance" && rollout.status !== null ? { steps: [...sampleSteps] } : {}),
    };
  });
  return { experiment: sampleExperiment(id, name, at, status, rollouts), rollouts };
}

function buildAttach() {
  const sessions = [0, 1, 2].map(sessionRollout);
  const experiment = sampleExperiment(attachExperiment, "my-agent", now - 400_000_000, "running", sessions);
  return { experiment: { ...experiment, kind: "attach" as const }, rollouts: sessions };
}

const shown = values.empty
  ? []
  : [
      build("e-1", "harness sweep 07", Date.now() - 300_000, "running", Number(values.rollouts)),
      build("e-2", "harness sweep 06", now - 90_000_000, "ended", 26),
      build("e-3", "starter experiment", now - 190_000_000, "ended", 6),
      build("e-4", "codex 0.170 against 0.171", now - 260_000_000, "cancelled", 14),
      buildAttach(),
    ];
const experiments = shown.map((each) => each.experiment);
const rollouts = new Map(shown.flatMap((each) => each.rollouts.map((rollout) => [rollout.id, rollout] as const)));

const ended = [...rollouts.values()].find(({ status, chains }) => status === "succeeded" && chains > 0);

function find(id: string): RolloutView {
  // Steps and comparisons name rollouts beyond those of the lists: each looks like an ended one.
  const rollout = rollouts.get(id) ?? (/^r-[0-9a-f]{8}$/.test(id) && ended !== undefined ? { ...ended, id } : undefined);
  if (rollout === undefined)
    throw new ORPCError("WORKBENCH", { message: `There is no rollout ${id}.`, data: { code: "not-found", remedy: "See Runs.", exitCode: 2 } });
  return rollout;
}
const findCall = (id: string) => {
  const rollout = find(id.replace(/-c\d+$/, ""));
  const calls = sampleCalls(rollout);
  const call = calls.find((each) => each.id === id);
  if (call === undefined)
    throw new ORPCError("WORKBENCH", { message: `There is no call ${id}.`, data: { code: "not-found", remedy: "See the rollout.", exitCode: 2 } });
  return { calls, call };
};
const countsOf = (chain: number, calls: number) => {
  const { total, trained } = sampleTokens(chain, Math.max(1, Math.min(60, calls)));
  return { tokens: total, trained };
};
const slice = (text: string, limit: number) => ({ text: text.slice(0, limit), total: text.length, truncated: text.length > limit });

/** Of an experiment, or the one. */
const rolloutsOf = (id: string): readonly RolloutView[] => shown.find((each) => each.experiment.id === id)?.rollouts ?? [find(id)];

const probed = (id: string): HarnessView => {
  const harness = harnesses.find((each) => each.id === id) ?? (harnesses[0] as HarnessView);
  return { ...harness, installed: true, lastProbe: { ...sampleProbe, at: Date.now() } };
};
const gold = { reward: 1, rewards: { reward: 1 }, status: "succeeded", cause: null, seconds: 8.4, ok: true, detail: null };

const os = implement(contract);
const training = sampleTraining(os, values.empty);
const attach = sampleAttach(os, rollouts);
const router = os.router({
  system: {
    info: os.system.info.handler(() => ({
      version: "0.1.0",
      dataFolder: "/home/ada/.local/share/openforge",
      proxyAddress: "127.0.0.1:7411",
      empty: experiments.length === 0,
      databaseBytes: 21_000_000,
      packBytes: 880_000_000,
      platform: "linux",
      node: "v20.20.2",
      cpus: 2,
    })),
    address: os.system.address.handler(() => ({ url: "" })),
    doctor: os.system.doctor.handler(() => [...doctor]),
    events: os.system.events.handler(async function* ({ signal }) {
      const live = shown[0]?.rollouts[1];
      let sequence = 0;
      const event = (type: string, payload: object, about: Pick<EventView, "experiment" | "rollout">): EventView => {
        sequence += 1;
        return { sequence, at: Date.now(), ...about, type, payload: JSON.stringify(payload) };
      };
      while (!signal?.aborted) {
        if (live !== undefined) {
          const call = { call: live.calls, status: "ok", promptTokens: live.promptTokens };
          yield event("call.recorded", call, { experiment: live.experiment, rollout: live.id });
        }
        for (const run of training.advance()) yield event("training.changed", run, { experiment: null, rollout: null });
        await pause(1000);
      }
    }),
    prepareImages: os.system.prepareImages.handler(() => lines(["Packing 61 packages", "Importing"], { image: "openforge/base", how: "built" })),
    checkStore: os.system.checkStore.handler(() => []),
    setting: os.system.setting.handler(({ input }) => ({ json: settings.get(input.key) ?? null })),
    setSetting: os.system.setSetting.handler(({ input }) => {
      settings.set(input.key, input.json);
      return {};
    }),
  },
  experiments: {
    list: os.experiments.list.handler(() => experiments),
    get: os.experiments.get.handler(({ input }) => experiments.find((each) => each.id === input.id) as ExperimentView),
    result: os.experiments.result.handler(({ input }) => ({
      experiment: input.id,
      rollouts: [],
      summary: [
        { harness: "react", policy: "qwen3-4b-forge", n: 96, mean: 0.61, low: 0.55, high: 0.67, infrastructureFailures: 4 },
        { harness: "codex", policy: "qwen3-4b-forge", n: 48, mean: 0.52, low: 0.43, high: 0.61, infrastructureFailures: 10 },
      ],
    })),
    start: os.experiments.start.handler(({ input }) => {
      if (input.tasks.some((path) => path.includes("nowhere")))
        throw new ORPCError("WORKBENCH", {
          message: "There is no task package at /nowhere.",
          data: { code: "task", remedy: "Give the folder that holds task.toml.", exitCode: 2 },
        });
      return { id: "e-1" };
    }),
    startStarter: os.experiments.startStarter.handler(() => ({ id: "e-1" })),
    import: os.experiments.import.handler(({ input }) =>
      lines(["Harbor job: sample"], { experiment: "e-2", name: input.path, kind: "Harbor job", rollouts: 6, calls: 12, notes: [] }),
    ),
    openRecording: os.experiments.openRecording.handler(() => ({ experiment: "e-1", rollout: [...rollouts.keys()][5] ?? "" })),
    cancel: os.experiments.cancel.handler(() => ({ cancelled: 5 })),
    remove: os.experiments.remove.handler(() => ({})),
  },
  rollouts: {
    list: os.rollouts.list.handler(({ input }) => shown.find((each) => each.experiment.id === input.experiment)?.rollouts ?? []),
    changed: os.rollouts.changed.handler(({ input }) => ({
      mark: 1,
      rollouts: shown.find((each) => each.experiment.id === input.experiment)?.rollouts ?? [],
    })),
    get: os.rollouts.get.handler(({ input }) => {
      const rollout = find(input.id);
      const calls = sampleCalls(rollout);
      const chains = Array.from({ length: rollout.chains }, (_, chain) => ({
        calls: calls.filter((call) => call.chain === chain).map((call) => call.index),
        ...countsOf(chain, rollout.calls),
        breakCause: chain === 0 ? null : "subagent",
      }));
      const group = [...rollouts.values()].filter((each) => each.experiment === rollout.experiment && each.status !== null).slice(0, 8);
      return {
        ...rollout,
        calls,
        chains,
        corrected: calls.flatMap(({ id }) => (attach.corrections.has(id) ? [id] : [])),
        group: (group.some((each) => each.id === rollout.id) ? group : [rollout, ...group.slice(1)]).map(({ id, status, reward }) => ({
          id,
          status,
          reward,
        })),
      };
    }),
    cancel: os.rollouts.cancel.handler(() => ({})),
    tokens: os.rollouts.tokens.handler(({ input }) => sampleTokens(input.chain, Math.max(1, Math.min(60, find(input.id).calls)))),
    artifacts: os.rollouts.artifacts.handler(() => [...sampleArtifacts]),
    grades: os.rollouts.grades.handler(() => []),
    regrade: os.rollouts.regrade.handler(({ input }) => lines(["1/6", "2/6"], sampleRegrade(rolloutsOf(input.id)))),
    regraded: os.rollouts.regraded.handler(({ input }) => sampleRegrade(rolloutsOf(input.id))),
  },
  calls: {
    get: os.calls.get.handler(({ input }) => {
      const { calls, call } = findCall(input.id);
      return { ...sampleDetail(calls, call), correction: attach.corrections.get(call.id) ?? null };
    }),
    body: os.calls.body.handler(({ input }) => slice(sampleBody(findCall(input.id).call, input.which), input.limit)),
  },
  blobs: {
    text: os.blobs.text.handler(({ input }) => slice(storedText(input.hash), input.limit)),
  },
  tasks: {
    list: os.tasks.list.handler(() => [...tasks]),
    create: os.tasks.create.handler(({ input }) => ({ path: input.path })),
    check: os.tasks.check.handler(({ input }) => {
      const task = tasks.find((each) => each.path === input.path);
      return { path: input.path, digest: task?.digest ?? null, valid: task?.valid ?? false, faults: task?.faults ?? [], wants: [] };
    }),
    import: os.tasks.import.handler(({ input }) => ({
      ...{ path: input.to ?? input.source, digest: "sha256:3f9a1c7be0d2415f8ba2", valid: !input.source.includes("faulty") },
      faults: [{ file: "task.toml", line: 7, severity: "warning", message: "agent.timeout is not a key and is dropped; did you mean timeout_sec?" }],
      wants: ["The task needs the network mode allowlist, and Docker cannot be used here: no daemon answers at /var/run/docker.sock."],
    })),
    runGold: os.tasks.runGold.handler(() => lines(["Preparing the sandbox", "Running solution/solve.sh", "Verifying"], gold)),
    runEmpty: os.tasks.runEmpty.handler(() =>
      lines(["Preparing the sandbox", "Verifying"], { ...gold, reward: 0, rewards: { reward: 0 }, status: "failed", seconds: 2.1 }),
    ),
    runCheats: os.tasks.runCheats.handler(() =>
      lines(["Running empty-table", "Running copy-fixture", "Running readme-totals"], {
        results: [
          { name: "empty-table", reward: 0, status: "failed", cause: null },
          { name: "copy-fixture", reward: 0, status: "failed", cause: null },
          { name: "readme-totals", reward: 1, status: "succeeded", cause: null },
        ],
      }),
    ),
  },
  harnesses: {
    list: os.harnesses.list.handler(() => [...harnesses]),
    create: os.harnesses.create.handler(({ input }) => ({ path: `/data/harnesses/${input.id}/manifest.yaml` })),
    install: os.harnesses.install.handler(({ input }) =>
      lines(["npm pack @openai/codex@0.171.0", "Unpacking 84 MB", "Checking the binary"], probed(input.id)),
    ),
    probe: os.harnesses.probe.handler(({ input }) => lines(["Starting the sandbox", "Waiting for a call", "A call arrived"], probed(input.id))),
  },
  training: training.handlers,
  analysis: sampleAnalysis(os, training.runs),
  exports: {
    write: os.exports.write.handler(({ input }) =>
      lines(["1 of 2 rollouts", "2 of 2 rollouts"], {
        ...{ path: input.path, format: input.format, count: 2, unit: "rows", bytes: 4096 },
        leftOut: [{ reason: "no reward", count: 1 }],
        notes: [],
      }),
    ),
  },
  attach: attach.handlers,
  policies: samplePolicies(os),
});

const blobs: Record<string, Uint8Array> = { ...storedBytes, [pictureHash]: new TextEncoder().encode(picture) };
const server = await startServer({
  router,
  windowFolder: values.window,
  port: Number(values.port),
  socketPath: null,
  readBlob: (hash) => blobs[hash] ?? null,
});
if (readFileSync(`${values.window}/index.html`, "utf8").length > 0) console.log(`Workbench at ${server.url}`);
