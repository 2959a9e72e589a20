/** The reference: what anybody does without a workbench, the Docker command line running the same commands in one container. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Milliseconds of `docker run`, one `docker exec` a command, and the container's removal. */
export async function plainDocker(image: string, commands: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const limits = ["--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--memory", "4g", "--pids-limit", "1024"];
  const main = "echo 'a note' > /app/note.txt; exec sleep 600";
  const { stdout } = await run("docker", ["run", "--detach", "--init", "--workdir", "/app", ...limits, image, "sh", "-c", main]);
  const container = stdout.trim();
  try {
    for (const command of commands) await run("docker", ["exec", container, "bash", "-c", command]);
  } finally {
    await run("docker", ["rm", "--force", "--volumes", container]);
  }
  return performance.now() - startedAt;
}
