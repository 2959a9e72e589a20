/** `result.json` of Harbor's jobs and trials, as far as we read it. */
import { z } from "zod";

const rewards = z.object({ rewards: z.record(z.string(), z.number()).nullish() }).nullish();
const timing = z.object({ started_at: z.string().nullish(), finished_at: z.string().nullish() }).nullish();
const failure = z.object({ exception_type: z.string(), exception_message: z.string() }).nullish();
const context = z
  .object({
    n_input_tokens: z.number().nullish(),
    n_output_tokens: z.number().nullish(),
    rollout_details: z
      .array(
        z.object({
          prompt_token_ids: z.array(z.array(z.number().int())).optional(),
          completion_token_ids: z.array(z.array(z.number().int())).optional(),
          logprobs: z.array(z.array(z.number())).optional(),
        }),
      )
      .nullish(),
  })
  .nullish();
export type AgentResult = z.infer<typeof context>;

export const jobResultSchema = z.object({
  id: z.string(),
  started_at: z.string(),
  finished_at: z.string().nullish(),
  n_total_trials: z.number(),
});

export const trialResultSchema = z.object({
  id: z.string(),
  task_name: z.string(),
  trial_name: z.string(),
  task_id: z.object({ path: z.string().optional(), name: z.string().optional() }),
  agent_info: z.object({
    name: z.string(),
    version: z.string(),
    model_info: z.object({ name: z.string(), provider: z.string().nullish() }).nullish(),
  }),
  agent_result: context,
  verifier_result: rewards,
  exception_info: failure,
  started_at: z.string().nullish(),
  finished_at: z.string().nullish(),
  environment_setup: timing,
  agent_setup: timing,
  agent_execution: timing,
  verifier: timing,
  step_results: z
    .array(
      z.object({
        step_name: z.string(),
        agent_result: context,
        verifier_result: rewards,
        exception_info: failure,
        agent_execution: timing,
        verifier: timing,
      }),
    )
    .nullish(),
});
export type TrialResult = z.infer<typeof trialResultSchema>;

export const trialLockSchema = z.object({ task: z.object({ digest: z.string() }) });
