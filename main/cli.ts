/** The command line: every verb of the product in one table. */
import { Command, CommanderError } from "commander";
import { allVerbs, printFailure, start } from "./cli/index.ts";
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

for (const command of allVerbs()) program.addCommand(command);
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
