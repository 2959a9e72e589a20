/**
 * Makes the bundled recording, `cut-tool-result.openforge`: a real rollout of `react` with a scripted policy in a local sandbox, that
 * repairs a table and fails, because what it reads at call 9 is a tool result that was cut.
 *   npx tsx resources/recordings/make.ts
 */
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench } from "../../main/boot.ts";
import { exportRecording } from "../../main/store/index.ts";

const target = join(import.meta.dirname, "cut-tool-result.openforge");
/** Paths are part of a recording, so the story is played in a folder whose name says nothing about this machine. */
const stage = join(tmpdir(), "price-list");

async function make(): Promise<void> {
  mkdirSync(stage);
  try {
    cpSync(join(import.meta.dirname, "cut-tool-result"), stage, { recursive: true });
    shortenResults(join(stage, "data", "harnesses", "react"));
    await play();
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

async function play(): Promise<void> {
  const workbench = await bootWorkbench({ dataFolder: join(stage, "data") });
  try {
    const { store, rollouts } = workbench;
    const spec = experimentSpecSchema.parse({
      name: "Repair of a price list",
      tasks: [join(stage, "task")],
      harnesses: ["react"],
      policies: [`scripted:${join(stage, "policy.yaml")}`],
    });
    const id = await rollouts.startExperiment(spec);
    await rollouts.settled(id);
    const [rollout] = store.rolloutsOf(id);
    const told = `${rollout?.outcome?.status}, reward ${rollout?.reward}, ${rollout?.calls} calls`;
    if (rollout?.outcome?.status !== "failed" || rollout.reward !== 0 || rollout.calls !== 12) throw new Error(`not the story that was meant: ${told}`);
    exportRecording(store, id, target);
    console.log(`${target}: ${told}, ${Math.ceil(statSync(target).size / 1000)} kB`);
  } finally {
    await workbench.close();
  }
}

/** `react` as it ships, but for the length of a tool result that the model sees. */
function shortenResults(folder: string): void {
  cpSync(join(import.meta.dirname, "../harnesses/react"), folder, { recursive: true });
  const manifest = join(folder, "manifest.yaml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/resultLimit: \d+/, "resultLimit: 3000"));
}

await make();
