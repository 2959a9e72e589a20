/**
 * verl's parquet files. SFT: `messages` and `tools` for its chat template. RL: one row a chain, with the prompt that verl's dataset
 * reads and, beside it, what verl's agent loop puts out for a finished rollout (`prompt_ids`, `response_ids`, `response_mask`,
 * `response_logprobs`, `reward_score`, `num_turns`) with the advantages.
 *
 * A parquet column has one type: tool-call arguments are JSON text. Tools are structs, since verl hands them to the template as they
 * are; fields that only some of them have read as null in the others, so `tools_json` holds them as they were.
 */
import { type ChatMessage, type ChatTool, chatMessages, chatTools } from "../rows/chat-form.ts";
import { finiteOrZero, splitAtResponse } from "../rows/response.ts";
import type { TrainingRow } from "../rows/training-row.ts";
import { type ColumnType, commonType, type Fields } from "./column-type.ts";
import { writeParquet } from "./parquet-file.ts";
import { advantageList, origin, type TrainerFile, unsayable } from "./trainer-file.ts";

const message: ColumnType = {
  fields: {
    role: "text",
    content: "text",
    reasoning_content: "text",
    tool_calls: { list: { fields: { id: "text", type: "text", function: { fields: { name: "text", arguments: "text" } } } } },
    tool_call_id: "text",
    name: "text",
  },
};
const integers: ColumnType = { list: "integer" };
const originFields: Fields = {
  rollout: "text",
  chain: "integer",
  task: "text",
  task_digest: "text",
  harness: "text",
  harness_version: "text",
  policy: "text",
  policy_versions: { list: "text" },
  step: "integer",
};

type Row = Readonly<Record<string, unknown>>;

/** Resolves with the number of rows. */
export async function writeVerlSft(file: TrainerFile): Promise<number> {
  const seen = new Map<string, readonly ChatTool[]>();
  for await (const row of file.rows()) {
    const tools = chatTools(row.tools);
    seen.set(JSON.stringify(tools), tools);
  }
  if (seen.size > 1)
    file.note("Rows differ in their tools: fields that only some have read as null in `tools`; `tools_json` holds them as they were.");
  const tools = commonType([...seen.values()]);
  const columns: Fields = {
    messages: { list: message },
    ...(tools === null ? {} : { tools }),
    tools_json: "text",
    input_ids: integers,
    loss_mask: integers,
    advantages: { list: "double" },
    reward: "double",
    origin: { fields: originFields },
  };
  return writeParquet(file.path, columns, carried(file, sftRow));
}

function sftRow(row: TrainingRow): Row | null {
  const messages = chatMessages(row.messages);
  if (messages === null) return null;
  const tools = chatTools(row.tools);
  return {
    messages: messages.map(withTextArguments),
    tools: tools.length === 0 ? null : tools,
    tools_json: JSON.stringify(tools),
    input_ids: row.tokens?.ids,
    loss_mask: row.tokens?.mask,
    advantages: advantageList(row),
    reward: row.rollout.reward,
    origin: origin(row),
  };
}

/** Resolves with the number of rows. */
export async function writeVerlRl(file: TrainerFile): Promise<number> {
  const columns: Fields = {
    data_source: "text",
    prompt: { list: message },
    ability: "text",
    reward_model: { fields: { style: "text", ground_truth: "text" } },
    extra_info: { fields: { split: "text", index: "integer", need_tools_kwargs: "boolean", group: "text", tools: "text", ...originFields } },
    prompt_ids: integers,
    response_ids: integers,
    response_mask: integers,
    response_logprobs: { list: "float" },
    advantages: { list: "double" },
    reward_score: "double",
    num_turns: "integer",
  };
  let index = 0;
  return writeParquet(
    file.path,
    columns,
    carried(file, (row) => {
      const made = rlRow(row, index);
      if (made !== null) index += 1;
      return made;
    }),
  );
}

function rlRow(row: TrainingRow, index: number): Row | null {
  const prompt = chatMessages(row.messages.slice(0, row.prompt));
  if (prompt === null || row.tokens === null) return null;
  const { prompt: promptIds, response, mask, logprobs, advantages } = splitAtResponse(row.tokens);
  return {
    data_source: row.rollout.taskName,
    prompt: prompt.map(withTextArguments),
    ability: "agent",
    // The reward comes from the task's own verifier: what is to be verified is the task.
    reward_model: { style: "rule", ground_truth: row.rollout.taskDigest },
    extra_info: { split: "train", index, need_tools_kwargs: false, group: row.group, tools: JSON.stringify(chatTools(row.tools)), ...origin(row) },
    prompt_ids: promptIds,
    response_ids: response,
    response_mask: mask,
    response_logprobs: finiteOrZero(logprobs),
    advantages,
    reward_score: row.rollout.reward,
    num_turns: row.turns,
  };
}

async function* carried(file: TrainerFile, made: (row: TrainingRow) => Row | null): AsyncGenerator<Row> {
  for await (const row of file.rows()) {
    const written = made(row);
    if (written === null) file.leaveOut(row, unsayable);
    else yield written;
  }
}

function withTextArguments(given: ChatMessage): Row {
  const calls = given.tool_calls?.map((call) => ({ ...call, function: { ...call.function, arguments: JSON.stringify(call.function.arguments) } }));
  return calls === undefined ? { ...given } : { ...given, tool_calls: calls };
}
