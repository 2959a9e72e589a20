#!/usr/bin/env node
/** scratchpad: no tools in the request; actions and observations are lines of plain messages. program.mjs says how it is started. */
import { askModel, runCommand, runProgram } from "./program.mjs";

const system =
  "Work in steps. A step is one line: `Action:` and a shell command. What the command prints is told to you as an observation. When the task is done, write one line: `Answer:` and what there is to say.";

await runProgram(async (config, task, tell) => {
  const messages = [
    { role: "system", content: system },
    { role: "user", content: task },
  ];
  for (let turn = 1; turn <= config.maxTurns; turn++) {
    const { message, isCut } = await askModel(config, messages, [], tell);
    const said = message.content ?? "";
    messages.push({ role: "assistant", content: said });
    const command = /^Action: *(.+)$/m.exec(said)?.[1];
    if (command === undefined) return said.replace(/^Answer: */, "");
    messages.push({ role: "user", content: isCut ? "Observation: not run, the line was cut" : await observe(command, config, tell) });
  }
  return null;
});

async function observe(command, config, tell) {
  const { text, exitCode } = await runCommand(command, config, tell);
  return `Observation${exitCode === 0 ? "" : ` (exit ${exitCode ?? "unknown"})`}: ${text === "" ? "nothing" : text}`;
}
