/** Tasks of several steps: another agent a step in one sandbox, each graded before the next, rewards by Harbor's rules. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { SandboxKind } from "../../main/sandboxes/index.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { type RehearsalKind, rehearseTask } from "../../main/verifiers/index.ts";
import { readyProviders, writePackage } from "./task-packages.ts";

const probing = mkdtempSync(join(tmpdir(), "multi-step-probe-"));
const providers = await readyProviders(probing, ["local", "docker"]);
const kinds = ["local", "docker"] as const;
const providerOf = (kind: SandboxKind) => providers.find((provider) => provider.kind === kind);

let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "multi-step-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  for (const path of [folder, probing]) rmSync(path, { recursive: true, force: true });
});

const toml = (steps: string, root = "") => `schema_version = "1.4"
${root}
[task]
name = "workbench/relay"
[agent]
timeout_sec = 60
[environment]
network_mode = "no-network"
env = { COLOUR = "green" }
${steps}`;
const grade = 'echo "$(cat /tests/points)" > /logs/verifier/reward.txt';

/** Two steps: the second finds the work of the first, and nothing of its grading. */
const relay: Readonly<Record<string, string>> = {
  "task.toml": toml(`
[[steps]]
name = "plant"
min_reward = 0.5
artifacts = ["/app/tree.txt"]
[steps.verifier]
env = { WANTED = "seed grown" }
[[steps]]
name = "harvest"
[steps.healthcheck]
command = "test -f /app/ready"
interval_sec = 0.1
`),
  "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
  "tests/compare.sh": `grep -qx "$1" "$2" && echo 1 || echo 0`,
  "steps/plant/instruction.md": "PLANT: grow the seed into /app/tree.txt.",
  "steps/plant/workdir/seed.txt": "seed\n",
  "steps/plant/tests/test.sh": '#!/bin/sh\nsh /tests/compare.sh "$WANTED" /app/tree.txt > /logs/verifier/reward.txt\n',
  "steps/plant/solution/solve.sh": '#!/bin/sh\necho "$(cat /app/seed.txt) grown" > /app/tree.txt\n',
  "steps/harvest/instruction.md": "HARVEST: write what the tree bears to /app/fruit.txt.",
  "steps/harvest/workdir/setup.sh": "#!/bin/bash\necho $COLOUR > /app/ready\n",
  "steps/harvest/tests/test.sh": '#!/bin/sh\nsh /tests/compare.sh "seed grown bears green" /app/fruit.txt > /logs/verifier/reward.txt\n',
  "solution/solve.sh": '#!/bin/sh\necho "$(cat /app/tree.txt) bears $(cat /app/ready)" > /app/fruit.txt\n',
  "cheats/say-so/solve.sh": "#!/bin/sh\necho 1 > /logs/verifier/reward.txt; echo $OPENFORGE_STEP >> /app/tree.txt\n",
};

const grow = 'echo "$(cat /app/seed.txt) grown" > /app/tree.txt; echo kept > /logs/artifacts/note.txt';
const pick =
  'ls -A /tests /logs/artifacts > /app/seen.txt; grep -ls "grow the see[d]" /logs/agent/* >> /app/seen.txt; cp /app/seen.txt /logs/artifacts/; echo "$(cat /app/tree.txt) bears $(cat /app/ready)" > /app/fruit.txt';

/** A policy that knows, by the instruction, which step it is in. */
function policy(name: string, rules: Readonly<Record<string, string>>): string {
  const path = join(folder, `${name}.yaml`);
  const script = Object.entries(rules).map(([user, shell]) => ({ when: { user }, steps: [{ calls: [{ shell }] }, { text: "Done." }] }));
  writeFileSync(path, JSON.stringify({ version: 1, name, rules: script }));
  return `scripted:${path}`;
}

async function run(
  sandbox: SandboxKind,
  name: string,
  files: Readonly<Record<string, string>>,
  rules: Readonly<Record<string, string>>,
): Promise<RolloutRecord> {
  const task = await writePackage(join(folder, `${name}-${sandbox}`), files);
  const spec = { tasks: [task.path], harnesses: ["react"], policies: [policy(`${name}-${sandbox}`, rules)], sandbox, attempts: 1 };
  const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse(spec));
  await workbench.rollouts.settled(id);
  const [rollout] = workbench.store.rolloutsOf(id);
  if (rollout === undefined) throw new Error("there is no rollout");
  return rollout;
}

const text = (rollout: RolloutRecord, name: string): string | null => {
  const found = workbench.store.artifactsOf(rollout.id).find((artifact) => artifact.name === name);
  return found === undefined ? null : Buffer.from(workbench.store.blobs.get(found.blob) ?? []).toString();
};

describe.each(kinds)("in the %s sandbox", (kind) => {
  const here = test.skipIf(providerOf(kind) === undefined);

  here("each step has its agent, its files and its grade", { timeout: 120_000 }, async () => {
    const rollout = await run(kind, "relay", relay, { PLANT: grow, HARVEST: pick });
    expect(rollout).toMatchObject({
      outcome: { status: "succeeded", cause: null, detail: null },
      reward: 1,
      rewards: { reward: 1 },
      calls: 4,
      trainable: true,
      steps: [
        { name: "plant", reward: 1, minReward: { reward: 0.5 }, firstCall: 0, calls: 2, outcome: { status: "succeeded" } },
        { name: "harvest", reward: 1, minReward: null, firstCall: 2, calls: 2, outcome: { status: "succeeded" } },
      ],
    });
    expect(rollout.phases.map(({ name }) => name).filter((name) => name === "running" || name === "verifying")).toEqual([
      ...["running", "verifying"],
      ...["running", "verifying"],
    ]);
    expect(text(rollout, "steps/plant/app/tree.txt")).toBe("seed grown\n");
    expect(text(rollout, "steps/plant/logs/artifacts/note.txt")).toBe("kept\n");
    expect(text(rollout, "steps/harvest/logs/artifacts/note.txt")).toBeNull();
    expect(text(rollout, "steps/harvest/logs/artifacts/seen.txt")).toBe("/logs/artifacts:\n\n/tests:\n");
    expect(text(rollout, "steps/harvest/reward.txt")).toBe("1\n");
  });

  here("a reward below the minimum ends the steps, and counts alone", { timeout: 120_000 }, async () => {
    const rollout = await run(kind, "short", relay, { PLANT: "true", HARVEST: pick });
    expect(rollout).toMatchObject({ reward: 0, calls: 2, outcome: { status: "failed" } });
    expect(rollout.steps).toMatchObject([
      { reward: 0, outcome: { status: "failed" } },
      { reward: null, rewards: null, outcome: null, startedAt: null, calls: 0 },
    ]);
  });

  here("gold earns all, nothing and cheats earn 0", { timeout: 120_000 }, async () => {
    const provider = providerOf(kind);
    if (provider === undefined) return;
    const task = await writePackage(join(folder, `rehearsed-${kind}`), relay);
    const rehearse = async (which: RehearsalKind) =>
      (await rehearseTask(which, task, { provider, ownerId: "multi-step", outputFolder: join(folder, `out-${kind}-${which}`), environment: {} })).map(
        ({ name, reward, expected, detail }) => ({ name, reward, expected, detail }),
      );
    expect(await rehearse("gold")).toEqual([{ name: "gold", reward: 1, expected: true, detail: null }]);
    expect(await rehearse("empty")).toMatchObject([{ name: "empty", reward: 0, expected: true }]);
    expect(await rehearse("cheats")).toMatchObject([{ name: "say-so", reward: 0, expected: true }]);
  });
});

/** Two steps that give fixed points. */
const points = (first: string, second: string, root = "", more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  "task.toml": toml('[[steps]]\nname = "a"\n[[steps]]\nname = "b"\n', root),
  "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
  "tests/test.sh": `#!/bin/sh\n${grade}\n`,
  "steps/a/instruction.md": "STEP A",
  "steps/a/tests/points": first,
  "steps/b/instruction.md": "STEP B",
  "steps/b/tests/points": second,
  ...more,
});
const idle = { "STEP A": "true", "STEP B": "true" };

describe.skipIf(providerOf("local") === undefined)("rewards of steps", () => {
  test("are a mean, or those of the last step", { timeout: 120_000 }, async () => {
    expect(await run("local", "mean", points("0.5", "1"), idle)).toMatchObject({ reward: 0.75, outcome: { status: "failed", action: "train" } });
    const final = 'multi_step_reward_strategy = "final"';
    expect(await run("local", "final", points("0.5", "1", final), idle)).toMatchObject({ reward: 1, outcome: { status: "succeeded" } });
  });

  test("a step that cannot be graded leaves the task ungraded", { timeout: 120_000 }, async () => {
    const rollout = await run("local", "broken", points("1", "soon"), idle);
    expect(rollout.outcome).toMatchObject({ status: "verifier-failure", cause: "reward-malformed", action: "mask" });
    expect(rollout.steps).toMatchObject([{ reward: 1 }, { reward: null, outcome: { status: "verifier-failure", cause: "reward-malformed" } }]);
    const final = await run("local", "broken-final", points("1", "soon", 'multi_step_reward_strategy = "final"'), idle);
    expect(final).toMatchObject({ reward: null, rewards: null, outcome: { status: "verifier-failure" } });
  });

  test("a step that cannot be set up is no fault of the agent, and no reward is made of the others", { timeout: 120_000 }, async () => {
    const broken = points("1", "1", "", { "steps/b/workdir/setup.sh": "echo no water >&2; exit 3\n" });
    const rollout = await run("local", "dry", broken, idle);
    expect(rollout).toMatchObject({ reward: null, outcome: { status: "environment-failure", cause: "setup-failed" } });
    expect(rollout.outcome?.detail).toContain("The setup.sh of the step b ended with exit code 3: no water.");
    expect(rollout.steps).toMatchObject([{ reward: 1 }, { reward: null, outcome: null }]);
  });
});
