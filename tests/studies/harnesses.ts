/**
 * Real harnesses, unmodified, in front of the scripted policy: do they solve the starter tasks, in both sandboxes? What happens when they
 * compact, when a request fails, when the model is shown a picture? How do their calls become chains?
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxKind } from "../../main/sandboxes/index.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { rebuildTrajectories } from "../../main/trajectories/index.ts";
import { writeSmallTask } from "../contract/small-task.ts";
import { picture } from "./form/picture.ts";
import type { Finding, Study, StudyOptions, Table } from "./form/study.ts";
import { type StudyBench, withWorkbench } from "./form/workbench.ts";

/** Those that a fresh machine installs in a minute or two. */
const quick = ["react", "codex", "claude-code", "pi", "gemini-cli", "mini-swe-agent"];
const starters = ["sort-downloads", "merge-contacts", "revert-commit"];
const tasksFolder = join(import.meta.dirname, "../../resources/tasks");
const script = (name: string): string => `scripted:${join(import.meta.dirname, "policies", `${name}.yaml`)}`;

export const study: Study = (options) =>
  withWorkbench(options, async (bench) => {
    const listed = (await bench.workbench.harnesses.list()).map(({ id }) => id);
    const harnesses = listed.filter((id) => (options.only ?? (options.short ? quick : listed)).includes(id));
    const sandboxes = await readySandboxes(bench);
    const tables = [await solving(bench, harnesses, sandboxes, options), await situations(bench, harnesses, options)];
    return {
      title: "Harnesses",
      method: [
        `The scripted policy answers ${harnesses.length} harnesses; sandboxes: ${sandboxes.join(", ")}. A chain is what is trained as one sequence; a break says why a call began a new one.`,
      ],
      tables: tables.map(({ table }) => table),
      promised: tables.flatMap(({ promised }) => promised),
      found: [],
    };
  });

interface Part {
  readonly table: Table;
  readonly promised: readonly Finding[];
}

async function readySandboxes({ workbench }: StudyBench): Promise<readonly SandboxKind[]> {
  const kinds: SandboxKind[] = ["local", "docker"];
  const ready = await Promise.all(kinds.map(async (kind) => (await workbench.sandboxes[kind].probe()).ready));
  return kinds.filter((_kind, index) => ready[index] === true);
}

async function solving(bench: StudyBench, harnesses: readonly string[], sandboxes: readonly SandboxKind[], options: StudyOptions): Promise<Part> {
  const rows: string[][] = [];
  const promised: Finding[] = [];
  for (const harness of harnesses) {
    const { mcp, prefix } = await bench.workbench.harnesses.get(harness);
    const tasks = [...starters, ...(mcp === undefined ? [] : ["restock-warehouse"])].map((name) => join(tasksFolder, name));
    const byKind: string[] = [];
    const all: RolloutRecord[] = [];
    for (const sandbox of sandboxes) {
      const rollouts = await bench.run({ tasks, harnesses: [harness], policies: ["scripted"], sandbox });
      const solved = rollouts.filter(({ reward }) => reward === 1).length;
      byKind.push(`${solved} of ${rollouts.length}`);
      promised.push({
        statement: `${harness} solves ${tasks.length} starter tasks in the ${sandbox} sandbox (${solved})`,
        holds: solved === tasks.length,
      });
      for (const rollout of rollouts)
        if (rollout.reward !== 1)
          options.report(`${harness}, ${rollout.taskName}, ${sandbox}: ${rollout.outcome?.status} ${rollout.outcome?.detail ?? ""}`);
      all.push(...rollouts);
    }
    const version = all[0]?.harnessVersion ?? "";
    const breaks = breaksOf(bench, all);
    if (prefix === "exact")
      promised.push({
        statement: `${harness}: each request begins with the one before and its answer, as its manifest says`,
        holds: breaks === "none",
      });
    rows.push([harness, version, dialectsOf(bench, all), prefix, ...byKind, chainsOf(all), breaks, medianSeconds(all)]);
    options.report(`${harness} ${version}: ${byKind.join(", ")}`);
  }
  const columns = [
    "harness",
    "version",
    "dialect",
    "extends, by its manifest",
    ...sandboxes.map((kind) => `solved, ${kind}`),
    "chains a rollout",
    "breaks",
    "seconds (median)",
  ];
  return { table: { title: "Starter tasks", columns, rows }, promised };
}

interface Situation {
  readonly name: "compacting" | "retried" | "looking";
  readonly task: string;
  readonly sandbox: SandboxKind;
}

/** What each harness does by itself; promised is that the record stays whole, and that the harness lives on after a failed request. */
async function situations(bench: StudyBench, harnesses: readonly string[], options: StudyOptions): Promise<Part> {
  const wanted = situationTasks(bench.folder);
  const rows: string[][] = [];
  const promised: Finding[] = [];
  for (const harness of harnesses) {
    const cells = [harness];
    const runs = wanted.map(({ name, task, sandbox }) => bench.run({ tasks: [task], harnesses: [harness], policies: [script(name)], sandbox }));
    for (const [index, [rollout]] of (await Promise.all(runs)).entries()) {
      const name = wanted[index]?.name;
      if (rollout === undefined || name === undefined) throw new Error("no rollout");
      const trajectories = rebuildTrajectories(bench.workbench.store, rollout.id);
      const masked = trajectories.chains.reduce((sum, { number }) => sum + ones(trajectories.tokensOf(number).mask), 0);
      const sampled = bench.workbench.store.nodesOf(rollout.id).reduce((sum, node) => sum + node.sampledIds.length, 0);
      promised.push({
        statement: `${harness}, ${name}: every delivered token is trained at most once`,
        holds: masked <= sampled && masked === trajectories.trainedTokens,
      });
      if (name === "retried")
        promised.push({ statement: `${harness} asks again after a failed request and solves its task`, holds: rollout.reward === 1 });
      cells.push(situationCell(bench, name, rollout, trajectories.breaks));
    }
    rows.push(cells);
    options.report(cells.join(" · "));
  }
  const columns = ["harness", "window nearly full", "a 500 from the server", "a picture"];
  return { table: { title: "Situations", columns, rows }, promised };
}

function situationTasks(folder: string): readonly Situation[] {
  const test =
    '[ "$(cat /app/one.txt)" = one ] && [ "$(cat /app/two.txt)" = two ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt';
  const task = writeSmallTask(join(folder, "two-files"), { name: "two-files", instruction: "Write one.txt and two.txt.", test });
  const seen = writeSmallTask(join(folder, "picture"), {
    name: "picture",
    instruction: "Look at picture.png, then write one.txt and two.txt.",
    test,
    files: { "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\nCOPY picture.png /app/picture.png\n" },
  });
  writeFileSync(join(seen, "environment/picture.png"), picture());
  return [
    { name: "compacting", task, sandbox: "local" },
    { name: "retried", task, sandbox: "local" },
    { name: "looking", task: seen, sandbox: "docker" },
  ];
}

function situationCell(bench: StudyBench, name: string, rollout: RolloutRecord, breaks: Readonly<Partial<Record<string, number>>>): string {
  const calls = bench.workbench.store.callsOf(rollout.id);
  const outcome = `${rollout.outcome?.status ?? "?"}, ${calls.length} calls, ${rollout.chains} chains`;
  const causes = Object.entries(breaks).map(([cause, count]) => `${count} ${cause}`);
  if (name === "retried") return `${outcome}; ${calls.filter(({ status }) => status === "error").length} failed and asked again`;
  if (name === "looking")
    return `${outcome}; ${calls.some(({ id }) => bench.workbench.store.attachmentsOf(id).length > 0) ? "the picture reached the model" : "no picture reached the model"}`;
  return `${outcome}${causes.length === 0 ? "; no break" : `; ${causes.join(", ")}`}`;
}

function ones(mask: ArrayLike<number>): number {
  return Array.from(mask).reduce((sum, bit) => sum + bit, 0);
}

function dialectsOf({ workbench }: StudyBench, rollouts: readonly RolloutRecord[]): string {
  return [...new Set(rollouts.flatMap(({ id }) => workbench.store.callsOf(id).map(({ dialect }) => dialect)))].join(", ");
}

function chainsOf(rollouts: readonly RolloutRecord[]): string {
  const counts = rollouts.map(({ chains }) => chains);
  const low = Math.min(...counts);
  const high = Math.max(...counts);
  return low === high ? String(low) : `${low}–${high}`;
}

function breaksOf({ workbench }: StudyBench, rollouts: readonly RolloutRecord[]): string {
  const totals = new Map<string, number>();
  for (const { id } of rollouts)
    for (const [cause, count] of Object.entries(rebuildTrajectories(workbench.store, id).breaks))
      totals.set(cause, (totals.get(cause) ?? 0) + (count ?? 0));
  return totals.size === 0 ? "none" : [...totals].map(([cause, count]) => `${count} ${cause}`).join(", ");
}

function medianSeconds(rollouts: readonly RolloutRecord[]): string {
  const seconds = rollouts.map(({ startedAt, endedAt }) => ((endedAt ?? 0) - (startedAt ?? 0)) / 1000).toSorted((left, right) => left - right);
  return (seconds[seconds.length >> 1] ?? 0).toFixed(1);
}
