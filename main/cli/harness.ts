import type { Command } from "commander";
import type { HarnessProbeView, HarnessView } from "../api/harness-views.ts";
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
              ["id", "version", "licence", "dialects", "extends", "needs", "installed", "last probe"],
              harnesses.map((row) => [
                row.id,
                row.version,
                // The licence's name; who ships it, and how, is in `--json` and the window.
                row.licence.split(/[;(]/)[0]?.trim() ?? "",
                row.dialects.join(", "),
                row.prefix,
                needsOf(row),
                row.installed ? "yes" : "no",
                row.fault ?? probeOf(row.lastProbe),
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
          else print(`${probed.name} ${probed.version}: ${probeOf(probed.lastProbe)}`);
          return probed.lastProbe?.ok === true ? 0 : 1;
        }),
      ),
  );
  return harness;
}

/** `npm, 306 MB`: what it takes to bring it here and to run it. */
function needsOf({ needs }: HarnessView): string {
  const runtime = needs.runtime === "python" ? [`python ${needs.runtimeVersion ?? ""}`.trim()] : [];
  const screen = needs.display ? ["a screen"] : [];
  const size = needs.diskMb === null ? [] : [`${needs.diskMb} MB`];
  return [...needs.toInstall.filter((program) => program !== "python3"), ...runtime, ...needs.programs, ...screen, ...size].join(", ") || "–";
}

/** What it did, when and where: `2 chat calls arrived …; extends; 2026-11-30 in local on bench (linux x64), 0.4 s`. */
function probeOf(probe: HarnessProbeView | null): string {
  if (probe === null) return "–";
  const grows = probe.extends === null ? [] : [probe.extends ? "each request extends the one before" : "a request did not extend the one before"];
  const place = [probe.sandbox === null ? "" : ` in ${probe.sandbox}`, probe.machine === null ? "" : ` on ${probe.machine}`].join("");
  const time = probe.seconds === null ? "" : `, ${probe.seconds.toFixed(1)} s`;
  const version = probe.version === null ? "" : `${probe.version}, `;
  return [probe.detail, ...grows, `${version}${new Date(probe.at).toISOString().slice(0, 16).replace("T", " ")}${place}${time}`].join(" · ");
}
