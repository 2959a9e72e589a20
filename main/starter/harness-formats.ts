/**
 * How the three harnesses of ours speak with a policy, for the teacher's transcripts. These are copies of what the programs in `resources/harnesses` send;
 * `harness-formats.test.ts` holds them to the programs themselves.
 */
import type { StarterHarness } from "./contract.ts";

export interface HarnessFormat {
  readonly system: string;
  /** As in a chat request. */
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: Readonly<Record<string, unknown>> }[];
  /** What the policy writes to have a command run. */
  readonly call: (command: string) => string;
  /** What the policy writes to end. */
  readonly answer: (text: string) => string;
  /** What the harness says a command printed; `output` without its last line end. */
  readonly result: (output: string, exitCode: number) => string;
  readonly resultRole: "tool" | "user";
}

const shellTool = (name: string, description: string, argument: string) => ({
  ...{ name, description },
  parameters: { type: "object", properties: { [argument]: { type: "string" } }, required: [argument] },
});

const toolCall = (name: string, argument: string, command: string): string =>
  `<tool_call>\n{"name": "${name}", "arguments": {"${argument}": ${JSON.stringify(command)}}}\n</tool_call>`;

export const harnessFormats: Readonly<Record<StarterHarness, HarnessFormat>> = {
  react: {
    system: "You are an agent in a shell. Use the tools to do the task. When it is done, answer in words, without a tool call.",
    tools: [shellTool("bash", "Runs a command in a new bash and returns what it prints, with its exit code when that is not 0.", "command")],
    call: (command) => toolCall("bash", "command", command),
    answer: (text) => text,
    result: (output, exitCode) => [output, exitCode === 0 ? "" : `[exit ${exitCode}]`].filter((part) => part !== "").join("\n") || "(no output)",
    resultRole: "tool",
  },
  console: {
    system: "You work at a console. Call run with one command line after the other; say in a few words how it went when you are through.",
    tools: [shellTool("run", "Runs one command line. The result begins with its exit code.", "cmd")],
    call: (command) => toolCall("run", "cmd", command),
    answer: (text) => text,
    result: (output, exitCode) => [`exit=${exitCode}`, output].filter((part) => part !== "").join(" "),
    resultRole: "tool",
  },
  scratchpad: {
    system:
      "Work in steps. A step is one line: `Action:` and a shell command. What the command prints is told to you as an observation. When the task is done, write one line: `Answer:` and what there is to say.",
    tools: [],
    call: (command) => `Action: ${command}`,
    answer: (text) => `Answer: ${text}`,
    result: (output, exitCode) => `Observation${exitCode === 0 ? "" : ` (exit ${exitCode})`}: ${output === "" ? "nothing" : output}`,
    resultRole: "user",
  },
};
