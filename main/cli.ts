/** The command line: every verb of the product in one table. */
import { Command, CommanderError } from "commander";
import { allVerbs, outliveReaders, printFailure, start } from "./cli/index.ts";
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

/** The command whose use was wrong. */
let failing: Command = program;

program.helpCommand("help [verb]", "how a verb is used");
for (const command of allVerbs()) program.addCommand(command);
setContractExitCodes(program);

/** Commander ends with 1 on wrong usage; the contract says 2, and with --json the fault is a document. */
function setContractExitCodes(command: Command): void {
  command.exitOverride((error) => {
    failing = command;
    throw error;
  });
  command.configureOutput({ outputError: () => undefined });
  for (const child of command.commands) setContractExitCodes(child);
}

/** `runs show` for its help. */
function pathOf(command: Command): string {
  const above = command.parent === null ? "" : `${pathOf(command.parent)} `;
  return `${above}${command.name()}`;
}

/** The first word that is no option of the program itself nor the value of one. */
function verbOf(words: readonly string[]): string | null {
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "--data" || word === "--port") index += 1;
    else if (!word.startsWith("-")) return word;
  }
  return null;
}

function requireKnownVerb(words: readonly string[]): void {
  const verb = verbOf(words);
  if (verb === null || verb === "help" || program.commands.some((command) => command.name() === verb)) return;
  const known = program.commands.map((command) => command.name()).join(", ");
  throw new CommanderError(2, "commander.unknownCommand", `There is no verb \`${verb}\`; there are ${known}.`);
}

/** Commander's words as a sentence of ours. */
function usageSentence(text: string): string {
  const line = text
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (.*)\?\)$/, "; did you mean $1?")
    .replace(/^\(outputHelp\)$/, "A verb is missing.");
  const sentence = `${line.slice(0, 1).toUpperCase()}${line.slice(1)}`;
  return /[.?]$/.test(sentence) ? sentence : `${sentence}.`;
}

outliveReaders();
try {
  requireKnownVerb(process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) process.exitCode = 0;
  else {
    const remedy = `See \`${pathOf(failing)} --help\`.`;
    printFailure({ code: "usage", message: usageSentence(error.message), remedy, exitCode: 2 }, process.argv.includes("--json"));
    process.exitCode = 2;
  }
}
