import type { Command } from "commander";
import { WorkbenchError } from "../errors.ts";
import { print, printJson, table } from "./output.ts";
import { type CommonOptions, follow, runVerb, verb, verbGroup } from "./verb.ts";

export function harnessCommand(): Command {
  const harness = verbGroup("harness", "the harness catalogue");
  harness.addCommand(
    verb("list", "what can be run, and what is installed", "openforge harness list --json").action((options: CommonOptions) =>
      runVerb(options, async ({ client, json }) => {
        const harnesses = await client.harnesses.list();
        if (json) printJson(harnesses);
        else
          print(
            table(
              ["id", "version", "licence", "dialects", "extends", "installed", "last probe"],
              harnesses.map((row) => [
                row.id,
                row.version,
                row.licence,
                row.dialects.join(", "),
                row.prefix,
                row.installed ? "yes" : "no",
                row.lastProbe === null ? "–" : row.lastProbe.detail,
              ]),
            ),
          );
        return 0;
      }),
    ),
  );
  harness.addCommand(
    verb("new", "write a manifest to fill in", "openforge harness new my-agent")
      .argument("<id>")
      .action((id: string, options: CommonOptions) =>
        runVerb(options, async ({ client, json }) => {
          const made = await client.harnesses.create({ id });
          if (json) printJson(made);
          else print(`Wrote ${made.path}. Fill it in, then: openforge harness probe ${id}`);
          return 0;
        }),
      ),
  );
  harness.addCommand(
    verb("install", "bring one harness to this machine, at its pinned version", "openforge harness install codex")
      .argument("<id>")
      .action((id: string, options: CommonOptions) =>
        runVerb(options, async ({ client, json, signal }) => {
          const installed = await follow(await client.harnesses.install({ id }, { signal }));
          if (json) printJson(installed);
          else print(`${installed.name} ${installed.version} is installed.`);
          return 0;
        }),
      ),
  );
  harness.addCommand(
    verb("probe", "run it once in a sandbox: does a call arrive, and what is captured", "openforge harness probe react")
      .argument("<id>")
      .option("--sandbox <kind>", "local or docker", "local")
      .action((id: string, options: CommonOptions & { sandbox?: string }) =>
        runVerb(options, async ({ client, json, signal }) => {
          if (options.sandbox !== "local" && options.sandbox !== "docker") {
            throw new WorkbenchError(
              "usage",
              `There is no sandbox called \`${options.sandbox}\` for a probe.`,
              "Use --sandbox local or --sandbox docker.",
            );
          }
          const probed = await follow(await client.harnesses.probe({ id, sandbox: options.sandbox }, { signal }));
          if (json) printJson(probed);
          else print(`${probed.name} ${probed.version}: ${probed.lastProbe?.detail ?? "not probed"}`);
          return probed.lastProbe?.ok === true ? 0 : 1;
        }),
      ),
  );
  return harness;
}
