/** What an attempt needs before its sandbox is made, and the time that each of its phases may take. */
import { WorkbenchError } from "../errors.ts";
import type { HarnessManifest, HarnessRegistry } from "../harnesses/index.ts";
import type { ProxySession, Proxy as RecordingProxy, SessionOptions, Upstream } from "../proxy/index.ts";
import type { EgressConnection, HarnessMount, SandboxProvider } from "../sandboxes/index.ts";
import type { RolloutRecord, Store, TokenMode } from "../store/index.ts";
import { checkTask, type Healthcheck, runsOf, setupLimitMs, type Task, type TaskPart, type TaskStep } from "../tasks/index.ts";
import { agentAlone } from "./agent-alone.ts";
import type { AgentHost } from "./agent-host.ts";
import { type Collector, createCollector } from "./collect.ts";
import { requireFreeDisk } from "./free-disk.ts";
import type { LogDetails } from "./log-line.ts";
import type { Opened } from "./opened.ts";
import { refusalOf } from "./preflight.ts";
import { agentResident } from "./resident/agent-resident.ts";
import type { SlotPool } from "./resident/slot-pool.ts";
import type { UpstreamLease } from "./upstream-pool.ts";

export interface AttemptOptions {
  readonly store: Store;
  readonly proxy: RecordingProxy;
  readonly harnesses: HarnessRegistry;
  readonly slots: SlotPool;
  readonly provider: SandboxProvider;
  leaseUpstream(): Promise<UpstreamLease>;
  /** null = as the upstream can. */
  readonly tokenMode: TokenMode | null;
  readonly ownerId: string;
  readonly socketFolder: string;
  readonly scratchFolder: string;
  readonly freeDiskBytes: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly rollout: RolloutRecord;
  /** 0-based. */
  readonly attempt: number;
  /** Overrides the task's agent budget. */
  readonly agentTimeoutMs: number | null;
  /** Keep the final state of the box for later verifiers. */
  readonly keepWorkspace: boolean;
  readonly signal: AbortSignal;
}

export interface Prepared {
  readonly task: Task;
  readonly manifest: HarnessManifest;
  readonly mount: HarnessMount;
  readonly host: AgentHost;
  readonly session: ProxySession;
  readonly collector: Collector;
  readonly contextWindow: number;
  readonly startMs: number;
}

const minute = 60_000;
/** Budgets of the phases that neither task nor harness sets. */
export const budgets = {
  preparing: 15 * minute,
  starting: 5 * minute,
  stopping: minute,
  collecting: 5 * minute,
  agent: 30 * minute,
  /** Over all calls of a rollout: how long they may wait for the policy, beside the agent's own time. */
  policyWait: 120 * minute,
} as const;

export async function prepare(options: AttemptOptions, signal: AbortSignal, opened: Opened): Promise<Prepared> {
  const { store, rollout, attempt, harnesses, provider } = options;
  await requireFreeDisk(store.dataFolder, options.freeDiskBytes);
  const task = await unchangedTask(rollout);
  const manifest = await harnesses.get(rollout.harness);
  const refusal = refusalOf(task, provider, [manifest]);
  if (refusal !== null) throw refusal;
  const mount = await harnesses.install(rollout.harness, (line) => log(options, line), signal);
  const collecting = await createCollector({
    store,
    scratchFolder: options.scratchFolder,
    rolloutId: rollout.id,
    attempt,
    onLoss: (line) => log(options, line, { loss: true }),
  });
  const collector = await opened.keep(collecting, (kept) => kept.dispose());
  const { upstream } = await opened.keep(await options.leaseUpstream(), (lease) => lease.release());
  const host = await hostOf(options, { task, manifest, mount }, opened);
  const opening = await options.proxy.openSession({
    ...host.link,
    rolloutId: rollout.id,
    attempt,
    upstream,
    tokenMode: options.tokenMode ?? usualTokenMode(upstream),
    quirks: quirksOf(manifest),
    secrets: secretsOf(task, options.env),
    maxTokens: manifest.limits.maxTokens,
    labels: { task: task.name, harness: manifest.id },
    seed: rollout.seed,
  });
  const session = await opened.keep(opening, (kept) => kept.close());
  const builds = task.environment.dockerfile || task.environment.compose ? task.environment.buildTimeoutMs : 0;
  const contextWindow = Math.min(manifest.limits.contextWindow, upstream.contextWindow ?? Number.POSITIVE_INFINITY);
  return { task, manifest, mount, host, session, collector, contextWindow, startMs: budgets.starting + builds };
}

/** Resident where the harness, the sandbox and the task allow it: a task's MCP servers are the harness's own children. */
async function hostOf(
  options: AttemptOptions,
  { task, manifest, mount }: Pick<Prepared, "task" | "manifest" | "mount">,
  opened: Opened,
): Promise<AgentHost> {
  const { provider, socketFolder } = options;
  const proxyAddress = options.proxy.address;
  const fits = manifest.resident !== undefined && provider.holdsPrograms && task.environment.mcpServers.length === 0;
  // Without isolation an agent of its own would run what it likes: the preflight has refused it.
  if (!fits && !provider.isolates) throw new Error("an agent may not run alone without isolation");
  if (!fits) {
    const agentMs = Math.max(...runsOf(task).map(({ part }) => agentBudget(options, part)));
    return agentAlone({ mount, socketFolder, proxyAddress, guardMs: runningBudget({ agentMs }) });
  }
  const { slot } = await opened.keep(await options.slots.take({ manifest, mount, provider }), (lease) => lease.release());
  return agentResident({ slot, proxyAddress, checksCommands: !provider.isolates });
}

/** All budgets and a margin: fires only when a phase's own budget did not. */
export function totalBudget(options: AttemptOptions, prepared: Prepared): number {
  const runs = runsOf(prepared.task).map(({ step, part }) => {
    const running = runningBudget({ agentMs: agentBudget(options, part) });
    return setupBudget(options, prepared, step) + running + budgets.stopping + collectingBudget(part) + verifyingBudget(part);
  });
  return runs.reduce((sum, ms) => sum + ms, prepared.startMs + 2 * minute);
}

export function setupBudget({ provider }: AttemptOptions, { task, manifest }: Pick<Prepared, "task" | "manifest">, step: TaskStep | null): number {
  const script = step?.setup === true ? setupLimitMs : 0;
  // A container starts at its first use, and then does what its image has it do.
  const start = provider.kind === "docker" ? budgets.starting : 0;
  return start + manifest.limits.setupSeconds * 1000 + healthMs(task.environment.healthcheck) + healthMs(step?.healthcheck ?? null) + script;
}

function healthMs(check: Healthcheck | null): number {
  return check === null ? 0 : check.startPeriodMs + check.retries * (check.intervalMs + check.timeoutMs);
}

export function agentBudget({ agentTimeoutMs }: Pick<AttemptOptions, "agentTimeoutMs">, { agent }: TaskPart): number {
  return agentTimeoutMs ?? agent.timeoutMs ?? budgets.agent;
}

export function collectingBudget({ verifier }: TaskPart): number {
  return verifier.collect.reduce((sum, { timeoutMs }) => sum + timeoutMs, budgets.collecting);
}

/** The agent's clock ends it in time; this is for a clock, or a program, that does not. */
export function runningBudget({ agentMs }: { readonly agentMs: number }): number {
  return agentMs + budgets.policyWait + minute;
}

export function verifyingBudget({ verifier }: TaskPart): number {
  return verifier.timeoutMs + (verifier.box === null ? 0 : budgets.starting + verifier.box.buildTimeoutMs) + minute;
}

/** A line of the rollout's log. */
export function log({ store, rollout }: Pick<AttemptOptions, "store" | "rollout">, line: string, also: LogDetails = {}): void {
  const payload = JSON.stringify({ line, ...also });
  store.appendEvent({ at: Date.now(), experimentId: rollout.experimentId, rolloutId: rollout.id, type: "log", payload });
}

/** A way out that something in a sandbox of the rollout took, or was refused. */
export function recordConnection({ store, rollout, attempt }: AttemptOptions, connection: EgressConnection): void {
  const payload = JSON.stringify({ attempt, ...connection });
  store.appendEvent({ at: Date.now(), experimentId: rollout.experimentId, rolloutId: rollout.id, type: "rollout.egress", payload });
}

/** Where nobody chose one: token-in when the policy can. */
export function usualTokenMode({ takesTokenIds, tokenizerFolder }: Upstream): TokenMode {
  return takesTokenIds && tokenizerFolder !== null ? "as-sampled" : "text-in";
}

async function unchangedTask(rollout: RolloutRecord): Promise<Task> {
  const { task, digest } = await checkTask(rollout.taskPath);
  if (task !== null && digest === rollout.taskDigest) return task;
  const what = task === null ? "can no longer be read" : "was changed after the experiment was started";
  throw new WorkbenchError("task", `The task package ${rollout.taskPath} ${what}.`, "Start a new experiment.");
}

function quirksOf({ session, quirks }: HarnessManifest): SessionOptions["quirks"] {
  const { volatileFields, keepaliveComments, returnsForAnswer } = quirks;
  const sessionHeaders = session.headers.map((name) => name.toLowerCase());
  return { sessionHeaders, sideCalls: session.sideCalls, volatileFields, keepaliveComments, returnsForAnswer };
}

function secretsOf(task: Task, env: AttemptOptions["env"]): readonly { name: string; value: string }[] {
  return task.secrets.map((name) => {
    const value = env[name];
    if (value !== undefined && value !== "") return { name, value };
    throw new WorkbenchError(
      "task",
      `The task ${task.name} needs the secret ${name}, which is not set.`,
      `Set ${name} in the environment of the workbench.`,
    );
  });
}
