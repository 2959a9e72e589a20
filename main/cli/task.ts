import { resolve } from "node:path";
import type { Command } from "commander";
import { wilsonInterval } from "../../engine/statistics/index.ts";
import type { TaskCheckView, TaskRunView } from "../api/task-views.ts";
import { WorkbenchError } from "../errors.ts";
import { number, print, printJson, shellWord, table } from "./output.ts";
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
          else print(`Wrote ${made.path}. Next: openforge task run-gold ${shellWord(path)}`);
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
    verb("import", "bring in a package: a folder, a .tar.gz or .zip archive, a git address", "openforge task import downloads/rename-files.tar.gz")
      .argument("<source>")
      .option("--to <folder>", "where to put it (default: among the tasks of the data folder)")
      .action((source: string, options: CommonOptions & { to?: string }) => runVerb(options, (context) => bringIn(context, source, options.to))),
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
  task.addCommand(
    rehearsal("run-gold", "run the package's own solution; must score the maximum")
      .option("--times <n>", "run it n times: how often it scores the maximum shows how far the verifier can be relied on", "1")
      .action((path: string, options: TaskOptions & { times?: string }) =>
        runVerb(options, (context) => {
          const times = count(options.times);
          return times === 1 ? rehearseOnce(context, path, options, "runGold") : flakeMeter(context, path, options, times);
        }),
      ),
  );
  task.addCommand(
    rehearsal("run-empty", "run the verifier on untouched work; must score 0").action((path: string, options: TaskOptions) =>
      runVerb(options, (context) => rehearseOnce(context, path, options, "runEmpty")),
    ),
  );
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

function rehearsal(name: string, description: string): Command {
  return verb(name, description, `openforge task ${name} my-tasks/rename-files`)
    .argument("<path>")
    .option("--sandbox <kind>", "local or docker", "local");
}

async function rehearseOnce({ client, json, signal }: VerbContext, path: string, options: TaskOptions, which: Rehearsal): Promise<0 | 1> {
  const input = { path: resolve(path), sandbox: sandboxKind(options.sandbox) };
  const result = await follow<TaskRunView>(await client.tasks[which](input, { signal }));
  const { ok, detail, ...shape } = result;
  if (json) printJson(shape);
  else print(`${outcomeLine(result)}${detail === null ? "" : `\n${detail}`}`);
  return ok ? 0 : 1;
}

/** How often the gold solution earns the maximum, with Wilson's interval; a solution that always works and a sound verifier: always. */
async function flakeMeter({ client, json, signal }: VerbContext, path: string, options: TaskOptions, times: number): Promise<0 | 1> {
  const input = { path: resolve(path), sandbox: sandboxKind(options.sandbox) };
  const runs: TaskRunView[] = [];
  while (runs.length < times && !signal.aborted) {
    const run = await follow<TaskRunView>(await client.tasks.runGold(input, { signal }));
    runs.push(run);
    if (!json) print(`${runs.length}/${times}  ${outcomeLine(run)}`);
  }
  const maximum = runs.filter((run) => run.ok).length;
  const { low, high } = wilsonInterval(maximum / runs.length, runs.length);
  if (json) {
    const shapes = runs.map(({ reward, status, cause, seconds }) => ({ reward, status, cause, seconds }));
    printJson({ n: runs.length, maximum, low, high, runs: shapes });
  } else print(`${maximum} of ${runs.length} runs earned the maximum (95 %: ${number(low)} to ${number(high)})`);
  return maximum === runs.length ? 0 : 1;
}

const outcomeLine = (run: TaskRunView): string =>
  `reward ${number(run.reward)}  ${run.status}${run.cause === null ? "" : ` · ${run.cause}`}  ${run.seconds.toFixed(1)} s`;

function count(text: string | undefined): number {
  const times = Number(text ?? "1");
  if (Number.isInteger(times) && times >= 1 && times <= 1000) return times;
  throw new WorkbenchError("usage", `\`${text}\` is no number of runs.`, "Give --times a whole number from 1 to 1000.");
}

async function bringIn({ client, json }: VerbContext, source: string, to: string | undefined): Promise<0 | 1> {
  // An address goes as it is; a path is the caller's, not the service's.
  const from = /^\w+:\/\/|^[\w.-]+@[\w.-]+:/.test(source) ? source : resolve(source);
  const result = await client.tasks.import({ source: from, ...(to === undefined ? {} : { to: resolve(to) }) });
  if (json) printJson(result);
  else {
    for (const fault of result.faults) print(`${fault.file}:${fault.line}: ${fault.severity}: ${fault.message}`);
    for (const sentence of result.wants) print(sentence);
    print(result.valid ? `Imported as ${result.path} (${result.digest})` : `${result.path} is not valid and was not imported`);
  }
  return result.valid ? 0 : 1;
}

async function check({ client, json }: VerbContext, path: string): Promise<0 | 1> {
  const result: TaskCheckView = await client.tasks.check({ path: resolve(path) });
  if (json) printJson(result);
  else {
    for (const fault of result.faults) print(`${fault.file}:${fault.line}: ${fault.severity}: ${fault.message}`);
    for (const sentence of result.wants) print(sentence);
    print(result.valid ? `${result.path} is valid (${result.digest})` : `${result.path} is not valid`);
  }
  return result.valid ? 0 : 1;
}

function sandboxKind(text: string | undefined): "local" | "docker" {
  if (text === "docker" || text === "local" || text === undefined) return text ?? "local";
  throw new WorkbenchError("usage", `There is no sandbox called \`${text}\` for a task run.`, "Use --sandbox local or --sandbox docker.");
}
