/**
 * One attempt of one rollout, from preparing to its facts. Everything opened is closed on every path; what goes wrong becomes a fact.
 * The verdict on those facts is not made here (engine/outcome), nor whether there is another attempt (run-rollout.ts).
 */
import type { AgentFacts, AttemptFacts, AttemptStop } from "../../engine/outcome/index.ts";
import type { HarnessManifest } from "../harnesses/index.ts";
import type { HarnessMount, IsolationReport, Sandbox } from "../sandboxes/index.ts";
import { layOutStep, layOutTask, runsOf, sandboxRequest, type Task } from "../tasks/index.ts";
import { clearFolders, gradeOfSteps, stepFolders, type VerifierResult } from "../verifiers/index.ts";
import type { AgentClock } from "./agent-clock.ts";
import { type AgentRun, type Bench, runAgent } from "./agent-run.ts";
import { GuardTimeout, stopOf } from "./attempt-stop.ts";
import { Opened } from "./opened.ts";
import { createPhaseRecorder, type PhaseRecorder } from "./phases.ts";
import { type AttemptOptions, budgets, log, type Prepared, prepare, recordConnection, totalBudget } from "./prepare.ts";
import { trackSteps } from "./step-track.ts";

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
  const course: Course = { agent: null, verifier: null, clocks: [] };
  let timer: NodeJS.Timeout | undefined;
  let stop: AttemptStop | null = null;
  try {
    const prepared = await phases.run("preparing", budgets.preparing, (phaseSignal) => prepare(options, phaseSignal, opened));
    const guardMs = totalBudget(options, prepared);
    timer = setTimeout(() => guard.abort(new GuardTimeout(guardMs)), guardMs);
    await takeCourse(options, phases, prepared, opened, course);
  } catch (error) {
    if (!options.signal.aborted) stop = stopOf(phases.current, error);
  } finally {
    clearTimeout(timer);
    for (const clock of course.clocks) clock.stop();
    await opened.close();
  }
  const { sandbox, clocks } = course;
  return {
    facts: { cancelled: options.signal.aborted, stop, agent: course.agent, verdict: course.verifier },
    verifier: course.verifier,
    isolation: sandbox?.isolation ?? null,
    fingerprint: sandbox === undefined ? null : { ...sandbox.fingerprint, workdir: sandbox.workdir, ...course.fingerprint },
    policyWaitSeconds: clocks.length === 0 ? null : clocks.reduce((sum, { waitedMs }) => sum + waitedMs, 0) / 1000,
  };
}

interface Course {
  sandbox?: Sandbox;
  agent: AgentFacts | null;
  verifier: VerifierResult | null;
  fingerprint?: Readonly<Record<string, string>>;
  /** Of every agent that ran. */
  readonly clocks: AgentClock[];
}

async function takeCourse(options: AttemptOptions, phases: PhaseRecorder, prepared: Prepared, opened: Opened, course: Course): Promise<void> {
  const { provider, rollout } = options;
  const { task, manifest, mount, session, host } = prepared;
  const request = sandboxRequest(task, provider.kind, {
    rolloutId: rollout.id,
    ownerId: options.ownerId,
    proxySocket: host.proxySocket(session),
    onConnection: (connection) => recordConnection(options, connection),
    variables: options.env,
  });
  const sandbox = await phases.run("starting", prepared.startMs, async (signal) => {
    const created = await provider.create(request, (line) => log(options, line), signal);
    course.sandbox = await opened.keep(created, (kept) => kept.destroy());
    return created;
  });
  const layOutAll = async (signal: AbortSignal): Promise<void> => {
    await host.provide(sandbox);
    course.fingerprint = fingerprintOf(task, manifest, mount);
    await layOutTask(sandbox, task, options.env, signal);
  };
  const bench: Bench = { options, phases, prepared, sandbox, clocks: course.clocks };
  if (task.steps.length > 0) return takeSteps(bench, layOutAll, course);
  const { facts, verdict } = await runAgent(bench, { part: task, step: null, layOut: layOutAll, onAgentEnd: () => undefined });
  course.agent = facts;
  course.verifier = verdict;
}

/** Each step is another agent in the same box, graded before the next one begins; the first that falls short is the last. */
async function takeSteps(bench: Bench, layOutAll: AgentRun["layOut"], course: Course): Promise<void> {
  const { options, prepared, sandbox } = bench;
  const { task } = prepared;
  const { store, rollout, attempt, env } = options;
  const track = trackSteps({ store, rollout, attempt, task });
  const verdicts: VerifierResult[] = [];
  for (const [index, { step, part }] of runsOf(task).entries()) {
    if (step === null) return;
    const layOut = async (signal: AbortSignal): Promise<void> => {
      if (index === 0) await layOutAll(signal);
      else await clearFolders(sandbox, stepFolders, signal);
      await sandbox.useNetwork(step.agent.network);
      await layOutStep(sandbox, task, step, env, signal);
    };
    // Until this step is graded too the rollout has no grade.
    course.agent = null;
    course.verifier = null;
    track.begin(index);
    const { facts, verdict } = await runAgent(bench, { part, step, layOut, onAgentEnd: (seconds) => track.agentEnded(index, seconds) });
    verdicts.push(verdict);
    course.agent = facts;
    course.verifier = gradeOfSteps(task, verdicts);
    if (!track.graded(index, facts, verdict)) return;
  }
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
