/** Shapes that leave the service: to the window, the command line (`--json`) and scripts. zod is the only source of types here. */
import { z } from "zod";
import { captureLevels } from "../../engine/conversation/index.ts";
import { outcomeCauses, outcomeStatuses, rolloutPhases } from "../../engine/outcome/index.ts";
import { stepViewSchema } from "./grade-views.ts";

const captureSchema = z.enum(captureLevels);
const stringRecord = z.record(z.string(), z.string());

const isolationSchema = z.object({ files: z.string(), network: z.string(), processes: z.string(), limits: z.string() });

/** One rollout, as `run --json` and `runs show --json` print it; `phase`… are for live views. */
export const rolloutViewSchema = z.object({
  id: z.string(),
  experiment: z.string(),
  task: z.string(),
  taskPath: z.string(),
  taskDigest: z.string(),
  harness: z.string(),
  harnessVersion: z.string(),
  policy: z.string(),
  policyVersion: z.string().nullable(),
  sandbox: z.enum(["local", "docker", "kubernetes"]),
  groupIndex: z.number(),
  seed: z.number(),
  phase: z.enum(rolloutPhases),
  /** null until the rollout has ended. */
  status: z.enum(outcomeStatuses).nullable(),
  cause: z.enum(outcomeCauses).nullable(),
  action: z.enum(["train", "mask", "discard"]).nullable(),
  detail: z.string().nullable(),
  reward: z.number().nullable(),
  rewards: z.record(z.string(), z.number()).nullable(),
  attempts: z.number(),
  phases: z.array(z.object({ name: z.enum(rolloutPhases), startedAt: z.number(), seconds: z.number().nullable() })),
  isolation: isolationSchema.nullable(),
  fingerprint: stringRecord.nullable(),
  calls: z.number(),
  chains: z.number(),
  trainable: z.boolean().nullable(),
  trainableReason: z.string().nullable(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  /** Wall time from start to end, or so far; null when still queued. */
  seconds: z.number().nullable(),
  /** Of these, seconds that its calls waited for the policy before it began to answer: no part of the agent's budget. */
  policyWaitSeconds: z.number().nullable(),
  /** Of a task of several steps, in order; else empty. */
  steps: z.array(stepViewSchema),
  /** Words of whoever ordered it: step, split … */
  labels: z.record(z.string(), z.union([z.string(), z.number()])),
  createdAt: z.number(),
});
export type RolloutView = z.infer<typeof rolloutViewSchema>;

const callViewSchema = z.object({
  id: z.string(),
  rollout: z.string(),
  attempt: z.number(),
  index: z.number(),
  dialect: z.enum(["chat", "responses", "messages", "gemini", "unknown"]),
  method: z.string(),
  path: z.string(),
  status: z.enum(["ok", "error", "aborted", "partial", "not-found"]),
  httpStatus: z.number(),
  /** 0-based chain that owns this call's sampled tokens; null when it is in none. */
  chain: z.number().nullable(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  capture: captureSchema,
  aborted: z.boolean(),
  late: z.boolean(),
  retries: z.number(),
  replays: z.number(),
  quarantined: z.string().nullable(),
  breakCause: z.string().nullable(),
  startedAt: z.number(),
  seconds: z.number(),
  model: z.string(),
  stream: z.boolean(),
  tokenMode: z.enum(["as-sampled", "as-template", "text-in"]),
  finishReason: z.string().nullable(),
  unparsedToolCall: z.boolean(),
  session: stringRecord,
  /** One line: tool and its arguments, or the start of the text. */
  summary: z.string(),
  error: z.string().nullable(),
});
export type CallView = z.infer<typeof callViewSchema>;

const chainViewSchema = z.object({
  /** Indexes of the calls on this chain, in order. */
  calls: z.array(z.number()),
  tokens: z.number(),
  /** Tokens with mask 1 on this chain. */
  trained: z.number(),
  breakCause: z.string().nullable(),
});

export const rolloutDetailSchema = rolloutViewSchema.omit({ calls: true, chains: true }).extend({
  calls: z.array(callViewSchema),
  chains: z.array(chainViewSchema),
  /** Ids of the calls that a person has corrected. */
  corrected: z.array(z.string()),
  /** Rewards of the group (same task, harness, policy), by group index; null = none. */
  group: z.array(z.object({ id: z.string(), status: z.string().nullable(), reward: z.number().nullable() })),
});
export type RolloutDetail = z.infer<typeof rolloutDetailSchema>;

const summaryRowSchema = z.object({
  harness: z.string(),
  policy: z.string(),
  /** Rollouts with a reward. */
  n: z.number(),
  mean: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  infrastructureFailures: z.number(),
});
export type SummaryRow = z.infer<typeof summaryRowSchema>;

export const experimentViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
  status: z.enum(["running", "ended", "cancelled", "recording"]),
  /** `training` = a training run adds rollouts to it; `attach` = its rollouts are sessions of programs outside any sandbox. */
  kind: z.enum(["experiment", "training", "attach"]),
  spec: z.string(),
  total: z.number(),
  ended: z.number(),
  outcomes: z.record(z.string(), z.number()),
  calls: z.number(),
  chains: z.number(),
  tokens: z.number(),
  harnesses: z.array(z.string()),
  policies: z.array(z.string()),
  reward: z.object({ n: z.number(), mean: z.number().nullable(), low: z.number().nullable(), high: z.number().nullable() }),
});
export type ExperimentView = z.infer<typeof experimentViewSchema>;

export const experimentResultSchema = z.object({ experiment: z.string(), rollouts: z.array(rolloutViewSchema), summary: z.array(summaryRowSchema) });
export type ExperimentResult = z.infer<typeof experimentResultSchema>;

/** An experiment as a person writes it (YAML) and as the form sends it. */
export const experimentSpecSchema = z.strictObject({
  name: z.string().min(1).optional(),
  /** Task package folders, or `starter` for all that ship. */
  tasks: z.array(z.string().min(1)).min(1).default(["starter"]),
  harnesses: z.array(z.string().min(1)).min(1).default(["react"]),
  /** Policy ids, URLs, `scripted[:FILE]`, `replay:ROLLOUT`, `embedded:PATH`. */
  policies: z.array(z.string().min(1)).min(1).default(["scripted"]),
  k: z.number().int().positive().default(1),
  sandbox: z.enum(["local", "docker", "kubernetes"]).default("local"),
  concurrency: z.number().int().positive().max(256).default(2),
  seed: z.number().int().nonnegative().default(0),
  outcomePreset: z.enum(["default", "paper"]).default("default"),
  /** Preset `paper`: discard agents that ran out of their time, whatever their reward. */
  discardTimeouts: z.boolean().default(false),
  tokenMode: z.enum(["as-sampled", "as-template", "text-in"]).optional(),
  attempts: z.number().int().positive().max(10).default(3),
  /** Overrides the task's agent budget, seconds. */
  agentTimeoutSeconds: z.number().positive().optional(),
  /** Keep the final state of each sandbox, so that a changed verifier can grade it later (`runs regrade`). */
  keepWorkspace: z.boolean().default(false),
});
export type ExperimentSpec = z.infer<typeof experimentSpecSchema>;
export type ExperimentSpecInput = z.input<typeof experimentSpecSchema>;

export const doctorRowSchema = z.object({
  name: z.string(),
  status: z.enum(["ready", "missing", "degraded"]),
  detail: z.string(),
  remedy: z.string().nullable(),
});
export type DoctorRow = z.infer<typeof doctorRowSchema>;

const taskFaultSchema = z.object({ file: z.string(), line: z.number(), severity: z.enum(["error", "warning"]), message: z.string() });
export const taskCheckViewSchema = z.object({
  path: z.string(),
  digest: z.string().nullable(),
  valid: z.boolean(),
  faults: z.array(taskFaultSchema),
  /** What the task needs and this machine lacks, one sentence each. */
  wants: z.array(z.string()),
});
export type TaskCheckView = z.infer<typeof taskCheckViewSchema>;
export type TaskImportView = TaskCheckView;
export const taskRunViewSchema = z.object({
  reward: z.number().nullable(),
  rewards: z.record(z.string(), z.number()).nullable(),
  status: z.string(),
  cause: z.string().nullable(),
  seconds: z.number(),
  /** Expectation met: gold = max, empty = 0. */
  ok: z.boolean(),
  detail: z.string().nullable(),
});
export type TaskRunView = z.infer<typeof taskRunViewSchema>;
export const cheatRunViewSchema = z.object({
  results: z.array(z.object({ name: z.string(), reward: z.number().nullable(), status: z.string(), cause: z.string().nullable() })),
});

export const taskViewSchema = z.object({
  path: z.string(),
  name: z.string(),
  family: z.string().nullable(),
  digest: z.string().nullable(),
  valid: z.boolean(),
  description: z.string().nullable(),
  instruction: z.string(),
  network: z.string(),
  starter: z.boolean(),
  faults: z.array(taskFaultSchema),
});
export type TaskView = z.infer<typeof taskViewSchema>;

/** What a harness did when it was last run once to see whether it works here. */
export const harnessProbeSchema = z.object({
  at: z.number(),
  ok: z.boolean(),
  /** One sentence: what arrived, or what the program said last. */
  detail: z.string(),
  capture: captureSchema.nullable(),
  /** Of the harness that was run; the manifest may name another by now. */
  version: z.string().nullable().default(null),
  sandbox: z.string().nullable().default(null),
  /** Name, system and processor of the machine. */
  machine: z.string().nullable().default(null),
  /** From the start of the rollout to its end. */
  seconds: z.number().nullable().default(null),
  /** Every request began with the one before and its answer, token for token; null = there was only one. */
  extends: z.boolean().nullable().default(null),
});

export const harnessViewSchema = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  licence: z.string(),
  summary: z.string(),
  homepage: z.string().nullable(),
  /** One sentence when its manifest cannot be used; what the manifest would say is then empty. */
  fault: z.string().nullable(),
  dialects: z.array(z.string()),
  /** Whether call n+1 extends call n token for token, by the manifest. */
  prefix: z.enum(["exact", "after-normalising", "no"]),
  resident: z.boolean(),
  installed: z.boolean(),
  /** How it is brought here: bundled, npm, pip or cargo. */
  install: z.string(),
  needs: z.object({
    /** `node` = the Node that the workbench brings; `native` = nothing; `python` = the sandbox's. */
    runtime: z.string(),
    /** Lowest version of the runtime. */
    runtimeVersion: z.string().nullable(),
    /** Programs that must be on this machine to install it. */
    toInstall: z.array(z.string()),
    /** Programs that its sandbox must have. */
    programs: z.array(z.string()),
    /** A screen, real or virtual. */
    display: z.boolean(),
    diskMb: z.number().nullable(),
    memoryMb: z.number().nullable(),
  }),
  /** Transports of MCP servers that it can use; empty = none. */
  mcp: z.array(z.string()),
  /** It looks for skills. */
  skills: z.boolean(),
  /** What it cannot do (`mcp`, `skills`, `images`), with the reason as a clause. */
  lacks: z.record(z.string(), z.string()),
  contextWindow: z.number(),
  maxTokens: z.number(),
  lastProbe: harnessProbeSchema.nullable(),
});
export type HarnessProbeView = z.infer<typeof harnessProbeSchema>;
export type HarnessView = z.infer<typeof harnessViewSchema>;

/** For a million tokens each, in any one currency. */
export const policyPricesSchema = z.object({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  /** Of prompt tokens that the server had cached; left out = as `input`. */
  cachedInput: z.number().nonnegative().optional(),
});
export type PolicyPrices = z.infer<typeof policyPricesSchema>;

/** Kinds of servers that a policy can be. */
export const serverKinds = ["vllm", "sglang", "llama.cpp", "ollama", "openai-compatible", "anthropic-compatible"] as const;

export const policyViewSchema = z.object({
  id: z.string(),
  kind: z.enum([...serverKinds, "scripted", "replay", "embedded"]),
  address: z.string(),
  capture: captureSchema.nullable(),
  takesTokenIds: z.boolean(),
  builtIn: z.boolean(),
  /** What a person set on a saved server, for a form that changes it; null = it is none. */
  settings: z
    .object({
      model: z.string().nullable(),
      keyVariable: z.string().nullable(),
      tokenizer: z.string().nullable(),
      contextWindow: z.number().nullable(),
      prices: policyPricesSchema.nullable(),
      spendingLimit: z.number().nullable(),
    })
    .nullable(),
  /** Of all its calls so far, where it has prices. `limit` and `cost` are in the currency of the prices; null = no limit. */
  spending: z
    .object({
      calls: z.number(),
      promptTokens: z.number(),
      cachedTokens: z.number(),
      completionTokens: z.number(),
      cost: z.number(),
      limit: z.number().nullable(),
    })
    .nullable(),
});
export type PolicyView = z.infer<typeof policyViewSchema>;

const contentPartView = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), blob: z.string().nullable(), url: z.string().nullable(), mediaType: z.string().nullable() }),
  z.object({ type: z.literal("file"), blob: z.string().nullable(), name: z.string().nullable() }),
  z.object({ type: z.literal("other"), raw: z.string() }),
]);
const toolCallView = z.object({ id: z.string(), name: z.string(), arguments: z.string() });
/** A message as it is read: in the request, or the answer. */
const messageViewSchema = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "other"]),
  content: z.array(contentPartView),
  reasoning: z.string().nullable(),
  toolCalls: z.array(toolCallView),
  toolCallId: z.string().nullable(),
  /** Sampled by the policy earlier in this rollout. */
  sampled: z.boolean(),
});
export type MessageView = z.infer<typeof messageViewSchema>;

export const callDetailSchema = callViewSchema.extend({
  messages: z.array(messageViewSchema),
  tools: z.array(z.object({ name: z.string(), description: z.string().nullable(), parameters: z.string().nullable() })),
  sampling: z.record(z.string(), z.unknown()),
  answer: messageViewSchema.nullable(),
  /** What a person says that the policy should have answered. */
  correction: z.string().nullable(),
  requestHeaders: stringRecord,
  bodies: z.object({
    request: z.number().nullable(),
    response: z.number().nullable(),
    upstreamRequest: z.number().nullable(),
    upstreamResponse: z.number().nullable(),
  }),
});
export type CallDetail = z.infer<typeof callDetailSchema>;

/** A run of tokens of one kind on a chain. */
const tokenSpanSchema = z.object({
  callIndex: z.number(),
  kind: z.enum(["prompt", "sampled"]),
  /** 1 = trained here; 0 = not. One number for the span. */
  mask: z.union([z.literal(0), z.literal(1)]),
  ids: z.array(z.number()),
  /** Decoded text, one entry an id; null when no tokenizer is known. */
  texts: z.array(z.string()).nullable(),
  /** null where none was captured. */
  logprobs: z.array(z.number().nullable()).nullable(),
});
export type TokenSpan = z.infer<typeof tokenSpanSchema>;
export const chainTokensSchema = z.object({
  chain: z.number(),
  total: z.number(),
  trained: z.number(),
  breakCause: z.string().nullable(),
  spans: z.array(tokenSpanSchema),
});
export type ChainTokens = z.infer<typeof chainTokensSchema>;

export const artifactViewSchema = z.object({
  kind: z.enum(["harness-log", "verifier-output", "artifact", "sandbox-log", "workspace"]),
  name: z.string(),
  blob: z.string(),
  size: z.number(),
  attempt: z.number(),
});
export type ArtifactView = z.infer<typeof artifactViewSchema>;

export const eventViewSchema = z.object({
  sequence: z.number(),
  at: z.number(),
  experiment: z.string().nullable(),
  rollout: z.string().nullable(),
  type: z.string(),
  payload: z.string(),
});
export type EventView = z.infer<typeof eventViewSchema>;

export const systemInfoSchema = z.object({
  version: z.string(),
  dataFolder: z.string(),
  proxyAddress: z.string(),
  /** No experiment yet: the first-run screen. */
  empty: z.boolean(),
  databaseBytes: z.number(),
  packBytes: z.number(),
  platform: z.string(),
  node: z.string(),
  cpus: z.number(),
});
export type SystemInfo = z.infer<typeof systemInfoSchema>;

/** Long work: any number of progress lines, then one result. */
export function progressOf<T extends z.ZodType>(result: T) {
  return z.discriminatedUnion("type", [z.object({ type: z.literal("progress"), line: z.string() }), z.object({ type: z.literal("result"), result })]);
}
