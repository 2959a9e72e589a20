/**
 * One attempt of one rollout, from preparing to its facts. Everything opened is closed on every path; what goes wrong becomes a fact.
 * The verdict on those facts is not made here (engine/outcome), nor whether there is another attempt (rollout.ts).
 */
import type { AgentFacts, AttemptFacts, AttemptStop, Verdict } from "../../engine/outcome/index.ts";
import { WorkbenchError } from "../errors.ts";
import { type HarnessManifest, type HarnessRegistry, prepareLaunch, sandboxArchitecture } from "../harnesses/index.ts";
import type { ProxySession, Proxy as RecordingProxy, Upstream } from "../proxy/index.ts";
import type { ExecResult, HarnessMount, IsolationReport, Sandbox, SandboxProvider } from "../sandboxes/index.ts";
import type { RolloutRecord, Store, TokenMode } from "../store/index.ts";
import { checkTask, layOutTask, resolveHeaders, resolveVariables, sandboxRequest, type Task } from "../tasks/index.ts";
import { runVerifier, type VerifierResult } from "../verifiers/index.ts";
import { GuardTimeout, stopOf } from "./attempt-stop.ts";
import { type Collector, createCollector } from "./collect.ts";
import { requireFreeDisk } from "./free-disk.ts";
import { Opened } from "./opened.ts";
import { createPhaseRecorder, type PhaseRecorder } from "./phases.ts";
import { refusalOf } from "./preflight.ts";
import { type AgentRun, agentFacts, runAgent, setUpAgent, writeFinalText } from "./run-agent.ts";
import type { UpstreamLease } from "./upstream-pool.ts";

export interface AttemptOptions {
  readonly store: Store;
  readonly proxy: RecordingProxy;
  readonly harnesses: HarnessRegistry;
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
  readonly signal: AbortSignal;
}

export interface AttemptResult {
  readonly facts: AttemptFacts;
  readonly verifier: VerifierResult | null;
  readonly isolation: IsolationReport | null;
  readonly fingerprint: Readonly<Record<string, string>> | null;
}

/** The same for every policy: no prompt tells which one answers, and no harness knows a model of this name. */
const policyModelName = "workbench-policy";

const minute = 60_000;
/** Budgets of the phases that neither task nor harness sets. */
const budgets = { preparing: 15 * minute, starting: 5 * minute, stopping: minute, collecting: 5 * minute, agent: 30 * minute } as const;

/** Rejects only when `signal` was aborted by a closing service, with its reason; a cancelled attempt is a fact. */
export async function runAttempt(options: AttemptOptions): Promise<AttemptResult> {
  const guard = new AbortController();
  const signal = AbortSignal.any([options.signal, guard.signal]);
  const { store, rollout, attempt } = options;
  const phases = createPhaseRecorder({ store, rollout, attempt, signal });
  const opened = new Opened();
  const course: Course = { agent: null, verifier: null };
  let timer: NodeJS.Timeout | undefined;
  let stop: AttemptStop | null = null;
  try {
    const prepared = await phases.run("preparing", budgets.preparing, (phaseSignal) => prepare(options, phaseSignal, opened));
    const guardMs = totalBudget(prepared);
    timer = setTimeout(() => guard.abort(new GuardTimeout(guardMs)), guardMs);
    await takeCourse(options, phases, prepared, opened, course);
  } catch (error) {
    if (!options.signal.aborted) stop = stopOf(phases.current, error);
  } finally {
    clearTimeout(timer);
    await opened.close();
  }
  const cancelled = options.signal.aborted;
  const verdict: Verdict | null = course.verifier;
  const { sandbox } = course;
  return {
    facts: { cancelled, stop, agent: course.agent, verdict },
    verifier: course.verifier,
    isolation: sandbox?.isolation ?? null,
    fingerprint: sandbox === undefined ? null : { ...sandbox.fingerprint, ...course.fingerprint },
  };
}

interface Course {
  sandbox?: Sandbox;
  agent: AgentFacts | null;
  verifier: VerifierResult | null;
  fingerprint?: Readonly<Record<string, string>>;
}

interface Prepared {
  readonly task: Task;
  readonly manifest: HarnessManifest;
  readonly mount: HarnessMount;
  readonly session: ProxySession;
  readonly collector: Collector;
  /** Of the policy, where it says it. */
  readonly contextWindow: number | null;
  readonly agentMs: number;
  readonly startMs: number;
}

async function prepare(options: AttemptOptions, signal: AbortSignal, opened: Opened): Promise<Prepared> {
  const { store, rollout, attempt, harnesses } = options;
  await requireFreeDisk(store.dataFolder, options.freeDiskBytes);
  const task = await unchangedTask(rollout);
  const manifest = await harnesses.get(rollout.harness);
  const refusal = refusalOf(task, options.provider.kind, [manifest]);
  if (refusal !== null) throw refusal;
  const mount = await harnesses.install(rollout.harness, (line) => log(options, line), signal);
  const collecting = await createCollector({
    store,
    scratchFolder: options.scratchFolder,
    rolloutId: rollout.id,
    attempt,
    onLoss: (line) => log(options, line),
  });
  const collector = await opened.keep(collecting, (kept) => kept.dispose());
  const { upstream } = await opened.keep(await options.leaseUpstream(), (lease) => lease.release());
  const opening = await options.proxy.openSession({
    rolloutId: rollout.id,
    attempt,
    upstream,
    tokenMode: options.tokenMode ?? tokenModeOf(upstream),
    socketFolder: options.socketFolder,
    quirks: { sessionHeaders: manifest.session.headers.map((name) => name.toLowerCase()), ...quirksOf(manifest) },
    secrets: secretsOf(task, options.env),
    maxTokens: manifest.limits.maxTokens,
    labels: { task: task.name, harness: manifest.id },
    seed: rollout.seed,
  });
  const session = await opened.keep(opening, (kept) => kept.close());
  const agentMs = options.agentTimeoutMs ?? task.agent.timeoutMs ?? budgets.agent;
  const builds = task.environment.dockerfile ? task.environment.buildTimeoutMs : 0;
  return { task, manifest, mount, session, collector, contextWindow: upstream.contextWindow, agentMs, startMs: budgets.starting + builds };
}

/** All budgets and a margin: fires only when a phase's own budget did not. */
function totalBudget(prepared: Prepared): number {
  const { task, agentMs, startMs } = prepared;
  return startMs + setupBudget(prepared) + agentMs + budgets.stopping + budgets.collecting + verifyingBudget(task) + 2 * minute;
}

function setupBudget({ task, manifest }: Prepared): number {
  const check = task.environment.healthcheck;
  const health = check === null ? 0 : check.startPeriodMs + check.retries * (check.intervalMs + check.timeoutMs);
  return manifest.limits.setupSeconds * 1000 + health;
}

function verifyingBudget(task: Task): number {
  return task.verifier.timeoutMs + (task.verifier.separate ? budgets.starting + task.environment.buildTimeoutMs : 0) + minute;
}

async function takeCourse(options: AttemptOptions, phases: PhaseRecorder, prepared: Prepared, opened: Opened, course: Course): Promise<void> {
  const { provider, rollout } = options;
  const { task, manifest, mount, session } = prepared;
  const request = sandboxRequest(task, provider.kind, { rolloutId: rollout.id, ownerId: options.ownerId, proxySocket: session.socketPath });
  const sandbox = await phases.run("starting", prepared.startMs, async (signal) => {
    const created = await provider.create(request, (line) => log(options, line), signal);
    course.sandbox = await opened.keep(created, (kept) => kept.destroy());
    return created;
  });

  const run = await phases.run("setup", setupBudget(prepared), async (signal) => {
    await sandbox.provide(mount);
    course.fingerprint = fingerprintOf(task, manifest, mount);
    await layOutTask(sandbox, task, options.env, signal);
    const launch = prepareLaunch(manifest, {
      origin: `${sandbox.modelBaseHost ?? `http://${options.proxy.address}`}${session.path}`,
      key: session.key,
      model: policyModelName,
      workdir: request.workdir,
      instruction: task.instruction,
      mcpServers: task.environment.mcpServers.map((server) => ({ ...server, headers: resolveHeaders(server.headers, options.env) })),
      environment: resolveVariables(task.environment.env, options.env),
      architecture: sandboxArchitecture(),
      contextWindow: Math.min(manifest.limits.contextWindow, prepared.contextWindow ?? Number.POSITIVE_INFINITY),
    });
    const agentRun: AgentRun = { manifest, launch, workdir: request.workdir, user: task.agent.user, timeoutMs: prepared.agentMs };
    await setUpAgent(sandbox, agentRun);
    return agentRun;
  });

  // The sandbox ends the program at its budget; the phase waits a little longer, for that to happen.
  const result = await phases.run("running", prepared.agentMs + minute, (signal) => runAgent(sandbox, run, signal));
  await phases.run("stopping", budgets.stopping, async () => {
    session.endAgentPhase();
    await sandbox.killAll();
  });
  course.agent = agentFacts(manifest, result, session);
  await phases.run("collecting", budgets.collecting, () => collect(sandbox, prepared, result));
  const verifier = await phases.run("verifying", verifyingBudget(task), (signal) => verify(options, sandbox, prepared, signal));
  course.verifier = verifier;
}

async function collect(sandbox: Sandbox, { manifest, task, collector }: Prepared, result: ExecResult): Promise<void> {
  await writeFinalText(sandbox, manifest, result);
  collector.keepOutput(result);
  await collector.collectFrom(sandbox, task);
}

async function verify(options: AttemptOptions, sandbox: Sandbox, { task, collector }: Prepared, signal: AbortSignal): Promise<VerifierResult> {
  const result = await runVerifier(sandbox, task, {
    outputFolder: collector.verifierFolder,
    environment: options.env,
    provider: options.provider,
    ownerId: options.ownerId,
    rolloutId: options.rollout.id,
    onProgress: (line) => log(options, line),
    signal,
  });
  await collector.keepVerifierOutput();
  return result;
}

function tokenModeOf({ takesTokenIds, tokenizerFolder }: Upstream): TokenMode {
  return takesTokenIds && tokenizerFolder !== null ? "as-sampled" : "text-in";
}

async function unchangedTask(rollout: RolloutRecord): Promise<Task> {
  const { task, digest } = await checkTask(rollout.taskPath);
  if (task !== null && digest === rollout.taskDigest) return task;
  const what = task === null ? "can no longer be read" : "was changed after the experiment was started";
  throw new WorkbenchError("task", `The task package ${rollout.taskPath} ${what}.`, "Start a new experiment.");
}

function quirksOf({ quirks }: HarnessManifest): Pick<HarnessManifest["quirks"], "volatileFields" | "keepaliveComments" | "returnsForAnswer"> {
  const { volatileFields, keepaliveComments, returnsForAnswer } = quirks;
  return { volatileFields, keepaliveComments, returnsForAnswer };
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

function fingerprintOf(task: Task, manifest: HarnessManifest, mount: HarnessMount): Readonly<Record<string, string>> {
  return {
    harness: `${manifest.id} ${manifest.version}`,
    harnessInstall: mount.version,
    workbenchNode: process.version,
    taskDigest: task.digest,
    taskChecksum: task.checksum,
  };
}

function log({ store, rollout }: AttemptOptions, line: string): void {
  store.appendEvent({ at: Date.now(), experimentId: rollout.experimentId, rolloutId: rollout.id, type: "log", payload: JSON.stringify({ line }) });
}
