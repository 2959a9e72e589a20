import { resolve } from "node:path";
import type { Command } from "commander";
import type { TaskCheckView, TaskRunView } from "../api/views.ts";
import { WorkbenchError } from "../errors.ts";
import { number, print, printJson, table } from "./output.ts";
import { type CommonOptions, follow, runVerb, type VerbContext, verb, verbGroup } from "./verb.ts";

interface TaskOptions extends CommonOptions {
  readonly sandbox?: string;
}

type Rehearsal = "runGold" | "runEmpty";

export function taskCommand(): Command {
  const task = verbGroup("task", "task packages");
  task.addCommand(
    verb("new", "write a new task package that already passes its own checks", "openforge task new my-tasks/rename-files")
      .argument("<path>")
      .option("--name <org/name>", "the package's name")
      .option("--family <family>", "its family")
      .action((path: string, options: CommonOptions & { name?: string; family?: string }) =>
        runVerb(options, async ({ client, json }) => {
          const made = await client.tasks.create({
            path: resolve(path),
            ...(options.name === undefined ? {} : { name: options.name }),
            ...(options.family === undefined ? {} : { family: options.family }),
          });
          if (json) printJson(made);
          else print(`Wrote ${made.path}. Next: openforge task run-gold ${path}`);
          return 0;
        }),
      ),
  );
  task.addCommand(
    verb("check", "validate a package: one line a fault", "openforge task check my-tasks/rename-files")
      .argument("<path>")
      .action((path: string, options: CommonOptions) => runVerb(options, (context) => check(context, path))),
  );
  task.addCommand(
    verb("digest", "the package's content digest", "openforge task digest my-tasks/rename-files")
      .argument("<path>")
      .action((path: string, options: CommonOptions) =>
        runVerb(options, async ({ client, json }) => {
          const result = await client.tasks.check({ path: resolve(path) });
          if (result.digest === null)
            throw new WorkbenchError("task", `${path} is no task package.`, "A package has a task.toml; see `openforge task new`.");
          if (json) printJson({ path: result.path, digest: result.digest });
          else print(result.digest);
          return 0;
        }),
      ),
  );
  task.addCommand(rehearsal("run-gold", "run the package's own solution; must score the maximum", "runGold"));
  task.addCommand(rehearsal("run-empty", "run the verifier on untouched work; must score 0", "runEmpty"));
  task.addCommand(
    verb("run-cheats", "run each cheat; every one must score 0", "openforge task run-cheats my-tasks/rename-files")
      .argument("<path>")
      .option("--sandbox <kind>", "local or docker", "local")
      .action((path: string, options: TaskOptions) =>
        runVerb(options, async ({ client, json, signal }) => {
          const input = { path: resolve(path), sandbox: sandboxKind(options.sandbox) };
          const { results } = await follow(await client.tasks.runCheats(input, { signal }));
          if (json) printJson({ results });
          else
            print(
              table(
                ["cheat", "reward", "outcome"],
                results.map((row) => [row.name, number(row.reward), row.status + (row.cause === null ? "" : ` · ${row.cause}`)]),
              ),
            );
          return results.every((row) => row.reward === 0) ? 0 : 1;
        }),
      ),
  );
  return task;
}

function rehearsal(name: string, description: string, which: Rehearsal): Command {
  return verb(name, description, `openforge task ${name} my-tasks/rename-files`)
    .argument("<path>")
    .option("--sandbox <kind>", "local or docker", "local")
    .action((path: string, options: TaskOptions) =>
      runVerb(options, async ({ client, json, signal }) => {
        const input = { path: resolve(path), sandbox: sandboxKind(options.sandbox) };
        const result = await follow<TaskRunView>(await client.tasks[which](input, { signal }));
        const { ok, detail, ...shape } = result;
        if (json) printJson(shape);
        else
          print(
            `reward ${number(result.reward)}  ${result.status}${result.cause === null ? "" : ` · ${result.cause}`}  ${result.seconds.toFixed(1)} s${detail === null ? "" : `\n${detail}`}`,
          );
        return ok ? 0 : 1;
      }),
    );
}

async function check({ client, json }: VerbContext, path: string): Promise<0 | 1> {
  const result: TaskCheckView = await client.tasks.check({ path: resolve(path) });
  if (json) printJson(result);
  else {
    for (const fault of result.faults) print(`${fault.file}:${fault.line}: ${fault.severity}: ${fault.message}`);
    print(result.valid ? `${result.path} is valid (${result.digest})` : `${result.path} is not valid`);
  }
  return result.valid ? 0 : 1;
}

function sandboxKind(text: string | undefined): "local" | "docker" {
  if (text === "docker" || text === "local" || text === undefined) return text ?? "local";
  throw new WorkbenchError("usage", `There is no sandbox called \`${text}\` for a task run.`, "Use --sandbox local or --sandbox docker.");
}
