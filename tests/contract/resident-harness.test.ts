/** Harnesses that serve many rollouts from one process, in real local sandboxes: the same bytes to the model, nothing shared, faults alone. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExperimentSpecInput, experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { writeSmallTask } from "./small-task.ts";

let folder = "";
let workbench: Workbench;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "resident-"));
  for (const id of ["react", "console", "scratchpad"]) writeAlone(id);
  writeHarness("resident-dying", `if (message.type === "start") process.exit(3);`);
  writeHarness("resident-hanging", `if (message.type === "start") exec(message, "echo began > /app/began");`);
  writeHarness("resident-babbling", `if (message.type === "start") console.log("hello");`);
  writeHarness("resident-counting", `if (message.type === "start") { count += 1; end(message, String(count) + " " + process.pid); }`);
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A harness of ours under another id, `ID-alone`, started anew for each rollout. */
function writeAlone(id: string): void {
  const place = join(folder, "data", "harnesses", `${id}-alone`);
  mkdirSync(place, { recursive: true });
  cpSync(join(import.meta.dirname, "../../resources/harnesses", id), place, { recursive: true });
  const manifest = join(place, "manifest.yaml");
  const text = readFileSync(manifest, "utf8").replace(`id: ${id}\n`, `id: ${id}-alone\n`);
  writeFileSync(manifest, text.replace(/resident:\n.*\n/, ""));
}

/** A resident program of a few lines: `told` is what it does with a message. */
function writeHarness(id: string, told: string): void {
  const place = join(folder, "data", "harnesses", id);
  mkdirSync(place, { recursive: true });
  const manifest = {
    id,
    name: id,
    version: "1.0.0",
    licence: "none",
    summary: "A test.",
    install: { kind: "bundled", path: "." },
    runtime: { kind: "node" },
    dialects: ["chat"],
    command: ["/bin/false"],
    resident: { command: [`\${node}`, `\${harness}/program.mjs`] },
    prefix: "exact",
  };
  writeFileSync(join(place, "manifest.yaml"), JSON.stringify(manifest));
  const program = `
import { createInterface } from "node:readline";
const say = (message) => console.log(JSON.stringify(message));
const exec = ({ session }, command) => say({ type: "exec", session, id: 1, command });
const end = ({ session }, text) => say({ type: "end", session, exitCode: 0, text, error: null });
let count = 0;
say({ type: "ready" });
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  ${told}
});
`;
  writeFileSync(join(place, "program.mjs"), program);
}

async function run(spec: ExperimentSpecInput): Promise<readonly RolloutRecord[]> {
  const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse(spec));
  await workbench.rollouts.settled(id);
  return workbench.store.rolloutsOf(id);
}
const task = (name: string, change: Partial<Parameters<typeof writeSmallTask>[1]> = {}): string =>
  writeSmallTask(join(folder, name), { name, ...change });
const policy = (name: string, steps: readonly object[]): string => {
  const path = join(folder, `${name}.yaml`);
  writeFileSync(path, JSON.stringify({ version: 1, name, rules: [{ name, steps }] }));
  return `scripted:${path}`;
};
const shell = (command: string): object => ({ calls: [{ shell: command }] });
const bodies = ({ id }: RolloutRecord): readonly string[] =>
  workbench.store.callsOf(id).map((call) => Buffer.from(workbench.store.blobs.get(call.requestBody) ?? []).toString());
/** The ids of tool calls are the proxy's, and follow from the rollout's. */
const sameIds = (body: string): string => body.replaceAll(/"(id|tool_call_id)":"[0-9a-z]{9}"/g, '"$1":"same"');
const artifact = ({ id }: RolloutRecord, name: string): string => {
  const found = workbench.store.artifactsOf(id).find((candidate) => candidate.name === name);
  return found === undefined ? "" : Buffer.from(workbench.store.blobs.get(found.blob) ?? []).toString();
};

/** Sandboxes of resident harnesses. */
const slots = (): readonly string[] => {
  const place = join(folder, "data", "sandboxes", "local");
  return readdirSync(place).filter((name) => readFileSync(join(place, name, "box.json"), "utf8").includes('"rolloutId":"slot-'));
};

/** What a command can look like to a model. */
const odd = [
  "echo one; echo two >&2; exit 3",
  "printf 'no end of line'",
  "printf '\\377\\376 é 据'",
  "true",
  "nosuchprogram",
  "kill -9 $$",
  "cat; pwd; echo $0 $HOME; ls -la /app | wc -l; env | cut -d = -f 1 | grep -v OPENFORGE | sort",
  "yes 0123456789 | head -c 20000",
  "rm -rf /app 2>/dev/null; mkdir -p inner && cd inner && pwd",
];

/** How each harness of ours is told to run a command. */
const speaking: Readonly<Record<string, (command: string) => object>> = {
  react: shell,
  console: (command) => ({ calls: [{ tool: "run", arguments: { cmd: command } }] }),
  scratchpad: (command) => ({ text: `Action: ${command}` }),
};

test.each(Object.entries(speaking))("%s sends the same bytes as when it is started alone", { timeout: 120_000 }, async (harness, say) => {
  const scripted = policy(`odd-${harness}`, [...odd.map(say), { text: "Done." }]);
  const spec = { tasks: [task(`odd-${harness}`)], harnesses: [harness, `${harness}-alone`], policies: [scripted], concurrency: 2 };
  const rollouts = await run(spec);
  expect(rollouts.map(({ outcome, reward }) => [outcome?.status, outcome?.detail, reward])).toEqual([
    ["succeeded", null, 1],
    ["succeeded", null, 1],
  ]);
  const [resident, alone] = rollouts.map(bodies);
  expect(resident).toHaveLength(odd.length + 1);
  for (const [index, body] of (resident ?? []).entries()) expect(sameIds(body)).toBe(sameIds(alone?.[index] ?? ""));
  for (const rollout of rollouts) expect(artifact(rollout, "final.txt")).toBe("Done.");
  // Of each line what it is; times and ids differ.
  const kinds = (rollout: RolloutRecord): readonly string[] => {
    const log = workbench.store.artifactsOf(rollout.id).find(({ name }) => name.endsWith(".jsonl"))?.name ?? "";
    return artifact(rollout, log).match(/(?<=^\{"at":"[^"]*",)"type":"\w+"/gm) ?? [];
  };
  const [ofResident = [], ofAlone = []] = rollouts.map(kinds);
  expect(ofResident.length).toBeGreaterThan(odd.length);
  expect(ofResident).toEqual(ofAlone);
});

test("each rollout has a workspace of its own, and one process serves them all", { timeout: 120_000 }, async () => {
  const scripted = policy("own", [shell("ls -A; echo mine >> mine.txt; cat mine.txt; (sleep 300 &) ; echo started"), { text: "Done." }]);
  const rollouts = await run({ tasks: [task("own")], policies: [scripted], k: 4, concurrency: 1 });
  expect(rollouts.map(({ reward }) => reward)).toEqual([1, 1, 1, 1]);
  const seen = rollouts.map((rollout) => bodies(rollout).at(-1) ?? "");
  for (const body of seen) expect(body).toContain(JSON.stringify("mine\nstarted").slice(1, -1));
  const counted = await run({
    tasks: [task("counted", { test: "cat /logs/agent/final.txt > /logs/verifier/reward.txt" })],
    harnesses: ["resident-counting"],
    k: 3,
  });
  const texts = counted.map((rollout) => artifact(rollout, "final.txt"));
  expect(new Set(texts.map((text) => text.split(" ")[1])).size).toBeLessThanOrEqual(2);
  expect(texts.map((text) => Number(text.split(" ")[0])).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(3);
});

test.each([
  ["resident-dying", "The resident harness ended."],
  ["resident-babbling", "wrote something that is no message"],
])("%s is a harness failure of its own rollout", { timeout: 60_000 }, async (harness, why) => {
  const rollouts = await run({ tasks: [task(harness)], harnesses: [harness, "resident-counting"], k: 2, concurrency: 2 });
  for (const { outcome } of rollouts.slice(0, 2)) {
    expect(outcome).toMatchObject({ status: "harness-failure", action: "mask" });
    expect(outcome?.detail).toContain(why);
  }
  for (const rollout of rollouts.slice(2)) expect(artifact(rollout, "final.txt")).not.toBe("");
});

test("a harness that does not end its session is replaced, and its rollout graded", { timeout: 60_000 }, async () => {
  const [rollout] = await run({
    tasks: [task("hanging", { test: "cat /app/began > /logs/verifier/reward-details.txt; echo 1 > /logs/verifier/reward.txt" })],
    harnesses: ["resident-hanging"],
    agentTimeoutSeconds: 2,
  });
  expect(rollout?.outcome).toMatchObject({ status: "harness-failure" });
  expect(rollout?.outcome?.detail).toContain("did not end its session");
});

test("an agent out of time is stopped within its command, and its process serves the next", { timeout: 60_000 }, async () => {
  const scripted = policy("endless", [shell("echo here > here; sleep 300"), { text: "Done." }]);
  const graded = { test: "if [ -f /app/here ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt" };
  const rollouts = await run({ tasks: [task("endless", graded)], policies: [scripted], k: 2, concurrency: 1, agentTimeoutSeconds: 2 });
  expect(rollouts.map(({ outcome, reward }) => [outcome?.status, reward])).toEqual([
    ["agent-timeout", 1],
    ["agent-timeout", 1],
  ]);
});

test("a cancelled rollout stops its session, and its process serves the next", { timeout: 60_000 }, async () => {
  const scripted = policy("cancelled", [shell("sleep 300"), { text: "Done." }]);
  const spec = experimentSpecSchema.parse({ tasks: [task("cancelled")], policies: [scripted], k: 2, concurrency: 1 });
  const id = await workbench.rollouts.startExperiment(spec);
  const rollouts = (): readonly RolloutRecord[] => workbench.store.rolloutsOf(id);
  const running = (): RolloutRecord | undefined => rollouts().find(({ calls, phase }) => calls > 0 && phase === "running");
  await expect.poll(() => running()?.groupIndex, { timeout: 20_000 }).toBe(0);
  const before = slots();
  await workbench.rollouts.cancelRollout(running()?.id ?? "");
  await expect.poll(() => running()?.groupIndex, { timeout: 20_000 }).toBe(1);
  expect(slots()).toEqual(before);
  await workbench.rollouts.cancel(id);
  expect(rollouts().map(({ outcome }) => outcome?.status)).toEqual(["cancelled", "cancelled"]);
});

test("what is left when the service closes is nothing", { timeout: 60_000 }, async () => {
  const data = join(folder, "second");
  const second = await bootWorkbench({ dataFolder: data });
  const scripted = policy("closing", [shell("sleep 300"), { text: "Done." }]);
  const id = await second.rollouts.startExperiment(experimentSpecSchema.parse({ tasks: [task("closing")], policies: [scripted], k: 2 }));
  await expect.poll(() => second.store.rolloutsOf(id).filter((rollout) => rollout.calls > 0).length, { timeout: 20_000 }).toBe(2);
  await second.close();
  expect(readdirSync(join(data, "sandboxes", "local"))).toEqual([]);
});
