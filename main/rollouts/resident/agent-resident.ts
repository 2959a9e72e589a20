/** One rollout as a session of a resident harness: its model calls come from the slot, its commands run in the rollout's own sandbox. */
import { WorkbenchError } from "../../errors.ts";
import { harnessHome } from "../../harnesses/index.ts";
import { type Sandbox, sandboxCauseOf } from "../../sandboxes/index.ts";
import { type AgentHost, type AgentTask, policyModelName } from "../agent-host.ts";
import { refusalOfCommand } from "./allow-list.ts";
import type { ResidentExec, ResidentResult, Slot } from "./slot.ts";

/** Bytes of a harness's log that are kept. */
const logLimitBytes = 16_000_000;

export interface ResidentOptions {
  readonly slot: Slot;
  /** `127.0.0.1:PORT` of the proxy, for slots without a link of their own. */
  readonly proxyAddress: string;
  /** Nothing isolates the commands: only those of the allow-list are run. */
  readonly checksCommands: boolean;
}

export function agentResident({ slot, proxyAddress, checksCommands }: ResidentOptions): AgentHost {
  return {
    link: { door: slot.door },
    // The model is asked from the slot; what runs in the rollout's sandbox has no way to it.
    proxySocket: () => null,
    provide: async () => undefined,
    setUp: async () => undefined,
    async run(sandbox, agent, clock, signal) {
      const { manifest, session, task } = agent;
      const log = new SessionLog();
      const stop = AbortSignal.any([clock.over, signal]);
      const end = await slot.run(
        {
          start: {
            session: agent.sessionId,
            baseUrl: `${slot.modelBaseHost ?? `http://${proxyAddress}`}${session.path}/v1`,
            key: session.key,
            model: policyModelName,
            task: task.instruction,
            workdir: agent.workdir,
            contextWindow: agent.contextWindow,
            maxTokens: manifest.limits.maxTokens,
            settings: manifest.settings,
          },
          exec: async (request) => (checksCommands ? refused(request) : null) ?? runCommand(sandbox, agent, request, stop),
          log: (line) => log.add(line),
        },
        stop,
      );
      signal.throwIfAborted();
      const logs = log.bytes.length === 0 ? [] : [{ name: `${manifest.id}.jsonl`, bytes: log.bytes }];
      if (!end.ok) return { exitCode: null, timedOut: false, outOfMemory: false, lastWords: end.why, finalText: null, logs };
      return {
        exitCode: clock.over.aborted ? null : end.exitCode,
        timedOut: clock.over.aborted,
        outOfMemory: false,
        lastWords: end.error,
        finalText: end.text === null ? null : Buffer.from(end.text),
        logs,
      };
    },
  };
}

/** As the harness would run it itself: a new bash in the working folder, both streams as one. */
async function runCommand(sandbox: Sandbox, agent: AgentTask, request: ResidentExec, stop: AbortSignal): Promise<ResidentResult> {
  try {
    const result = await sandbox.exec(
      {
        command: ["/bin/sh", "-c", 'exec 2>&1; exec bash --norc --noprofile -c "$0"', request.command],
        env: { ...agent.environment, HOME: harnessHome },
        cwd: agent.workdir,
        timeoutMs: request.seconds * 1000,
        outputLimitBytes: request.outputBytes,
        ...(agent.task.agent.user === null ? {} : { user: agent.task.agent.user }),
        ...(request.stdin === undefined ? {} : { stdin: Buffer.from(request.stdin) }),
      },
      stop,
    );
    const { exitCode, timedOut, droppedBytes } = result;
    return { output: Buffer.from(result.stdout).toString("utf8"), exitCode, timedOut, droppedBytes, error: null };
  } catch (error) {
    // The rollout is over: the harness is told so by `stop`, and hears no more of this command.
    if (stop.aborted) return notRun("the rollout is over");
    if (!(error instanceof WorkbenchError) || sandboxCauseOf(error) === "sandbox-lost") throw error;
    return notRun(error.message);
  }
}

/** The answer to a command that may not run here; null = it may. */
function refused({ command, stdin }: ResidentExec): ResidentResult | null {
  const why = stdin === undefined ? refusalOfCommand(command) : "standard input is not allowed here";
  return why === null ? null : { output: `bash: ${why}\n`, exitCode: 126, timedOut: false, droppedBytes: 0, error: null };
}

function notRun(error: string): ResidentResult {
  return { output: "", exitCode: null, timedOut: false, droppedBytes: 0, error };
}

/** One line an entry, up to the limit. */
class SessionLog {
  readonly #lines: string[] = [];
  #size = 0;

  add(line: unknown): void {
    const text = `${JSON.stringify(line)}\n`;
    if (this.#size + text.length > logLimitBytes) return;
    this.#size += text.length;
    this.#lines.push(text);
  }

  get bytes(): Uint8Array {
    return Buffer.from(this.#lines.join(""));
  }
}
