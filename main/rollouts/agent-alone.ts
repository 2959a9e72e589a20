/** A harness started for one rollout, inside its sandbox. How it ended is data; only a lost box throws. */
import { posix } from "node:path";
import { WorkbenchError } from "../errors.ts";
import { harnessHome, type Launch, type LaunchValues, prepareLaunch, sandboxArchitecture } from "../harnesses/index.ts";
import type { HarnessMount, Sandbox } from "../sandboxes/index.ts";
import { type AgentHost, type AgentTask, policyModelName } from "./agent-host.ts";

/** Of each of its two output streams; the rest is counted and dropped. */
const outputLimitBytes = 8_000_000;

export interface AloneOptions {
  readonly mount: HarnessMount;
  readonly socketFolder: string;
  /** `127.0.0.1:PORT` of the proxy, for sandboxes without a link of their own. */
  readonly proxyAddress: string;
  /** Longer than any budget: only a clock that fails lets it pass. */
  readonly guardMs: number;
}

export function agentAlone({ mount, socketFolder, proxyAddress, guardMs }: AloneOptions): AgentHost {
  let launch: Launch | null = null;
  return {
    link: { socketFolder },
    proxySocket: (session) => session.socketPath,
    provide: (sandbox) => sandbox.provide(mount),
    async setUp(sandbox, agent) {
      launch = prepareLaunch(agent.manifest, launchValues(agent, sandbox.modelBaseHost ?? `http://${proxyAddress}`));
      const files = Object.entries(launch.files);
      // The program's HOME is there, and its own, also when its manifest puts nothing there.
      if (!files.some(([path]) => path.startsWith(`${harnessHome}/`))) files.push([`${harnessHome}/.keep`, ""]);
      for (const [path, text] of files) await sandbox.writeFile(path, Buffer.from(text));
      const { skillsDir } = agent.task.environment;
      if (skillsDir !== null && launch.skillsFolder !== null) await copySkills(sandbox, posix.resolve(agent.workdir, skillsDir), launch.skillsFolder);
    },
    async run(sandbox, { manifest, task, workdir }, clock, signal) {
      if (launch === null) throw new Error("the agent was not set up");
      // Ends it with everything it started; what it said until then is kept.
      const end = (): void => void sandbox.killAll().catch((error: unknown) => console.error(error));
      clock.over.addEventListener("abort", end, { once: true });
      const result = await sandbox.exec(
        {
          command: launch.command,
          env: launch.env,
          cwd: workdir,
          timeoutMs: guardMs,
          outputLimitBytes,
          ...(task.agent.user === null ? {} : { user: task.agent.user }),
          ...(launch.stdin === null ? {} : { stdin: launch.stdin }),
        },
        signal,
      );
      clock.over.removeEventListener("abort", end);
      const logs = { "stdout.txt": result.stdout, "stderr.txt": result.stderr };
      return {
        exitCode: result.exitCode,
        timedOut: result.timedOut || (clock.over.aborted && result.exitCode === null),
        outOfMemory: result.outOfMemory,
        lastWords: lastLine(result.stderr),
        finalText: manifest.quirks.finalText === "stdout" ? result.stdout : null,
        logs: Object.entries(logs).flatMap(([name, bytes]) => (bytes.length === 0 ? [] : [{ name, bytes }])),
      };
    },
  };
}

/** To where the harness looks for skills, by the account that its other files belong to. */
async function copySkills(sandbox: Sandbox, from: string, to: string): Promise<void> {
  const command = ["/bin/sh", "-c", 'mkdir -p "$1" && cp -R "$0/." "$1/"', from, to];
  const { exitCode, stderr } = await sandbox.exec({ command, cwd: "/", timeoutMs: 60_000, outputLimitBytes: 4096 });
  if (exitCode === 0) return;
  const said = new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? "";
  throw new WorkbenchError(
    "sandbox",
    `The task's skills in ${from} cannot be given to the harness: ${said}.`,
    "Check skills_dir and the task's image.",
  );
}

function launchValues({ task, session, workdir, environment, mcpServers, contextWindow }: AgentTask, modelBaseHost: string): LaunchValues {
  return {
    origin: `${modelBaseHost}${session.path}`,
    key: session.key,
    model: policyModelName,
    workdir,
    instruction: task.instruction,
    mcpServers,
    environment,
    architecture: sandboxArchitecture(),
    contextWindow,
  };
}

function lastLine(bytes: Uint8Array): string | null {
  const lines = new TextDecoder().decode(bytes.subarray(-4000)).trimEnd().split("\n");
  const last = lines.at(-1)?.trim() ?? "";
  return last === "" ? null : last.slice(0, 300);
}
