import type { Command } from "commander";
import { note, print, printJson } from "./output.ts";
import { type CommonOptions, follow, runVerb, verb, verbGroup } from "./verb.ts";

const marks = { ready: "●", degraded: "◐", missing: "○" } as const;

export function doctorCommand(): Command {
  return verb("doctor", "what this machine offers, and the one thing to do for each that is missing", "openforge doctor").action(
    (options: CommonOptions) =>
      runVerb(options, async ({ client, json }) => {
        const rows = await client.system.doctor();
        if (json) printJson(rows);
        else
          for (const row of rows) {
            print(`${marks[row.status]} ${row.name.padEnd(20)} ${row.detail}`);
            if (row.remedy !== null) print(`  ${"".padEnd(20)} → ${row.remedy}`);
          }
        return 0;
      }),
  );
}

export function imagesCommand(): Command {
  const images = verbGroup("images", "container images");
  images.addCommand(
    verb("prepare", "the base image: pulled, else built from this machine's own distribution packages", "openforge images prepare").action(
      (options: CommonOptions) =>
        runVerb(options, async ({ client, json, signal }) => {
          const prepared = await follow(await client.system.prepareImages(undefined, { signal }));
          if (json) printJson(prepared);
          else print(`${prepared.image} is ready (${prepared.how}).`);
          return 0;
        }),
    ),
  );
  return images;
}

export function storeCommand(): Command {
  const store = verbGroup("store", "the recordings on disk");
  store.addCommand(
    verb("check", "verify every reference and checksum; repair what a crash can leave", "openforge store check").action((options: CommonOptions) =>
      runVerb(options, async ({ client, json }) => {
        const problems = await client.system.checkStore();
        if (json) printJson({ problems });
        else if (problems.length === 0) print("The store is whole.");
        else for (const problem of problems) print(`${problem.where}: ${problem.message}${problem.repaired ? " (repaired)" : ""}`);
        const left = problems.filter((problem) => !problem.repaired).length;
        if (left > 0 && !json) note(`${left} problems stay; nothing was deleted.`);
        return left === 0 ? 0 : 1;
      }),
    ),
  );
  return store;
}
