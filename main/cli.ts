/** The command line: every verb of the product in one table. */
import { Command, CommanderError } from "commander";
import { harnessCommand } from "./cli/harness.ts";
import { doctorCommand, imagesCommand, storeCommand } from "./cli/machine.ts";
import { printFailure } from "./cli/output.ts";
import { policyCommand } from "./cli/policy.ts";
import { runCommand } from "./cli/run.ts";
import { callsCommand, runsCommand } from "./cli/runs.ts";
import { serveCommand } from "./cli/serve.ts";
import { start } from "./cli/start.ts";
import { taskCommand } from "./cli/task.ts";
import { productVersion } from "./machine/index.ts";

const program = new Command("openforge")
  .description("Train and study an agent inside the harness it ships with. Without a verb: opens the workbench.")
  .version(productVersion())
  .option("--data <folder>", "the data folder (default: $OPENFORGE_HOME, else the platform's)")
  .option("--port <n>", "port on 127.0.0.1 when the workbench is served")
  .option("--no-starter", "never run the starter experiment by itself")
  .option("--no-window", "serve for a browser even where a window could be opened")
  .enablePositionalOptions()
  .action(start);

const verbs = [
  serveCommand,
  doctorCommand,
  runCommand,
  runsCommand,
  callsCommand,
  taskCommand,
  harnessCommand,
  imagesCommand,
  policyCommand,
  storeCommand,
];
for (const command of verbs) program.addCommand(command());
setContractExitCodes(program);

/** Commander ends with 1 on wrong usage; the contract says 2, and with --json the fault is a document. */
function setContractExitCodes(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const child of command.commands) setContractExitCodes(child);
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) process.exitCode = 0;
  else {
    const message = `${error.message.replace(/^error: /, "").replace(/^\(outputHelp\)$/, "A verb is missing")}.`.replace(/\.\.$/, ".");
    printFailure({ code: "usage", message, remedy: "See `openforge --help`.", exitCode: 2 }, process.argv.includes("--json"));
    process.exitCode = 2;
  }
}
