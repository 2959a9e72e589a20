/** A teacher's run at a task as the text that a policy sees and writes in one of the harnesses. */
import type { StarterTask } from "./contract.ts";
import { finalWord, type Random } from "./families.ts";
import type { HarnessFormat } from "./harness-formats.ts";
import { SimulatedShell } from "./simulated-shell.ts";
import { teach } from "./teacher.ts";

export interface Transcript {
  /** Prompt and answers by turns, as the chat template writes them; joined they are the whole. */
  readonly parts: readonly { readonly text: string; readonly ofPolicy: boolean }[];
  /** The verifier would be content. */
  readonly solved: boolean;
}

const end = "<|im_end|>";

export function teacherTranscript(task: StarterTask, format: HarnessFormat, random: Random): Transcript {
  const shell = new SimulatedShell(task);
  const run = teach(task, random);
  const answering = `${end}\n<|im_start|>assistant\n`;
  const parts = [{ text: `<|im_start|>system\n${systemText(format)}${end}\n<|im_start|>user\n${task.instruction}${answering}`, ofPolicy: false }];
  const space = format.resultRole === "tool" ? " " : "";
  let step = run.next();
  while (step.done !== true) {
    const { output, exitCode } = shell.run(step.value);
    parts.push({ text: `${format.call(step.value)}${end}`, ofPolicy: true });
    parts.push({ text: `\n<|im_start|>${format.resultRole}\n${space}${format.result(output, exitCode)}${answering}`, ofPolicy: false });
    step = run.next({ output, exitCode });
  }
  parts.push({ text: `${format.answer(step.value)}${end}`, ofPolicy: true });
  return { parts, solved: step.value === finalWord && shell.satisfies(task.wanted) };
}

/** What stands in the system turn: one piece of the tokenizer for each harness. */
export function systemText({ system, tools }: HarnessFormat): string {
  return [system, ...tools.map((tool) => pythonJson({ type: "function", function: tool }))].join("\n");
}

/** With the spaces of Python's `json.dumps`, as templates write it. */
function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${pythonJson(item)}`)
    .join(", ")}}`;
}
