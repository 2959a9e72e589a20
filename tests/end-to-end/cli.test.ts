import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { experimentResultSchema } from "../../main/api/experiment-views.ts";
import { rolloutDetailSchema } from "../../main/api/rollout-views.ts";
import { doctorRowSchema } from "../../main/api/system-views.ts";
import { starterTaskNames } from "../contract/task-packages.ts";
import { run, start, temporaryData } from "./openforge.ts";

const data = temporaryData();
afterAll(() => data.remove());

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string(), remedy: z.string() }) });

describe("an experiment in one line", () => {
  let experiment: z.infer<typeof experimentResultSchema>;

  beforeAll(async () => {
    const ended = await run(["run", "--tasks", "starter", "--harness", "react", "--policy", "scripted", "--json"], data.path);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
    expect(ended.code, ended.stderr).toBe(0);
    experiment = experimentResultSchema.parse(JSON.parse(ended.stdout));
  });

  test("every starter task is solved, verified and trainable", () => {
    expect(experiment.rollouts).toHaveLength(starterTaskNames.length);
    for (const rollout of experiment.rollouts) {
      expect(rollout).toMatchObject({ status: "succeeded", reward: 1, action: "train", sandbox: "local", trainable: true, attempts: 1 });
      expect(rollout.chains).toBe(1);
      expect(rollout.calls).toBeGreaterThan(1);
      expect(rollout.phases.map((phase) => phase.name)).toContain("verifying");
      expect(Object.keys(rollout.isolation ?? {}).toSorted()).toEqual(["files", "limits", "network", "processes"]);
      expect(rollout.taskDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    }
    expect(experiment.summary).toMatchObject([{ harness: "react", n: starterTaskNames.length, mean: 1, infrastructureFailures: 0 }]);
  });

  test("runs show and calls tell of each call", async () => {
    const id = experiment.rollouts[0]?.id ?? "";
    const shown = await run(["runs", "show", id, "--json"], data.path);
    expect(shown.code, shown.stderr).toBe(0);
    const detail = rolloutDetailSchema.parse(JSON.parse(shown.stdout));
    expect(detail.calls.map((call) => call.index)).toEqual(detail.calls.map((_call, index) => index));
    expect(detail.calls.every((call) => call.capture === "ids+logprobs" && call.chain === 0 && call.dialect === "chat")).toBe(true);
    expect(detail.chains).toHaveLength(1);
    expect(detail.chains[0]?.trained).toBe(detail.completionTokens);
    const calls = await run(["calls", id], data.path);
    expect(calls.stdout).toContain("bash");
  });

  test("runs list names the experiment; delete removes it", async () => {
    const before = await run(["runs", "list", "--json"], data.path);
    expect(before.stdout).toContain(experiment.experiment);
    expect((await run(["runs", "delete", experiment.experiment], data.path)).code).toBe(0);
    expect((await run(["runs", "list", "--json"], data.path)).stdout).not.toContain(experiment.experiment);
    expect((await run(["store", "check"], data.path)).code).toBe(0);
  });
});

test("doctor says what this machine offers", async () => {
  const ended = await run(["doctor", "--json"], data.path);
  const rows = z.array(doctorRowSchema).parse(JSON.parse(ended.stdout));
  expect(rows.find((row) => row.name === "Local sandbox")?.status).toBe("ready");
  for (const row of rows) if (row.status === "missing" && row.remedy !== null) expect(row.remedy.length).toBeGreaterThan(10);
});

describe("the service", () => {
  test("serve prints one line, answers the command line, refuses a second of its kind, and ends on SIGTERM", async () => {
    const folder = temporaryData();
    const service = start(["serve"], folder.path);
    const [, url] = await service.waitFor(/^Workbench at (http:\/\/127\.0\.0\.1:\d+\/#token=\S+)$/m);
    const page = await fetch(url ?? "");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect((await run(["runs", "list", "--json"], folder.path)).stdout.trim()).toBe("[]");
    const second = await run(["serve"], folder.path);
    expect(second.code).not.toBe(0);
    expect(second.stderr).toContain("Another workbench service");
    expect(second.stderr).not.toMatch(/\n\s+at /);
    service.process.kill("SIGTERM");
    await service.ended;
    folder.remove();
  });

  test("without a display it serves and runs the starter experiment at once", async () => {
    const folder = temporaryData();
    const service = start([], folder.path);
    await service.waitFor(/Workbench at http/);
    await service.waitFor(/evaluation after 0 steps {2}success [\d.]+ %/, 200_000);
    service.process.kill("SIGTERM");
    await service.ended;
    const again = start([], folder.path);
    await again.waitFor(/Workbench at http/);
    again.process.kill("SIGTERM");
    const { stderr } = await again.ended;
    expect(stderr).not.toContain("Running the starter");
    folder.remove();
  });

  test("Ctrl-C cancels an experiment cleanly with exit code 130", async () => {
    const folder = temporaryData();
    const running = start(["run", "--tasks", "starter", "-k", "20", "--concurrency", "2"], folder.path);
    await running.waitFor(/succeeded/);
    running.process.kill("SIGINT");
    const { code, stderr } = await running.ended;
    expect(code, stderr).toBe(130);
    const list = await run(["runs", "list", "--json"], folder.path);
    expect(list.stdout).toContain('"status": "cancelled"');
    folder.remove();
  });
});

test("with --json standard output is one document, also where a program is wrapped or the service stays", async () => {
  const wrapped = await run(["wrap", "--json", "--", process.execPath, "-e", "console.log('said')"], data.path);
  expect([wrapped.code, JSON.parse(wrapped.stdout)]).toEqual([0, { sessions: 0, calls: 0 }]);
  expect(wrapped.stderr).toContain("said");
  const service = start(["serve", "--json"], data.path);
  await service.waitFor(/\}\n/);
  expect(JSON.parse(service.stdout())).toEqual({ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#token=/) });
  service.process.kill("SIGTERM");
  await service.ended;
});

test.each<[string, readonly string[]]>([
  ["a table", ["harness", "list"]],
  ["a help text", ["run", "--help"]],
  ["a document", ["doctor", "--json"]],
])("a reader that leaves early ends %s quietly", async (_name, words) => {
  const running = start(words, data.path);
  running.process.stdout?.destroy();
  expect(await running.ended).toMatchObject({ code: 0, stderr: "" });
});

describe("wrong input gets one sentence, what to do, and the contract's exit code", () => {
  const cases: readonly [name: string, args: readonly string[], code: number, environment?: Record<string, string>][] = [
    ["an unknown verb", ["frobnicate"], 2],
    ["an unknown option", ["run", "--frobnicate"], 2],
    ["an unknown harness", ["run", "--harness", "nope"], 2],
    ["an unknown policy", ["run", "--policy", "nope"], 2],
    ["an unknown sandbox", ["run", "--sandbox", "nope"], 2],
    ["a missing task folder", ["run", "--tasks", "/nowhere/at-all"], 2],
    ["an experiment file that is not there", ["run", "/nowhere/experiment.yaml"], 2],
    ["k that is no number", ["run", "-k", "many"], 2],
    ["a rollout that does not exist", ["runs", "show", "r-none"], 2],
    ["an experiment that does not exist", ["runs", "show", "e-none"], 2],
    ["a scripted file that is not there", ["run", "--policy", "scripted:/nowhere.yaml"], 2],
    ["no Docker", ["run", "--tasks", "starter", "--sandbox", "docker"], 3, { DOCKER_HOST: "unix:///nowhere/docker.sock" }],
    ["kubernetes", ["run", "--tasks", "starter", "--sandbox", "kubernetes"], 3],
    ["an unreachable policy", ["policy", "probe", "http://127.0.0.1:9/v1"], 1],
    ["a task folder that is no package", ["task", "run-gold", "tests/end-to-end"], 2],
    ["a port that is none", ["serve", "--port", "eighty"], 2],
  ];
  for (const [name, args, code, environment] of cases) {
    test(name, async () => {
      const ended = await run([...args, "--json"], data.path, environment ?? {});
      expect(ended.code, ended.stderr + ended.stdout).toBe(code);
      const { error } = errorSchema.parse(JSON.parse(ended.stdout));
      expect(error.message).not.toMatch(/Unexpected:|\n\s+at /);
      expect(error.remedy.length).toBeGreaterThan(5);
    });
  }
});
