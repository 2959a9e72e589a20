/** The verbs of the command line, and how it speaks. */
import type { Command } from "commander";
import { attachCommand, wrapCommand } from "./attach.ts";
import { exportCommand } from "./export.ts";
import { harnessCommand } from "./harness.ts";
import { doctorCommand, imagesCommand, storeCommand } from "./machine.ts";
import { policyCommand } from "./policy.ts";
import { quickstartCommand } from "./quickstart.ts";
import { runCommand } from "./run.ts";
import { callsCommand, runsCommand } from "./runs.ts";
import { serveCommand } from "./serve.ts";
import { taskCommand } from "./task.ts";
import { trainCommand } from "./train.ts";

export { outliveReaders, printFailure } from "./output.ts";
export { start } from "./start.ts";

export function allVerbs(): readonly Command[] {
  return [
    serveCommand(),
    doctorCommand(),
    quickstartCommand(),
    runCommand(),
    runsCommand(),
    callsCommand(),
    exportCommand(),
    trainCommand(),
    attachCommand(),
    wrapCommand(),
    taskCommand(),
    harnessCommand(),
    imagesCommand(),
    policyCommand(),
    storeCommand(),
  ];
}
