/** A rollout without agent and policy: what the workbench itself adds to the commands that are run. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxProvider } from "../../../main/sandboxes/index.ts";
import { checkTask, layOutTask, sandboxRequest } from "../../../main/tasks/index.ts";
import { runVerifier } from "../../../main/verifiers/index.ts";
import { writeSmallTask } from "../../contract/small-task.ts";

/** What an agent runs, and what the verifier's one script does. */
export const commands = ["cat note.txt", "echo 42 > answer.txt", "ls"] as const;
export const check = 'if [ "$(cat /app/answer.txt)" = 42 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt';

export function writeBareTask(folder: string): string {
  return writeSmallTask(folder, {
    name: "bare",
    test: check,
    files: {
      "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\nCOPY files/ /app/\n",
      "environment/files/note.txt": "a note\n",
      "task.toml":
        'schema_version = "1.4"\n\n[metadata.openforge]\ninitial_state = { files = "environment/files" }\n\n[environment]\nworkdir = "/app"\nnetwork_mode = "no-network"\n',
    },
  });
}

/** Milliseconds from the task's check to the removed sandbox: started, laid out, three commands, collected, graded. */
export async function bareRollout(provider: SandboxProvider, taskFolder: string): Promise<number> {
  const output = await mkdtemp(join(tmpdir(), "openforge-bare-"));
  const startedAt = performance.now();
  const { task } = await checkTask(taskFolder);
  if (task === null) throw new Error("the package of this benchmark is faulty");
  const link = { rolloutId: "bare", ownerId: "benchmark", proxySocket: null, variables: {} };
  const sandbox = await provider.create(sandboxRequest(task, provider.kind, link), () => undefined);
  try {
    await layOutTask(sandbox, task, {});
    for (const command of commands) {
      const result = await sandbox.exec({ command: ["bash", "-c", command], timeoutMs: 60_000, outputLimitBytes: 100_000 });
      if (result.exitCode !== 0) throw new Error(`"${command}" ended with ${result.exitCode}: ${Buffer.from(result.stderr).toString()}`);
    }
    await sandbox.killAll();
    for (const place of ["/logs/agent", "/logs/artifacts"]) await sandbox.download(place, join(output, place.replaceAll("/", "-")));
    const { reward, detail } = await runVerifier(sandbox, task, { outputFolder: join(output, "verifier"), environment: {} });
    if (reward !== 1) throw new Error(`the rollout was not solved: ${detail}`);
  } finally {
    await sandbox.destroy();
  }
  const ms = performance.now() - startedAt;
  await rm(output, { recursive: true, force: true });
  return ms;
}
