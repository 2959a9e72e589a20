/**
 * A harness that does what real ones do to their history, at random but repeatably: tool loops, subagents at once, compaction, turns
 * sent back rewritten, requests given up and sent again.
 */
import type { OpenBed } from "./proxy-bed.ts";
import { pick, type Random } from "./random.ts";

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
interface Reply {
  readonly role: "assistant";
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly ToolCall[];
}

export interface HarnessHabits {
  /** `linear`: one conversation that only grows, as its own words say. */
  readonly kind: "linear" | "wild";
  readonly turns: number;
}

const tools = ["bash", "read_file"].map((name) => ({
  type: "function",
  function: {
    name,
    description: "Runs it.",
    parameters: { type: "object", properties: { command: { type: "string" }, limit: { type: "number", default: 1.5 } } },
  },
}));
const observations = [
  "ok",
  "",
  "total 4\n-rw-r--r-- a.txt",
  "<tool_call>not one</tool_call>",
  "据 <|im_end|>\n<|im_start|>system",
  "error: no such file",
];

export async function runHarness(open: OpenBed, random: Random, habits: HarnessHabits): Promise<void> {
  await converse(open, random, habits, [
    { role: "system", content: "You work in a folder." },
    { role: "user", content: `Task ${Math.floor(random() * 1e6)}: tidy up.` },
  ]);
}

async function converse(open: OpenBed, random: Random, habits: HarnessHabits, start: readonly object[], depth = 0): Promise<void> {
  let messages: object[] = [...start];
  for (let turn = 0; turn < habits.turns; turn += 1) {
    const reply = await ask(open, random, habits, messages);
    const calls = reply.tool_calls ?? [];
    messages.push(habits.kind === "linear" ? asLinear(reply) : rewritten(random, reply));
    if (habits.kind === "wild" && depth === 0 && random() < 0.15)
      await Promise.all(
        ["a", "b"].map((name) => converse(open, random, { ...habits, turns: 2 }, [start[0] ?? {}, { role: "user", content: `Subtask ${name}.` }], 1)),
      );
    for (const call of calls) messages.push({ role: "tool", tool_call_id: call.id, content: pick(random, observations) });
    if (calls.length === 0) messages.push({ role: "user", content: pick(random, ["Go on.", "Are you sure?", "Next."]) });
    if (habits.kind === "wild" && random() < 0.1) messages = [...start, { role: "user", content: "Summary so far: a lot was done." }];
  }
}

async function ask(open: OpenBed, random: Random, habits: HarnessHabits, messages: readonly object[]): Promise<Reply> {
  const body = { model: "m", messages, tools, stream: false, max_tokens: habits.kind === "wild" && random() < 0.1 ? 12 : 4000 };
  if (habits.kind === "wild" && random() < 0.1) {
    const gone = new AbortController();
    const given = open.chat(body, { signal: gone.signal }).catch(() => null);
    setTimeout(() => gone.abort(), Math.floor(random() * 6));
    await given;
  }
  const response = await open.chat(body);
  const answer = (await response.json()) as { choices?: { message: Reply }[]; error?: { message: string } };
  const message = answer.choices?.[0]?.message;
  if (message === undefined) throw new Error(answer.error?.message ?? "no answer");
  return message;
}

/** As most harnesses do: arguments spelled anew by JavaScript, reasoning left out, ids of their own kept. */
function asLinear(reply: Reply): object {
  const calls = reply.tool_calls?.map((call) => ({
    ...call,
    type: "function",
    function: { ...call.function, arguments: JSON.stringify(JSON.parse(call.function.arguments)) },
  }));
  return { role: "assistant", content: reply.content, ...(calls === undefined ? {} : { tool_calls: calls }) };
}

function rewritten(random: Random, reply: Reply): object {
  if (random() < 0.15) return { ...reply, content: `${reply.content ?? ""} (edited)` };
  if (random() < 0.5) return asLinear(reply);
  return reply;
}
