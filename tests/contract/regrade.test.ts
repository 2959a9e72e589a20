/** Stored work under a changed verifier: from the kept state of the sandbox, or from declared artifacts where a verifier needs no more. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ExperimentSpecInput, experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { regradeReport } from "../../main/api/regrade-report.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { writeScriptedSteps } from "./scripted-steps.ts";
import { readyProviders, writePackage } from "./task-packages.ts";

const kinds = ["local", "docker"] as const;
let folder = "";
let workbench: Workbench;
const probing = mkdtempSync(join(tmpdir(), "regrade-probe-"));
const ready = (await readyProviders(probing, kinds)).map(({ kind }) => kind);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "regrade-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  for (const path of [folder, probing]) rmSync(path, { recursive: true, force: true });
});

const toml = (rest = "") => `schema_version = "1.4"
[task]
name = "workbench/regraded"
[agent]
timeout_sec = 60
[environment]
network_mode = "no-network"
${rest}`;
const expecting = (check: string) => `#!/bin/sh\nif ${check}; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n`;
const packageOf = (check: string, rest = ""): Readonly<Record<string, string>> => ({
  "task.toml": toml(rest),
  "instruction.md": "Write the word into /app/word.txt, and a program run.sh with a link to it.",
  "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
  "tests/test.sh": expecting(check),
});
const work = (word: string) =>
  writeScriptedSteps(folder, word, [
    `echo ${word} > word.txt; mkdir -p deep/er; touch deep/er/run.sh; chmod 750 deep/er/run.sh; ln -s er/run.sh deep/link`,
  ]);
/** What the kept state must bring back beside the word. */
const whole = '[ -x /app/deep/er/run.sh ] && [ "$(readlink /app/deep/link)" = er/run.sh ] && [ -f /logs/agent/final.txt ]';

async function run(spec: ExperimentSpecInput): Promise<readonly RolloutRecord[]> {
  const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse({ ...spec, harnesses: ["react"], attempts: 1 }));
  await workbench.rollouts.settled(id);
  return workbench.store.rolloutsOf(id);
}

async function regrade(rollouts: readonly RolloutRecord[]) {
  const results = await workbench.rollouts.regrade({ rolloutIds: rollouts.map(({ id }) => id), onProgress: () => undefined });
  return regradeReport(results);
}

describe.each(kinds)("in the %s sandbox", (sandbox) => {
  const here = test.skipIf(!ready.includes(sandbox));

  here("a verifier that was too strict is put right: its verdicts flip, and what was graded stays", { timeout: 120_000 }, async () => {
    const place = join(folder, `strict-${sandbox}`);
    const task = await writePackage(place, packageOf('[ "$(cat /app/word.txt)" = Hello ]'));
    const rollouts = await run({ tasks: [task.path], policies: [work("hello"), work("goodbye")], sandbox, keepWorkspace: true });
    expect(rollouts.map(({ reward }) => reward)).toEqual([0, 0]);
    await writePackage(place, packageOf(`grep -qix hello /app/word.txt && ${whole}`));
    const report = await regrade(rollouts);
    expect(report).toMatchObject({ graded: 2, flipped: 1, skipped: 0 });
    expect(report.rows).toMatchObject([
      { rollout: rollouts[0]?.id, flipped: true, before: { verdict: "failed", reward: 0 }, after: { verdict: "passed", reward: 1 } },
      { rollout: rollouts[1]?.id, flipped: false, before: { verdict: "failed" }, after: { verdict: "failed", reward: 0 } },
    ]);
    const [first] = rollouts;
    if (first === undefined) return;
    expect(workbench.store.rollout(first.id)).toEqual(first);
    await writePackage(place, packageOf("false"));
    await regrade([first]);
    const grades = workbench.store.gradesOf(first.id);
    expect(grades.map(({ reward, source }) => [reward, source])).toEqual([
      [1, "workspace"],
      [0, "workspace"],
    ]);
    expect(grades[0]?.verifierDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(grades[0]?.verifierDigest).not.toBe(grades[1]?.verifierDigest);
  });

  here("work that was not kept is named and skipped, unless its artifacts are all that the verifier needs", { timeout: 120_000 }, async () => {
    const shared = await writePackage(join(folder, `unkept-${sandbox}`), packageOf("true"));
    expect(await regrade(await run({ tasks: [shared.path], policies: [work("hello")], sandbox }))).toMatchObject({
      graded: 0,
      skipped: 1,
      rows: [{ after: null, flipped: false, skipped: "The workspace was not kept. Run it again with --keep-workspace." }],
    });
    const place = join(folder, `apart-${sandbox}`);
    const apart = 'artifacts = ["/app/word.txt"]\n';
    const separate = (check: string) => {
      const files = packageOf(check, '[verifier]\nenvironment_mode = "separate"\n');
      return { ...files, "task.toml": `${apart}${files["task.toml"]}` };
    };
    const task = await writePackage(place, separate("grep -qx Hello /app/word.txt"));
    const rollouts = await run({ tasks: [task.path], policies: [work("hello")], sandbox });
    expect(rollouts).toMatchObject([{ reward: 0 }]);
    await writePackage(place, separate("grep -qix hello /app/word.txt"));
    expect(await regrade(rollouts)).toMatchObject({ graded: 1, flipped: 1, rows: [{ after: { verdict: "passed" } }] });
    expect(workbench.store.gradesOf(rollouts[0]?.id ?? "")).toMatchObject([{ source: "artifacts", reward: 1 }]);
  });
});

test.skipIf(!ready.includes("docker"))("work that lies in a service is not graded by one that starts anew", { timeout: 120_000 }, async () => {
  const task = await writePackage(join(folder, "served"), {
    ...packageOf("[ -f /app/word.txt ]"),
    "environment/Dockerfile": 'FROM openforge/base:1\nCOPY entry.sh /entry.sh\nWORKDIR /app\nENTRYPOINT ["/entry.sh"]\n',
    "environment/entry.sh": '#!/bin/sh\nsleep infinity &\nexec "$@"\n',
  });
  const rollouts = await run({ tasks: [task.path], policies: [work("hello")], sandbox: "docker", keepWorkspace: true });
  expect(rollouts.map(({ reward, outcome }) => [reward, outcome?.detail])).toEqual([[1, null]]);
  expect((await regrade(rollouts)).rows).toMatchObject([
    {
      after: null,
      skipped: expect.stringMatching(/^What its services held \(what its image starts\) was not kept, and its verifier could ask them\./),
    },
  ]);
});

test.skipIf(!ready.includes("local"))(
  "each step is graded from what it left, up to where the old verifier ended the steps",
  { timeout: 120_000 },
  async () => {
    const steps = (first: string, second: string) => ({
      "task.toml": toml('[[steps]]\nname = "a"\nmin_reward = 1\n[[steps]]\nname = "b"\n'),
      "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
      "steps/a/instruction.md": "Add a line.",
      "steps/a/tests/test.sh": expecting(first),
      "steps/b/instruction.md": "Add a line.",
      "steps/b/tests/test.sh": expecting(second),
    });
    const lines = (count: number) => `[ "$(wc -l < /app/lines.txt)" = ${count} ]`;
    const place = join(folder, "steps");
    const policy = writeScriptedSteps(folder, "adder", ["echo line >> lines.txt"]);
    const task = await writePackage(place, steps(lines(1), lines(7)));
    const whole = await run({ tasks: [task.path], policies: [policy], keepWorkspace: true });
    expect(whole).toMatchObject([{ reward: 0.5 }]);
    await writePackage(place, steps(lines(1), lines(2)));
    expect((await regrade(whole)).rows).toMatchObject([{ flipped: true, after: { verdict: "passed", reward: 1 } }]);
    expect(workbench.store.gradesOf(whole[0]?.id ?? "")).toMatchObject([
      {
        steps: [
          { name: "a", reward: 1 },
          { name: "b", reward: 1 },
        ],
      },
    ]);

    const strict = await writePackage(place, steps("false", lines(2)));
    const short = await run({ tasks: [strict.path], policies: [policy], keepWorkspace: true });
    await writePackage(place, steps(lines(1), lines(2)));
    const [row] = (await regrade(short)).rows;
    expect(row?.after).toMatchObject({ verdict: "failed", reward: 1, detail: "The step b was not run then." });
  },
);
