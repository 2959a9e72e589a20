import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SandboxProvider, sandboxProviders } from "../../main/sandboxes/index.ts";
import { type BenchmarkRow, rowOf } from "./measure/compare.ts";
import { bareRollout, check, commands, writeBareTask } from "./overhead/bare-rollout.ts";
import { plainDocker } from "./overhead/plain-docker.ts";

/** Five are enough for a look, more for a figure to keep. */
const repetitions = Number(process.env.OPENFORGE_REPETITIONS ?? 9);
const image = "openforge/base:1";

/**
 * What a rollout costs besides its agent and its policy, in each kind of sandbox, beside `docker run` and `docker exec` of the same
 * commands, in turns: three commands of an agent and the verifier's one script.
 */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "openforge-overhead-"));
  try {
    const task = writeBareTask(join(folder, "task"));
    const all = sandboxProviders({ stateFolder: join(folder, "sandboxes") });
    const ready: SandboxProvider[] = [];
    for (const provider of [all.local, all.docker]) {
      const { ready: usable, detail } = await provider.probe();
      if (usable) ready.push(provider);
      else note(`${provider.kind} cannot be used: ${detail}`);
    }
    // Builds the task's image, starts what is started once.
    for (const provider of ready) await bareRollout(provider, task);
    const withDocker = ready.includes(all.docker);
    const plain: number[] = [];
    const ours = new Map<string, number[]>(ready.map(({ kind }) => [kind, []]));
    for (let round = 0; round < Math.max(5, repetitions); round += 1) {
      if (withDocker) plain.push(await plainDocker(image, [...commands, `mkdir -p /logs/verifier; ${check}`]));
      for (const provider of ready) ours.get(provider.kind)?.push(await bareRollout(provider, task));
    }
    const reference = withDocker ? { name: "docker run, docker exec of the same commands, docker rm", values: plain } : null;
    return [...ours].flatMap(([kind, values]) => [
      rowOf({ name: `a rollout without agent and policy, ${kind} sandbox`, unit: "ms", aim: "≤ the reference + 150 ms" }, values, reference),
      ...(reference === null
        ? []
        : [
            rowOf(
              { name: `milliseconds more than docker run and exec, ${kind} sandbox`, unit: "ms", aim: "≤ 150 ms" },
              values.map((value, index) => value - (plain[index] ?? Number.NaN)),
              null,
            ),
          ]),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
