/**
 * Makes the starter policy that ships: `npm run starter:train -- [FOLDER]`. The folder is replaced at the end; default is the shipped one.
 */
import { rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { shippedRecipe } from "./checkpoint-recipe.ts";
import { trainStarterCheckpoint } from "./train-checkpoint.ts";

const shipped = join(dirname(fileURLToPath(import.meta.url)), "../../resources/policies/starter");
const target = resolve(process.argv[2] ?? shipped);
const steps = Number(process.env.STARTER_STEPS ?? shippedRecipe.steps);
const began = performance.now();
const fresh = `${target}.new`;
await rm(fresh, { recursive: true, force: true });
await trainStarterCheckpoint(
  fresh,
  { ...shippedRecipe, steps },
  {
    onProgress: ({ step, loss, tokens }) => {
      const seconds = (performance.now() - began) / 1000;
      if (step % 25 === 0)
        console.log(
          `step ${step}/${steps}  loss ${loss.toFixed(3)}  ${tokens} tokens  ${seconds.toFixed(0)} s  ${(tokens / seconds).toFixed(0)} tokens/s`,
        );
    },
  },
);
await rm(target, { recursive: true, force: true });
await rename(fresh, target);
console.log(`Wrote ${target}.`);
