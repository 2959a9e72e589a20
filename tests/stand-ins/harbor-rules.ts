/**
 * A task of one step as Harbor 0.26 runs it, with nothing of ours but the Node that every sandbox has: one container of the image that
 * environment/Dockerfile makes, the solution as its agent, then tests/test.sh in the working folder, then reward.json or reward.txt.
 * Harbor itself needs Docker's compose plugin. Read from its `agents/oracle.py`, `verifier/verifier.py` and `environments/docker/docker.py`.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Task } from "../../main/tasks/index.ts";

const run = promisify(execFile);
const docker = async (...args: string[]): Promise<string> => (await run("docker", args, { maxBuffer: 64 * 1024 ** 2 })).stdout;

/** Image of the task's environment; building it again is a look-up. */
export async function harborImage(task: Task): Promise<string> {
  return (await docker("build", "--quiet", join(task.path, "environment"))).trim();
}

/** `solution`: folder of the package with solve.sh, run as the agent; null = an agent that does nothing. Resolves with the rewards, null = none. */
export async function runByHarborsRules(task: Task, image: string, solution: string | null): Promise<Readonly<Record<string, number>> | null> {
  const name = `harbor-rules-${randomUUID()}`;
  const node = ["--volume", `${process.execPath}:/usr/local/bin/node:ro`];
  await docker("run", "--detach", "--network", "none", "--name", name, ...node, image, "sh", "-c", "sleep infinity");
  const inside = (user: string | null, command: string): Promise<string> =>
    docker("exec", ...(user === null ? [] : ["--user", user]), ...workdirOf(task), name, "bash", "-c", command);
  try {
    const folders = "/logs/agent /logs/verifier /logs/artifacts";
    await inside("0", `mkdir -p ${folders} /tests /solution && chmod 777 ${folders}`);
    if (solution !== null) {
      await docker("cp", `${join(task.path, solution)}/.`, `${name}:/solution`);
      await inside("0", "chmod +x /solution/solve.sh");
      await ended(inside(task.agent.user, "(/solution/solve.sh) > /logs/agent/oracle.txt 2>&1"));
    }
    await inside("0", "rm -f -- /logs/verifier/reward.txt /logs/verifier/reward.json");
    for (const folder of task.testFolders) await docker("cp", `${join(task.path, folder)}/.`, `${name}:/tests`);
    await inside("0", "chmod +x /tests/test.sh");
    await ended(inside(task.verifier.user, "(/tests/test.sh) > /logs/verifier/test-stdout.txt 2>&1"));
    const read = (file: string): Promise<string> => inside("0", `cat /logs/verifier/${file} 2>/dev/null || true`);
    return rewardsIn(await read("reward.json"), await read("reward.txt"));
  } finally {
    await docker("rm", "--force", "--volumes", name);
  }
}

const workdirOf = ({ environment }: Task): readonly string[] => (environment.workdir === null ? [] : ["--workdir", environment.workdir]);

/** The exit code means nothing. */
async function ended(command: Promise<unknown>): Promise<void> {
  await command.catch((error: NodeJS.ErrnoException) => {
    if (typeof error.code !== "number") throw error;
  });
}

function rewardsIn(json: string, text: string): Readonly<Record<string, number>> | null {
  if (json !== "") return JSON.parse(json) as Readonly<Record<string, number>>;
  return text.trim() === "" ? null : { reward: Number(text) };
}
