/** What is left of compose projects: after many rollouts in a row, and after a service that was killed in the middle of one. */
import { type ChildProcess, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import { openStore } from "../../main/store/index.ts";
import { openDescriptors } from "../performance/soak/leftovers.ts";
import { startKillable } from "../stand-ins/killable-child.ts";
import { writeScriptedSteps } from "./scripted-steps.ts";
import { readyProviders, writePackage } from "./task-packages.ts";

const probing = mkdtempSync(join(tmpdir(), "leftovers-probe-"));
const ready = (await readyProviders(probing, ["docker"])).length > 0;
rmSync(probing, { recursive: true, force: true });
const docker = new Docker();
let folder = "";
let temporary = "";
let before: string | undefined;
let running: ChildProcess | null = null;
let workbench: Workbench | null = null;
/** The folder that sockets are in, and what sources are compiled to in a checkout. */
const standing = /^(?:openforge-\d+|tsx-\d+)$/;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "leftovers-"));
  temporary = join(folder, "tmp");
  mkdirSync(temporary);
  before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
});
afterEach(async () => {
  await workbench?.close();
  workbench = null;
  running?.kill("SIGKILL");
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(folder, { recursive: true, force: true });
});

/** Two services, a network of their own, a named volume and one without a name. */
async function shopTask(): Promise<string> {
  const task = await writePackage(join(folder, "shop"), {
    "task.toml": '[environment]\nnetwork_mode = "no-network"\n',
    "instruction.md": "Do it.",
    "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
    "environment/docker-compose.yaml": `services:
  main: { depends_on: [shop], networks: [back], volumes: ["goods:/goods"] }
  shop: { image: "openforge/base:1", command: sleep infinity, networks: [back], volumes: ["goods:/goods", "/anonymous"] }
networks: { back: { driver: bridge } }
volumes: { goods: }
`,
    "tests/test.sh": "#!/bin/sh\nif [ -f /app/done.txt ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n",
  });
  return task.path;
}

interface Left {
  readonly containers: readonly string[];
  readonly networks: readonly string[];
  readonly volumes: readonly string[];
}

async function leftOf(ownerId: string): Promise<Left> {
  const filters = { label: [`openforge.owner=${ownerId}`] };
  const [containers, networks, { Volumes }] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
    docker.listVolumes({ filters }),
  ]);
  return { containers: containers.map(({ Id }) => Id), networks: networks.map(({ Id }) => Id), volumes: (Volumes ?? []).map(({ Name }) => Name) };
}
/** Seconds that nobody else sleeps. */
const slow = `sleep 6.${process.pid}`;
const commandLines = (): string => spawnSync("ps", ["-eo", "args"], { encoding: "utf8" }).stdout;
const nothing: Left = { containers: [], networks: [], volumes: [] };

/** Names of the volumes that the owner's containers hold now: those without a name have no label. */
async function volumesHeld(ownerId: string): Promise<readonly string[]> {
  const containers = await docker.listContainers({ all: true, filters: { label: [`openforge.owner=${ownerId}`] } });
  return containers.flatMap(({ Mounts }) => Mounts.flatMap(({ Type, Name }) => (Type === "volume" && Name !== undefined ? [Name] : [])));
}

async function thereStill(volumes: ReadonlySet<string>): Promise<readonly string[]> {
  const { Volumes } = await docker.listVolumes();
  return (Volumes ?? []).map(({ Name }) => Name).filter((name) => volumes.has(name));
}

describe.skipIf(!ready)("compose projects", () => {
  test("of twenty rollouts in a row leave nothing", { timeout: 280_000 }, async () => {
    workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
    const { rollouts, store, ownerId } = workbench;
    const volumes = new Set<string>();
    const look = setInterval(async () => {
      for (const name of await volumesHeld(ownerId)) volumes.add(name);
    }, 500);
    const task = await shopTask();
    const policies = [writeScriptedSteps(folder, "steps", ["touch done.txt /goods/x"])];
    const runMany = async (k: number): Promise<void> => {
      const id = await rollouts.startExperiment(
        experimentSpecSchema.parse({ tasks: [task], policies, sandbox: "docker", k, concurrency: 3, attempts: 1 }),
      );
      await rollouts.settled(id);
      expect(store.rolloutsOf(id).map(({ reward, outcome }) => [reward, outcome?.detail])).toEqual(Array(k).fill([1, null]));
    };
    await runMany(3);
    const descriptors = openDescriptors();
    await runMany(20);
    clearInterval(look);
    await expect.poll(openDescriptors, { timeout: 10_000 }).toBeLessThanOrEqual(descriptors + 2);
    expect(await leftOf(ownerId)).toEqual(nothing);
    expect(volumes.size).toBeGreaterThan(20);
    expect(await thereStill(volumes)).toEqual([]);
    expect(readdirSync(temporary).filter((name) => !standing.test(name))).toEqual([]);
    expect(readdirSync(join(folder, "data", "scratch"))).toEqual([]);
  });

  test("of a service that was killed are gone after its next start, and the rollout is run again", { timeout: 180_000 }, async () => {
    const dataFolder = join(folder, "data");
    const task = await shopTask();
    const policies = [writeScriptedSteps(folder, "slow", [`touch /goods/x; ${slow}; touch done.txt`])];
    const spec = experimentSpecSchema.parse({ tasks: [task], policies, sandbox: "docker", attempts: 1 });
    writeFileSync(join(folder, "spec.json"), JSON.stringify(spec));
    const start = () => {
      const started = startKillable(join(import.meta.dirname, "../stand-ins/killable-service/main.ts"), [dataFolder, join(folder, "spec.json")]);
      running = started.child;
      return started;
    };
    const first = start();
    await first.ready;
    await expect.poll(commandLines, { timeout: 90_000, interval: 200 }).toContain(slow);
    first.child.kill("SIGKILL");
    await first.ended;
    const found = await docker.listContainers({ filters: { label: ["openforge.service=shop"] } });
    const ownerId = found.map(({ Labels }) => Labels["openforge.owner"] ?? "").find((owner) => owner !== "") ?? "";
    const left = await leftOf(ownerId);
    const volumes = new Set(await volumesHeld(ownerId));
    expect([left.containers.length, left.networks.length, left.volumes.length]).toEqual([2, 1, 1]);

    expect(await start().ended).toContain("done");
    expect(await leftOf(ownerId)).toEqual(nothing);
    expect(volumes.size).toBe(2);
    expect(await thereStill(volumes)).toEqual([]);
    expect(commandLines()).not.toContain(dataFolder);
    const store = openStore(dataFolder);
    const [rollout] = store.rolloutsOf(store.experiments()[0]?.id ?? "");
    store.close();
    expect(rollout).toMatchObject({ attempts: 2, reward: 1, outcome: { status: "succeeded" } });
  });
});
