/** Makes the starter policy that ships: `npm run starter:train -- [FOLDER [STEPS]]`. Left out, the shipped one is replaced; a FOLDER must be new. */
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { shippedRecipe } from "./checkpoint-recipe.ts";
import { type CheckpointProgress, trainStarterCheckpoint } from "./train-checkpoint.ts";

const shipped = join(import.meta.dirname, "../../resources/policies/starter");
const began = performance.now();

function report({ step, steps, loss, tokens }: CheckpointProgress): void {
  if (step % 25 !== 0 && step !== steps) return;
  const seconds = (performance.now() - began) / 1000;
  console.log(
    `step ${step} of ${steps}: loss ${loss.toFixed(3)}, ${tokens} tokens, ${(tokens / seconds).toFixed(0)} tokens/s, ${seconds.toFixed(0)} s`,
  );
}

async function make(folder: string | undefined, steps: number): Promise<void> {
  const target = folder === undefined ? shipped : resolve(folder);
  const fresh = `${target}.new`;
  await rm(fresh, { recursive: true, force: true });
  await trainStarterCheckpoint(fresh, { ...shippedRecipe, steps }, report);
  if (target === shipped) await rm(target, { recursive: true, force: true });
  await rename(fresh, target);
  console.log(`Wrote ${target}.`);
}

const [folder, steps = `${shippedRecipe.steps}`] = process.argv.slice(2);
const problem =
  folder !== undefined && existsSync(folder)
    ? `${folder} is there already.`
    : /^[1-9]\d{0,5}$/.test(steps)
      ? null
      : `${steps} is no number of steps.`;
if (problem === null) await make(folder, Number(steps));
else {
  console.error(`${problem} Usage: npm run starter:train -- [FOLDER [STEPS]], with a new folder.`);
  process.exitCode = 2;
}
