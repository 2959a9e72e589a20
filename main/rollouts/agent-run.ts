/** One agent of an attempt, from its setup to its grade: the only one, or that of a step. What goes wrong on the way throws. */
import type { AgentFacts } from "../../engine/outcome/index.ts";
import { harnessLogs } from "../harnesses/index.ts";
import type { Sandbox } from "../sandboxes/index.ts";
import { resolveHeaders, resolveVariables, type Task, type TaskStep } from "../tasks/index.ts";
import { runCollectHooks, runVerifier, type VerifierResult } from "../verifiers/index.ts";
import { type AgentClock, startAgentClock } from "./agent-clock.ts";
import { type AgentEnd, type AgentTask, agentFacts } from "./agent-host.ts";
import type { PartCollector } from "./collect.ts";
import type { PhaseRecorder } from "./phases.ts";
import {
  type AttemptOptions,
  agentBudget,
  budgets,
  collectingBudget,
  log,
  type Prepared,
  recordConnection,
  runningBudget,
  setupBudget,
  verifyingBudget,
} from "./prepare.ts";
import { packWorkspace } from "./regrade/workspace.ts";

/** What all agents of an attempt share. */
export interface Bench {
  readonly options: AttemptOptions;
  readonly phases: PhaseRecorder;
  readonly prepared: Prepared;
  readonly sandbox: Sandbox;
  /** Of the agents that ran. */
  readonly clocks: AgentClock[];
}

export interface AgentRun {
  /** The task, or the step as a task of its own. */
  readonly part: Task;
  readonly step: TaskStep | null;
  /** Puts into the box what the agent is to find there, before the harness's own files. */
  layOut(signal: AbortSignal): Promise<void>;
  /** Its processes have ended; it is not graded yet. */
  onAgentEnd(seconds: number): void;
}

export async function runAgent(bench: Bench, run: AgentRun): Promise<{ readonly facts: AgentFacts; readonly verdict: VerifierResult }> {
  const { options, phases, prepared, sandbox, clocks } = bench;
  const { manifest, session, host } = prepared;
  const { part, step } = run;
  const agent = agentTask(bench, run);
  const collector = prepared.collector.of(step?.name ?? null);
  await phases.run("setup", setupBudget(options, prepared, step), async (signal) => {
    await run.layOut(signal);
    await host.setUp(sandbox, agent);
  });

  const before = clocks.length === 0 ? null : session.stats();
  const agentMs = agentBudget(options, part);
  const startedAt = performance.now();
  const end = await phases.run("running", runningBudget({ agentMs }), async (signal) => {
    const clock = startAgentClock(agentMs);
    clocks.push(clock);
    session.onPolicyWait(clock);
    session.beginAgentPhase();
    const ended = await host.run(sandbox, agent, clock, signal);
    clock.stop();
    return ended;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  await phases.run("stopping", budgets.stopping, async () => {
    session.endAgentPhase();
    await sandbox.killAll();
  });
  run.onAgentEnd(seconds);
  const facts = agentFacts(manifest, end, session, before);
  await phases.run("collecting", collectingBudget(part), (signal) => collect(bench, run, collector, end, signal));
  const verdict = await phases.run("verifying", verifyingBudget(part), (signal) => verify(bench, run, collector, signal));
  return { facts, verdict };
}

function agentTask({ options, prepared, sandbox }: Bench, { part, step }: Pick<AgentRun, "part" | "step">): AgentTask {
  const { manifest, session, contextWindow } = prepared;
  return {
    ...{ task: part, manifest, session, contextWindow },
    workdir: sandbox.workdir,
    sessionId: [options.rollout.id, options.attempt, ...(step === null ? [] : [step.name])].join("-"),
    environment: resolveVariables(part.environment.env, options.env),
    mcpServers: part.environment.mcpServers.map((server) => ({ ...server, headers: resolveHeaders(server.headers, options.env) })),
  };
}

async function collect({ options, sandbox }: Bench, run: AgentRun, collector: PartCollector, end: AgentEnd, signal: AbortSignal): Promise<void> {
  const { part, step } = run;
  const { finalText, logs } = end;
  // Verifiers find it where every harness's is.
  if (finalText !== null) await sandbox.writeFile(`${harnessLogs}/final.txt`, finalText);
  for (const { name, bytes } of logs) collector.keepLog(name, bytes);
  await runCollectHooks(sandbox, part, { environment: options.env, onLoss: (line) => log(options, line, { loss: true }), signal });
  await collector.collectFrom(sandbox, part);
  if (options.keepWorkspace) await keepWorkspace({ options, sandbox }, { part, step }, collector, signal);
}

/** For a later verifier. One that cannot be kept is told, and changes nothing. */
async function keepWorkspace(
  { options, sandbox }: Pick<Bench, "options" | "sandbox">,
  { part, step }: Pick<AgentRun, "part" | "step">,
  collector: PartCollector,
  signal: AbortSignal,
): Promise<void> {
  const packed = options.provider.isolates
    ? await packWorkspace(sandbox, part, options.store.redactor, signal)
    : "nothing isolates it from the machine";
  if (typeof packed !== "string") return collector.keepWorkspace(packed);
  const of = step === null ? "" : ` of the step ${step.name}`;
  log(options, `The workspace${of} could not be kept: ${packed}.`, {
    loss: true,
    workspace: { attempt: options.attempt, step: step?.name ?? null },
  });
}

async function verify({ options, sandbox }: Bench, { part, step }: AgentRun, collector: PartCollector, signal: AbortSignal): Promise<VerifierResult> {
  const result = await runVerifier(sandbox, part, {
    outputFolder: collector.verifierFolder,
    environment: options.env,
    provider: options.provider,
    ownerId: options.ownerId,
    rolloutId: options.rollout.id,
    ofStep: step !== null,
    onProgress: (line) => log(options, line),
    onConnection: (connection) => recordConnection(options, connection),
    signal,
  });
  await collector.keepVerifierOutput();
  return result;
}
