#!/usr/bin/env node
/** console: one tool `run`, whose results begin with the exit code. program.mjs says how it is started. */
import { askModel, runCommand, runProgram } from "./program.mjs";

const system = "You work at a console. Call run with one command line after the other; say in a few words how it went when you are through.";
const runTool = {
  type: "function",
  function: {
    name: "run",
    description: "Runs one command line. The result begins with its exit code.",
    parameters: { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] },
  },
};

await runProgram(async (config, task, tell) => {
  const messages = [
    { role: "system", content: system },
    { role: "user", content: task },
  ];
  for (let turn = 1; turn <= config.maxTurns; turn++) {
    const { message, isCut } = await askModel(config, messages, [runTool], tell);
    const calls = message.tool_calls ?? [];
    messages.push({ role: "assistant", content: message.content ?? null, ...(calls.length > 0 ? { tool_calls: calls } : {}) });
    if (calls.length === 0) return message.content ?? "";
    for (const call of calls) {
      const content = isCut ? "not run: the call was cut at the token limit" : await runCall(call.function, config, tell);
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
  return null;
});

async function runCall({ name, arguments: given }, config, tell) {
  const command = name === "run" ? commandOf(given) : null;
  if (command === null) return 'not run: call run with {"cmd": "a command line"}';
  const { text, exitCode } = await runCommand(command, config, tell);
  return `exit=${exitCode ?? "unknown"}${text === "" ? "" : ` ${text}`}`;
}

function commandOf(given) {
  try {
    const { cmd } = JSON.parse(given);
    return typeof cmd === "string" ? cmd : null;
  } catch {
    // Told to the model as any other wrong call.
    return null;
  }
}
