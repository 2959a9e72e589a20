/** What a package of one container may ask for, as rollouts meet it: artifacts, collect, healthcheck, variables, skills, accounts, a box for the verifier. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { SandboxKind } from "../../main/sandboxes/index.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { writeScriptedSteps } from "./scripted-steps.ts";
import { readyProviders, writePackage } from "./task-packages.ts";

const kinds = ["local", "docker"] as const;
const probing = mkdtempSync(join(tmpdir(), "one-container-probe-"));
const ready = (await readyProviders(probing, kinds)).map(({ kind }) => kind);
let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "one-container-"));
  skilledReact(join(folder, "data", "harnesses", "react-skilled"));
  process.env.ONE_CONTAINER_COLOUR = "green";
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  delete process.env.ONE_CONTAINER_COLOUR;
  for (const path of [folder, probing]) rmSync(path, { recursive: true, force: true });
});

/** `react` under another id that is started alone and says that it looks for skills in its HOME. */
function skilledReact(place: string): void {
  mkdirSync(place, { recursive: true });
  cpSync(join(import.meta.dirname, "../../resources/harnesses/react"), place, { recursive: true });
  const manifest = join(place, "manifest.yaml");
  const text = readFileSync(manifest, "utf8")
    .replace("id: react\n", "id: react-skilled\n")
    .replace(/^resident:[^\n]*\n(?: [^\n]*\n)*/m, "")
    .replace(/^lacks:[^\n]*\n/m, `skills: \${home}/.skilled/skills\n`);
  writeFileSync(manifest, text);
}

interface Asked {
  readonly sandbox: SandboxKind;
  readonly name: string;
  /** Tables of task.toml after those that all have; `root`: keys before all tables. */
  readonly toml?: string;
  readonly root?: string;
  readonly environment?: string;
  readonly test: string;
  readonly shell: string;
  readonly harness?: string;
  readonly files?: Readonly<Record<string, string>>;
}

async function run(asked: Asked): Promise<RolloutRecord> {
  const { sandbox, name, shell, harness = "react" } = asked;
  const task = await writePackage(join(folder, `${name}-${sandbox}`), {
    "task.toml": `schema_version = "1.4"
${asked.root ?? ""}
[task]
name = "workbench/${name}"
[metadata.openforge]
initial_state = { files = "environment/files" }
[environment]
network_mode = "no-network"
${asked.environment ?? ""}
${asked.toml ?? ""}`,
    "instruction.md": "Do it.",
    "environment/files/start.txt": "start\n",
    "environment/Dockerfile": "FROM openforge/base:1\nCOPY files/ /app/\nWORKDIR /app\n",
    "tests/test.sh": `#!/bin/sh\nif ${asked.test}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n`,
    ...asked.files,
  });
  const policies = [writeScriptedSteps(folder, `${name}-${sandbox}`, [shell])];
  const id = await workbench.rollouts.startExperiment(
    experimentSpecSchema.parse({ tasks: [task.path], harnesses: [harness], policies, sandbox, attempts: 1 }),
  );
  await workbench.rollouts.settled(id);
  const [rollout] = workbench.store.rolloutsOf(id);
  if (rollout === undefined) throw new Error("there is no rollout");
  return rollout;
}

const names = (rollout: RolloutRecord): readonly string[] =>
  workbench.store
    .artifactsOf(rollout.id)
    .filter(({ kind }) => kind === "artifact")
    .map(({ name }) => name)
    .sort();
const succeeded = { outcome: { status: "succeeded", detail: null }, reward: 1 };

describe.each(kinds)("in the %s sandbox", (sandbox) => {
  const here = test.skipIf(!ready.includes(sandbox));
  const limit = { timeout: 120_000 };

  here("artifacts go where they are declared, less what they exclude; collect commands run first", limit, async () => {
    const rollout = await run({
      ...{ sandbox, name: "artifacts", test: "[ -f /app/collected.txt ] && [ -f /app/out/keep.txt ]" },
      root: 'artifacts = [{ source = "/app/out", destination = "results", exclude = ["*.log", "cache"] }, "collected.txt"]',
      toml: '[[verifier.collect]]\ncommand = "ls out > collected.txt"\n[[verifier.collect]]\ncommand = "exit 3"\n',
      shell: "mkdir -p out/cache out/deep; touch out/keep.txt out/a.log out/cache/x out/deep/b.log out/deep/c.txt; echo n > /logs/artifacts/note.txt",
    });
    expect(rollout).toMatchObject(succeeded);
    expect(names(rollout)).toEqual(["app/collected.txt", "logs/artifacts/note.txt", "results/deep/c.txt", "results/keep.txt"]);
    const lines = workbench.store.eventsAfter(0, 1000, { rolloutId: rollout.id }).map(({ payload }) => payload);
    expect(lines.join("\n")).toContain("The collect command `exit 3` ended with exit code 3.");
  });

  here("variables are filled in from the service's environment, for agent, check and verifier", limit, async () => {
    const rollout = await run({
      ...{ sandbox, name: "variables", shell: 'printf "%s" "$COLOUR $SHAPE $RAW" > said.txt' },
      environment: `env = { COLOUR = "\${ONE_CONTAINER_COLOUR}", SHAPE = "\${ONE_CONTAINER_NOTHING:-round}", RAW = "a\${B}" }\nhealthcheck = { command = "test $COLOUR = green" }`,
      toml: `[verifier]\nenv = { WANTED = "\${ONE_CONTAINER_COLOUR}" }`,
      test: `[ "$(cat /app/said.txt)" = "$WANTED"' round a\${B}' ]`,
    });
    expect(rollout).toMatchObject(succeeded);
  });

  here("an environment that does not become healthy is no fault of the agent", limit, async () => {
    const rollout = await run({
      ...{ sandbox, name: "sick", shell: "true", test: "true" },
      environment:
        'healthcheck = { command = "echo no pulse >&2; false", interval_sec = 0.05, retries = 2, start_period_sec = 0.1, start_interval_sec = 0.02 }',
    });
    expect(rollout).toMatchObject({ reward: null, calls: 0, outcome: { status: "environment-failure", cause: "setup-failed" } });
    expect(rollout.outcome?.detail).toContain("does not pass: no pulse.");
  });

  here("skills come to where the harness looks for them", limit, async () => {
    const rollout = await run({
      ...{ sandbox, name: "skilled", harness: "react-skilled", environment: 'skills_dir = "/app/skills"' },
      shell: "cat ~/.skilled/skills/*/SKILL.md > said.txt",
      test: "grep -q 'name: knots' /app/said.txt",
      files: { "environment/files/skills/knots/SKILL.md": "---\nname: knots\n---\nTie them.\n" },
    });
    expect(rollout).toMatchObject(succeeded);
  });

  here("a verifier of its own box sees declared artifacts, less what they exclude, and nothing else", limit, async () => {
    const rollout = await run({
      ...{ sandbox, name: "apart", shell: "mkdir out; touch out/a.txt out/b.log; chmod 755 out/a.txt; touch undeclared.txt" },
      root: 'artifacts = [{ source = "/app/out", exclude = ["*.log"] }]',
      toml: '[verifier]\nenvironment_mode = "separate"\n',
      test: "[ -x /app/out/a.txt ] && [ ! -e /app/out/b.log ] && [ ! -e /app/undeclared.txt ]",
    });
    expect(rollout).toMatchObject(succeeded);
  });
});

test.skipIf(!ready.includes("docker"))("agent and verifier are the accounts that the package names", { timeout: 120_000 }, async () => {
  const rollout = await run({
    ...{ sandbox: "docker", name: "accounts", shell: "id -u > /logs/artifacts/agent.txt; id -u > /tmp/agent.txt" },
    toml: '[agent]\nuser = "1234"\n[verifier]\nuser = "4321"\n',
    test: '[ "$(id -u)" = 4321 ] && [ "$(cat /tmp/agent.txt)" = 1234 ]',
  });
  expect(rollout).toMatchObject(succeeded);
});
