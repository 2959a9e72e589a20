import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ExportRequest } from "../api/export-views.ts";
import { trajectoryFault } from "../imports/index.ts";
import type { CallRecord } from "../store/index.ts";
import { exportTo } from "./index.ts";
import { tokenValues } from "./page/style.ts";
import { plainTurn, type RecordedStore, recordedStore, type TestRollout } from "./recorded-store.test-data.ts";

let recorded: RecordedStore | null = null;
afterEach(() => {
  recorded?.dispose();
  recorded = null;
});

const solved: TestRollout = { task: "a", reward: 1, turns: [plainTurn("echo x > a"), plainTurn("cat a"), plainTurn(null)] };
const lost: TestRollout = {
  task: "b",
  reward: null,
  outcome: { status: "environment-failure", cause: "out-of-memory", action: "mask", detail: "The box, “b”, ran out of memory." },
  turns: [plainTurn("ls", 2, { text: "<script>alert(1)</script>" })],
};
const training = { list: () => [] } as const;

function write(source: RecordedStore, change: Partial<ExportRequest>, signal = new AbortController().signal) {
  const request: ExportRequest = {
    id: source.experimentId,
    format: "csv",
    path: join(source.folder, "out"),
    force: false,
    algorithm: "grpo",
    all: false,
    ...change,
  };
  const none = () => {
    throw new Error("no run");
  };
  return exportTo(
    { store: source.store, training: { ...training, get: none, step: none, stepTokens: none }, version: "0.1.0" },
    request,
    () => undefined,
    signal,
  );
}

test("nothing is overwritten without force, and a failure leaves what was there", async () => {
  recorded = recordedStore([solved]);
  const path = join(recorded.folder, "rows.csv");
  writeFileSync(path, "mine");
  await expect(write(recorded, { path })).rejects.toThrow(`${path} is there already.`);
  expect(readFileSync(path, "utf8")).toBe("mine");
  const stopped = new AbortController();
  stopped.abort(new Error("stop"));
  await expect(write(recorded, { path, format: "har", force: true }, stopped.signal)).rejects.toThrow("stop");
  expect(readFileSync(path, "utf8")).toBe("mine");
  await write(recorded, { path, force: true });
  expect(readFileSync(path, "utf8")).toMatch(/^rollout,experiment,task/);
  expect(readdirSync(recorded.folder).toSorted()).toEqual(["data", "rows.csv"]);
});

test("of folders only those of an export are replaced, and as a whole", async () => {
  recorded = recordedStore([solved, lost]);
  const path = join(recorded.folder, "deep", "job");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "mine.txt"), "mine");
  for (const format of ["harbor", "csv"] as const)
    await expect(write(recorded, { path, format, force: true })).rejects.toThrow(
      `${path} is a folder that no export has written, so it is not replaced.`,
    );
  expect(readFileSync(join(path, "mine.txt"), "utf8")).toBe("mine");
  rmSync(join(path, "mine.txt"));
  await write(recorded, { path, format: "atif", force: true });
  await write(recorded, { path, format: "harbor", force: true });
  expect(readdirSync(path).toSorted()).toEqual([
    expect.stringMatching(/^a__/),
    expect.stringMatching(/^b__/),
    "config.json",
    "job.log",
    "lock.json",
    "result.json",
  ]);
  expect(readdirSync(join(recorded.folder, "deep"))).toEqual(["job"]);
});

test("a place that cannot be written to is told in a sentence", async () => {
  recorded = recordedStore([solved]);
  await expect(write(recorded, { path: "/proc/nothing/x.csv" })).rejects.toThrow("/proc/nothing cannot be made: no folders can be made there.");
  writeFileSync(join(recorded.folder, "file"), "");
  await expect(write(recorded, { path: join(recorded.folder, "file", "x.csv") })).rejects.toThrow(
    /cannot be written: a part of the path is a file\.$/,
  );
});

test("one line a rollout, quoted where needed, empty where nothing is known", async () => {
  recorded = recordedStore([solved, lost]);
  const { path, count } = await write(recorded, {});
  const [header = "", ...lines] = readFileSync(path, "utf8").trimEnd().split("\r\n");
  expect(count).toBe(2);
  const cells = (line: string) => Object.fromEntries(header.split(",").map((name, at) => [name, splitCsv(line)[at]]));
  expect(cells(lines[0] ?? "")).toMatchObject({
    task: "org/a",
    status: "succeeded",
    reward: "1",
    rewards: '{"reward":1}',
    self_verified: "1",
    tool_calls: "2",
  });
  expect(cells(lines[1] ?? "")).toMatchObject({ task: "org/b", cause: "out-of-memory", reward: "", success: "" });
});

test("the archive holds every call with its bodies", async () => {
  recorded = recordedStore([solved, lost]);
  const { path, count } = await write(recorded, { format: "har" });
  const { log } = JSON.parse(readFileSync(path, "utf8"));
  expect(log).toMatchObject({ version: "1.2", creator: { name: "OpenForge Workbench" } });
  expect(log.pages).toHaveLength(2);
  expect(log.entries).toHaveLength(4);
  expect(count).toBe(4);
  expect(JSON.parse(log.entries[0].request.postData.text).messages).toHaveLength(2);
  expect(log.entries[0]).toMatchObject({
    pageref: "r-00000000",
    request: { method: "POST", bodySize: expect.any(Number) },
    response: { status: 200 },
  });
});

test("trajectories are what their readers accept, ids and masks within", async () => {
  recorded = recordedStore([solved, { ...lost, turns: [plainTurn("ls"), plainTurn("ls", 3, { compacted: true })] }]);
  const { path } = await write(recorded, { format: "atif", path: join(recorded.folder, "all") });
  for (const name of readdirSync(path)) expect(await trajectoryFault(join(path, name))).toBeNull();
  const first = JSON.parse(readFileSync(join(path, "r-00000000.json"), "utf8"));
  expect(first.steps.map((step: { source: string }) => step.source)).toEqual(["system", "user", "agent", "agent", "agent"]);
  expect(first.steps[2]).toMatchObject({
    tool_calls: [{ tool_call_id: "call_0", function_name: "bash", arguments: { command: "echo x > a" } }],
    observation: { results: [{ source_call_id: "call_0", content: "ok" }] },
    metrics: { prompt_token_ids: [1, 2, 3], completion_token_ids: [100, 101, 102], logprobs: [-0.5, -1.5, -2.5], extra: { loss_mask: [1, 1, 1] } },
  });
  expect(first.extra.openforge).toMatchObject({ reward: 1, outcome: { status: "succeeded" } });
  const second = JSON.parse(readFileSync(join(path, "r-00000001.json"), "utf8"));
  const compacted = second.steps.find((step: { extra?: { context_management?: unknown } }) => step.extra?.context_management !== undefined);
  expect(compacted).toMatchObject({
    source: "user",
    message: "Summary 1.",
    extra: { context_management: { type: "compaction", boundary: "replace" } },
  });
});

test("the page stands alone: no script, nothing from elsewhere, recorded text is text", async () => {
  recorded = recordedStore([lost]);
  const { path } = await write(recorded, { format: "html", path: join(recorded.folder, "page.html") });
  const page = readFileSync(path, "utf8");
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(page).not.toMatch(/<script|<link|\bhref=|\bsrc="(?!data:)|url\(/);
  expect(page).toContain("environment-failure · out-of-memory");
  expect(existsSync(path)).toBe(true);
});

test("the page has the colours of the application", () => {
  const tokens = readFileSync(new URL("../../renderer/src/styles/tokens.css", import.meta.url), "utf8");
  for (const [name, value] of Object.entries(tokenValues)) expect(new RegExp(`--of-${name}:\\s*([^;]*);`).exec(tokens)?.[1]).toBe(value);
});

/** Cells of one line of RFC 4180. */
function splitCsv(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) =>
    quoted === undefined ? (bare ?? "") : quoted.replaceAll('""', '"'),
  );
}

test("each step of several is a folder of the trial, with its own trajectory, reward and result", async () => {
  const turns = [plainTurn("ls"), plainTurn(null), plainTurn("pwd", 3, { compacted: true }), plainTurn(null)];
  const steps = [
    { name: "first", calls: 2, reward: 0.5 },
    { name: "second", calls: 2, reward: null },
  ];
  recorded = recordedStore([{ task: "relay", reward: 0.5, turns, steps }]);
  const { store } = recorded;
  const { hash, size } = store.blobs.put(Buffer.from("out"));
  store.addArtifact({ rolloutId: "r-00000000", attempt: 0, kind: "harness-log", name: "steps/first/stdout.txt", blob: hash, size });
  store.addArtifact({ rolloutId: "r-00000000", attempt: 0, kind: "artifact", name: "steps/second/app/out.txt", blob: hash, size });
  store.addArtifact({ rolloutId: "r-00000000", attempt: 0, kind: "workspace", name: "steps/first/workspace.packed", blob: hash, size });
  const path = join(recorded.folder, "job");
  await write(recorded, { path, format: "harbor" });
  const [trial = ""] = readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [join(path, entry.name)] : []));
  const read = (name: string) => JSON.parse(readFileSync(join(trial, name), "utf8"));
  const result = read("result.json");
  expect(result).toMatchObject({ agent_result: null, verifier_result: { rewards: { reward: 0.5 } } });
  expect(result.step_results).toMatchObject([
    { step_name: "first", verifier_result: { rewards: { reward: 0.5 } }, exception_info: null, agent_result: { n_output_tokens: 6 } },
    { step_name: "second", verifier_result: null, exception_info: { exception_type: "RewardFileNotFoundError" } },
  ]);
  expect(readFileSync(join(trial, "steps/first/agent/stdout.txt"), "utf8")).toBe("out");
  expect(readFileSync(join(trial, "steps/second/artifacts/app/out.txt"), "utf8")).toBe("out");
  expect(read("steps/first/verifier/reward.json")).toEqual({ reward: 0.5 });
  expect(existsSync(join(trial, "agent"))).toBe(false);
  for (const [name, commands] of [
    ["first", ["ls"]],
    ["second", ["pwd"]],
  ] as const) {
    const told = JSON.stringify(read(`steps/${name}/agent/trajectory.json`));
    expect(["ls", "pwd"].filter((command) => told.includes(`"command":"${command}"`))).toEqual(commands);
  }
});

test.each([false, true])("a side call is said to be one, stands apart, and is in no trainer's rows (text only: %s)", async (textOnly) => {
  recorded = recordedStore([{ ...solved, textOnly }]);
  const { store, folder } = recorded;
  const written = async (format: ExportRequest["format"]) => {
    const { path, count } = await write(recorded as RecordedStore, { format, path: join(folder, `out-${format}`), force: true, all: true });
    const file = statSync(path).isDirectory() ? join(path, readdirSync(path)[0] ?? "") : path;
    return { count, file, text: readFileSync(file, "utf8") };
  };
  const rows = (await written("trl-sft")).count;
  const [like] = store.callsOf("r-00000000");
  if (like === undefined) throw new Error("no call");
  const put = (value: unknown) => store.blobs.put(new TextEncoder().encode(JSON.stringify(value))).hash;
  const message = { role: "assistant", content: "Files" };
  const side: CallRecord = {
    ...{ ...like, id: "side", index: 9, side: "title", finishReason: "stop" },
    requestBody: put({ model: "p", messages: [{ role: "user", content: "Name it." }] }),
    responseBody: put({
      id: "x",
      object: "chat.completion",
      created: 2,
      model: "p",
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: {},
    }),
  };
  const node = {
    callId: "side",
    parentCallId: null,
    addedPromptIds: Int32Array.of(7),
    sampledIds: Int32Array.of(8),
    logprobs: Float32Array.of(-1),
    promptLength: 1,
  };
  store.recordCall(side, textOnly ? null : node);

  expect((await written("trl-sft")).count, "rows").toBe(rows);
  const { file, text } = await written("atif");
  const atif = JSON.parse(text);
  expect(await trajectoryFault(file)).toBeNull();
  expect(atif.steps.map(({ source }: { source: string }) => source)).toEqual(["system", "user", "agent", "agent", "agent"]);
  expect(atif.subagent_trajectories).toMatchObject([
    { steps: [{ message: "Name it." }, { message: "Files" }], extra: { openforge: { side_call: "title" } } },
  ]);
  expect((await written("har")).text).toContain('"side":"title"');
  expect((await written("html")).text).toContain("side call: title");
});
