/** Runs the harness inside the sandbox until it ends or its time is up. How it ended is data; only a lost box throws. */
import type { AgentFacts } from "../../engine/outcome/index.ts";
import { type HarnessManifest, harnessLogs, type Launch } from "../harnesses/index.ts";
import type { ProxySession, SessionStats } from "../proxy/index.ts";
import type { ExecResult, Sandbox } from "../sandboxes/index.ts";

/** Of each of its two output streams; the rest is counted and dropped. */
const outputLimitBytes = 8_000_000;

export interface AgentRun {
  readonly manifest: HarnessManifest;
  readonly launch: Launch;
  readonly workdir: string;
  readonly user: string | null;
  readonly timeoutMs: number;
}

/** Writes what the harness needs before it can start. */
export async function setUpAgent(sandbox: Sandbox, { launch }: AgentRun): Promise<void> {
  for (const [path, text] of Object.entries(launch.files)) await sandbox.writeFile(path, Buffer.from(text));
}

export async function runAgent(sandbox: Sandbox, run: AgentRun, signal: AbortSignal): Promise<ExecResult> {
  const { launch } = run;
  return sandbox.exec(
    {
      command: launch.command,
      env: launch.env,
      cwd: run.workdir,
      timeoutMs: run.timeoutMs,
      outputLimitBytes,
      ...(run.user === null ? {} : { user: run.user }),
      ...(launch.stdin === null ? {} : { stdin: launch.stdin }),
    },
    signal,
  );
}

/** A harness that says its final text on its standard output: verifiers find it where every harness's is. */
export async function writeFinalText(sandbox: Sandbox, manifest: HarnessManifest, result: ExecResult): Promise<void> {
  if (manifest.quirks.finalText === "stdout") await sandbox.writeFile(`${harnessLogs}/final.txt`, result.stdout);
}

/** What classification needs to know, from the program's end and from what the proxy saw. */
export function agentFacts(manifest: HarnessManifest, result: ExecResult, session: ProxySession): AgentFacts {
  const stats = session.stats();
  return {
    ending: result.outOfMemory && result.exitCode !== 0 ? "out-of-memory" : result.timedOut ? "timed-out" : "exited",
    exitCode: result.exitCode,
    limitReached: result.exitCode !== null && manifest.stop.limitExitCodes.includes(result.exitCode),
    calls: stats.calls,
    answered: stats.answered,
    standingFailure: stats.failing ? stats.lastFailure : null,
    contextOverflow: stats.contextOverflow,
    unparsedToolCall: stats.unparsedToolCall,
    secretSeen: stats.secretSeen,
    astray: astray(stats),
    lastWords: lastLine(result.stderr),
  };
}

function astray({ refused, unknownPaths }: SessionStats): string | null {
  const counts = [
    refused === 0 ? [] : [`${refused} came with a wrong key`],
    unknownPaths === 0 ? [] : [`${unknownPaths} went to unknown paths`],
  ].flat();
  return counts.length === 0 ? null : `Of its requests, ${counts.join(" and ")}.`;
}

function lastLine(bytes: Uint8Array): string | null {
  const lines = new TextDecoder().decode(bytes.subarray(-4000)).trimEnd().split("\n");
  const last = lines.at(-1)?.trim() ?? "";
  return last === "" ? null : last.slice(0, 300);
}
