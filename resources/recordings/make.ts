/**
 * Makes the bundled recording, `cut-tool-result.openforge`: a real rollout of `react` with a scripted policy in a local sandbox, that
 * repairs a table and fails, because what it reads at call 9 is a tool result that was cut.
 *   npx tsx resources/recordings/make.ts
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { experimentSpecSchema } from "../../main/api/views.ts";
import { bootWorkbench } from "../../main/boot.ts";
import { exportRecording } from "../../main/store/index.ts";

const here = import.meta.dirname;
const story = join(here, "cut-tool-result");
const target = join(here, "cut-tool-result.openforge");

async function make(): Promise<void> {
  const dataFolder = mkdtempSync(join(tmpdir(), "recording-"));
  shortenResults(join(dataFolder, "harnesses", "react"));
  const workbench = await bootWorkbench({ dataFolder });
  try {
    const { store, rollouts } = workbench;
    const id = await rollouts.startExperiment(
      experimentSpecSchema.parse({
        name: "Repair of a price list (recording)",
        tasks: [join(story, "task")],
        harnesses: ["react"],
        policies: [`scripted:${join(story, "policy.yaml")}`],
      }),
    );
    await rollouts.settled(id);
    const [rollout] = store.rolloutsOf(id);
    const told = `${rollout?.outcome?.status} ${rollout?.outcome?.detail ?? ""}, reward ${rollout?.reward}, ${rollout?.calls} calls`;
    if (rollout?.outcome?.status !== "failed" || rollout.reward !== 0 || rollout.calls !== 12) throw new Error(`not the story that was meant: ${told}`);
    exportRecording(store, id, target);
    console.log(`${target}: ${told}, ${Math.ceil(statSync(target).size / 1000)} kB`);
  } finally {
    await workbench.close();
    rmSync(dataFolder, { recursive: true, force: true });
  }
}

/** `react` as it ships, but for the length of a tool result that the model sees. */
function shortenResults(folder: string): void {
  cpSync(join(here, "../harnesses/react"), folder, { recursive: true });
  const manifest = join(folder, "manifest.yaml");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(/resultLimit: \d+/, "resultLimit: 3000"));
}

await make();
