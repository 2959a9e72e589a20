/** ATIF 1.0 to 1.8 as Harbor reads it: what it refuses is refused here too. */
import { z } from "zod";
import { parseFile } from "../import-fault.ts";
import { moment } from "../moment.ts";

const anything = z.record(z.string(), z.unknown()).nullish();
const text = z.string().nullish();
const count = z.number().int().nullish();

const imageSource = z.strictObject({ media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]), path: z.string() });
const audioSource = z.strictObject({ media_type: z.string().regex(/^\s*audio\//i), path: z.string(), duration_sec: z.number().min(0).nullish() });
const part = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string(), source: z.null().optional() }),
  z.strictObject({ type: z.literal("image"), source: imageSource, text: z.null().optional() }),
  z.strictObject({ type: z.literal("audio"), source: audioSource, text: z.null().optional() }),
]);
const content = z.union([z.string(), z.array(part)], "must be a text or a list of text, image and audio parts");
export type AtifContent = z.infer<typeof content>;

const toolCall = z.strictObject({
  tool_call_id: z.string(),
  function_name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  extra: anything,
});
const subagentReference = z
  .strictObject({ trajectory_id: text, session_id: text, trajectory_path: text, extra: anything })
  .refine(
    ({ trajectory_id, trajectory_path }) => trajectory_id != null || trajectory_path != null,
    "names neither a trajectory_id nor a trajectory_path",
  );
const result = z.strictObject({
  source_call_id: text,
  content: content.nullish(),
  subagent_trajectory_ref: z.array(subagentReference).nullish(),
  extra: anything,
});
const metrics = z.strictObject({
  prompt_tokens: count,
  completion_tokens: count,
  cached_tokens: count,
  cost_usd: z.number().nullish(),
  prompt_token_ids: z.array(z.number().int()).nullish(),
  completion_token_ids: z.array(z.number().int()).nullish(),
  logprobs: z.array(z.number()).nullish(),
  extra: anything,
});

const agentOnly = ["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"] as const;
const step = z
  .strictObject({
    step_id: z.number().int().min(1),
    timestamp: text,
    source: z.enum(["system", "user", "agent"]),
    model_name: text,
    reasoning_effort: z.union([z.string(), z.number()]).nullish(),
    message: content,
    reasoning_content: text,
    tool_calls: z.array(toolCall).nullish(),
    observation: z.strictObject({ results: z.array(result) }).nullish(),
    metrics: metrics.nullish(),
    is_copied_context: z.boolean().nullish(),
    llm_call_count: z.number().int().min(0).nullish(),
    extra: anything,
  })
  .superRefine((given, context) => {
    const fault = (message: string): void => context.addIssue({ code: "custom", message });
    if (given.timestamp != null && moment(given.timestamp) === null) fault(`the timestamp ${given.timestamp} is no ISO 8601 time`);
    const misplaced = agentOnly.find((name) => given[name] != null);
    if (given.source !== "agent" && misplaced !== undefined) fault(`${misplaced} belongs to steps of the agent`);
    if (given.source === "agent" && given.llm_call_count === 0 && (given.metrics != null || given.reasoning_content != null))
      fault("a step without a model call has neither metrics nor reasoning");
    const made = new Set((given.tool_calls ?? []).map(({ tool_call_id }) => tool_call_id));
    const lost = (given.observation?.results ?? []).find(({ source_call_id }) => source_call_id != null && !made.has(source_call_id));
    if (lost !== undefined) fault(`a result names the call ${lost.source_call_id}, which is not of this step`);
  });
export type AtifStep = z.infer<typeof step>;

const versions = ["ATIF-v1.0", "ATIF-v1.1", "ATIF-v1.2", "ATIF-v1.3", "ATIF-v1.4", "ATIF-v1.5", "ATIF-v1.6", "ATIF-v1.7", "ATIF-v1.8"] as const;

const fields = {
  schema_version: z.enum(versions).default("ATIF-v1.8"),
  session_id: text,
  trajectory_id: text,
  agent: z.strictObject({
    name: z.string(),
    version: z.string(),
    model_name: text,
    tool_definitions: z.array(z.record(z.string(), z.unknown())).nullish(),
    extra: anything,
  }),
  steps: z.array(step).min(1, "there is no step"),
  notes: text,
  final_metrics: z
    .strictObject({
      total_prompt_tokens: count,
      total_completion_tokens: count,
      total_cached_tokens: count,
      total_cost_usd: z.number().nullish(),
      total_steps: z.number().int().min(0).nullish(),
      extra: anything,
    })
    .nullish(),
  continued_trajectory_ref: text,
  extra: anything,
};

const plain = z.strictObject(fields);
export interface AtifTrajectory extends z.output<typeof plain> {
  readonly subagent_trajectories?: AtifTrajectory[] | null | undefined;
}

const trajectory: z.ZodType<AtifTrajectory> = z
  .strictObject({
    ...fields,
    get subagent_trajectories() {
      return z.array(trajectory).nullish();
    },
  })
  .superRefine((given, context) => {
    const gap = given.steps.findIndex(({ step_id }, at) => step_id !== at + 1);
    if (gap >= 0)
      context.addIssue({ code: "custom", path: ["steps", gap], message: `step_id must be ${gap + 1}: steps are counted from 1 without a gap` });
    const ids = (given.subagent_trajectories ?? []).map(({ trajectory_id }) => trajectory_id);
    if (ids.some((id) => id == null) || new Set(ids).size < ids.length)
      context.addIssue({ code: "custom", path: ["subagent_trajectories"], message: "every one needs a trajectory_id of its own" });
  });

export function readTrajectory(written: string, path: string): AtifTrajectory {
  return parseFile(trajectory, written, path);
}
