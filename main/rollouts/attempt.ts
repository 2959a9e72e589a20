/**
 * One attempt of one rollout, from preparing to its facts. Everything opened is closed on every path; what goes wrong becomes a fact.
 * The verdict on those facts is not made here (engine/outcome), nor whether there is another attempt (run-rollout.ts).
 */
import type { AgentFacts, AttemptFacts, AttemptStop } from "../../engine/outcome/index.ts";
import { type HarnessManifest, harnessLogs } from "../harnesses/index.ts";
import type { HarnessMount, IsolationReport, Sandbox } from "../sandboxes/index.ts";
import { layOutTask, resolveHeaders, resolveVariables, sandboxRequest, type Task } from "../tasks/index.ts";
import { runVerifier, type VerifierResult } from "../verifiers/index.ts";
import { type AgentClock, startAgentClock } from "./agent-clock.ts";
import { type AgentEnd, type AgentTask, agentFacts } from "./agent-host.ts";
import { GuardTimeout, stopOf } from "./attempt-stop.ts";
import { Opened } from "./opened.ts";
import { createPhaseRecorder, type PhaseRecorder } from "./phases.ts";
import { type AttemptOptions, budgets, log, type Prepared, prepare, runningBudget, setupBudget, totalBudget, verifyingBudget } from "./prepare.ts";

export interface AttemptResult {
  readonly facts: AttemptFacts;
  readonly verifier: VerifierResult | null;
  readonly isolation: IsolationReport | null;
  readonly fingerprint: Readonly<Record<string, string>> | null;
  /** Seconds that its calls waited for the policy; null = the agent never ran. */
  readonly policyWaitSeconds: number | null;
}

/** Rejects only when `signal` was aborted by a closing service, with its reason; a cancelled attempt is a fact. */
export async function runAttempt(options: AttemptOptions): Promise<AttemptResult> {
  const guard = new AbortController();
  const signal = AbortSignal.any([options.signal, guard.signal]);
  const { store, rollout, attempt } = options;
  const phases = createPhaseRecorder({ store, rollout, attempt, signal });
  const opened = new Opened();
  const course: Course = { agent: null, verifier: null, clock: null };
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
    course.clock?.stop();
    await opened.close();
  }
  const { sandbox, clock } = course;
  return {
    facts: { cancelled: options.signal.aborted, stop, agent: course.agent, verdict: course.verifier },
    verifier: course.verifier,
    isolation: sandbox?.isolation ?? null,
    fingerprint: sandbox === undefined ? null : { ...sandbox.fingerprint, ...course.fingerprint },
    policyWaitSeconds: clock === null ? null : clock.waitedMs / 1000,
  };
}

interface Course {
  sandbox?: Sandbox;
  agent: AgentFacts | null;
  verifier: VerifierResult | null;
  fingerprint?: Readonly<Record<string, string>>;
  clock: AgentClock | null;
}

async function takeCourse(options: AttemptOptions, phases: PhaseRecorder, prepared: Prepared, opened: Opened, course: Course): Promise<void> {
  const { provider, rollout } = options;
  const { task, manifest, mount, session, host } = prepared;
  const request = sandboxRequest(task, provider.kind, {
    rolloutId: rollout.id,
    ownerId: options.ownerId,
    proxySocket: host.proxySocket(session),
  });
  const sandbox = await phases.run("starting", prepared.startMs, async (signal) => {
    const created = await provider.create(request, (line) => log(options, line), signal);
    course.sandbox = await opened.keep(created, (kept) => kept.destroy());
    return created;
  });

  const agent: AgentTask = {
    ...{ task, manifest, session, workdir: request.workdir, contextWindow: prepared.contextWindow },
    sessionId: `${rollout.id}-${options.attempt}`,
    environment: resolveVariables(task.environment.env, options.env),
    mcpServers: task.environment.mcpServers.map((server) => ({ ...server, headers: resolveHeaders(server.headers, options.env) })),
  };
  await phases.run("setup", setupBudget(prepared), async (signal) => {
    await host.provide(sandbox);
    course.fingerprint = fingerprintOf(task, manifest, mount);
    await layOutTask(sandbox, task, options.env, signal);
    await host.setUp(sandbox, agent);
  });

  const end = await phases.run("running", runningBudget(prepared), async (signal) => {
    const clock = startAgentClock(prepared.agentMs);
    course.clock = clock;
    session.onPolicyWait(clock);
    const ended = await host.run(sandbox, agent, clock, signal);
    clock.stop();
    return ended;
  });
  await phases.run("stopping", budgets.stopping, async () => {
    session.endAgentPhase();
    await sandbox.killAll();
  });
  course.agent = agentFacts(manifest, end, session);
  await phases.run("collecting", budgets.collecting, () => collect(sandbox, prepared, end));
  course.verifier = await phases.run("verifying", verifyingBudget(task), (signal) => verify(options, sandbox, prepared, signal));
}

async function collect(sandbox: Sandbox, { task, collector }: Prepared, { finalText, logs }: AgentEnd): Promise<void> {
  // Verifiers find it where every harness's is.
  if (finalText !== null) await sandbox.writeFile(`${harnessLogs}/final.txt`, finalText);
  for (const { name, bytes } of logs) collector.keepLog(name, bytes);
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

function fingerprintOf(task: Task, manifest: HarnessManifest, mount: HarnessMount): Readonly<Record<string, string>> {
  return {
    harness: `${manifest.id} ${manifest.version}`,
    harnessInstall: mount.version,
    workbenchNode: process.version,
    taskDigest: task.digest,
    taskChecksum: task.checksum,
  };
}
