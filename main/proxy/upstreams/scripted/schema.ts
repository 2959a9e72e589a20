/** The rule file of a scripted policy, as written by a person (docs/scripted-policy.md). */
import { z } from "zod";

const pattern = z.strictObject({
  regex: z.string().refine(isRegex, "is no regular expression"),
  flags: z
    .string()
    .regex(/^[imsu]*$/, "flags are any of i, m, s, u")
    .default(""),
});
/** Text that must occur, a pattern, or several of which one must. */
const matcher = z.union([z.string(), pattern, z.array(z.union([z.string(), pattern])).min(1)]);
const count = z.union([
  z.number().int().nonnegative(),
  z.strictObject({ from: z.number().int().nonnegative().default(0), to: z.number().int().nonnegative().optional() }),
]);
const names = z.union([z.string(), z.array(z.string())]).transform((value) => (typeof value === "string" ? [value] : value));

const conditions = {
  /** Number of the call in its rollout, from 0. */
  call: count.optional(),
  /** Answers of the policy that the request already holds. */
  turns: count.optional(),
  /** Tool answers that the request already holds. */
  toolResults: count.optional(),
  /** In the last message, whatever its role. */
  last: matcher.optional(),
  lastRole: z.enum(["user", "tool", "assistant", "system", "developer"]).optional(),
  /** In any message of the user. */
  user: matcher.optional(),
  /** In a system or developer message. */
  system: matcher.optional(),
  /** In the tool answers since the policy's last answer. */
  toolResult: matcher.optional(),
  /** In any message. */
  anywhere: matcher.optional(),
  /** In the task's name, or in a message of the user. */
  task: matcher.optional(),
  harness: names.optional(),
  dialect: names.optional(),
  /** All of these tools are offered. */
  tools: names.optional(),
  /** None of these is. `*` = no tool at all. */
  withoutTools: names.optional(),
};
const whenSchema = z.strictObject({ ...conditions, not: z.strictObject(conditions).optional() });

const call = z.union([
  /** A command for whatever shell tool the harness offers. */
  z.strictObject({ shell: z.string() }),
  z.strictObject({
    tool: z.string(),
    namespace: z.string().optional(),
    /** `custom` = free text instead of an object. */
    input: z.string().optional(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    /** Arguments word for word, to be wrong on purpose. */
    raw: z.string().optional(),
  }),
]);

const answerSchema = z.strictObject({
  text: z.string().optional(),
  reasoning: z.string().optional(),
  calls: z.array(call).optional(),
  finish: z.enum(["stop", "length", "tool-calls", "content-filter"]).optional(),
  usage: z
    .strictObject({ promptTokens: z.number().int().nonnegative().optional(), completionTokens: z.number().int().nonnegative().optional() })
    .optional(),
});

const faultSchema = z.strictObject({
  kind: z.enum(["status", "timeout", "cut", "garbled", "context-overflow"]),
  status: z.number().int().min(400).max(599).default(500),
  retryAfterSeconds: z.number().nonnegative().optional(),
  message: z.string().optional(),
  /** How often in a rollout's attempt, before the rule answers. */
  times: z.number().int().positive().default(1),
  /** The harness sees it; otherwise the proxy tries again, as with a real server. */
  through: z.boolean().default(false),
  /** `timeout`: how long nothing comes; left out = until the call is given up. */
  afterMs: z.number().nonnegative().optional(),
});

const ruleSchema = z
  .strictObject({
    name: z.string().optional(),
    when: whenSchema.prefault({}),
    /** Named texts for `${name}` in the answer: group 1, else the whole match, of the last match. */
    capture: z
      .record(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a name of letters, digits and underscores"),
        z.strictObject({
          regex: z.string().refine(isRegex, "is no regular expression"),
          in: z.enum(["last", "user", "system", "toolResult", "anywhere"]).default("anywhere"),
        }),
      )
      .default({}),
    /** How often this rule may answer in a rollout's attempt. */
    times: z.number().int().positive().optional(),
    answer: answerSchema.optional(),
    /** One answer a turn: the n-th is given when the request holds n answers of the policy; the last repeats. */
    steps: z.array(answerSchema).min(1).optional(),
    delayMs: z.number().nonnegative().optional(),
    /** Waits before that, as in the queue of a busy policy: no part of the agent's time. */
    queueMs: z.number().nonnegative().optional(),
    fault: faultSchema.optional(),
  })
  .refine((rule) => (rule.answer === undefined) !== (rule.steps === undefined), "needs `answer` or `steps`, not both");

export const scriptSchema = z.strictObject({
  version: z.literal(1),
  name: z.string(),
  delayMs: z.number().nonnegative().default(0),
  contextWindow: z.number().int().positive().default(131_072),
  /** The first rule that fits answers. */
  rules: z.array(ruleSchema),
  /** When none fits. */
  otherwise: answerSchema.default({ text: "I have nothing to say to this." }),
});

export type Script = z.infer<typeof scriptSchema>;
export type ScriptRule = z.infer<typeof ruleSchema>;
type ScriptWhen = z.infer<typeof whenSchema>;
export type ScriptConditions = Omit<ScriptWhen, "not">;
export type ScriptAnswer = z.infer<typeof answerSchema>;
export type ScriptFault = z.infer<typeof faultSchema>;
export type ScriptMatcher = z.infer<typeof matcher>;
export type ScriptCount = z.infer<typeof count>;

function isRegex(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return isLooseRegex(text);
  }
}

function isLooseRegex(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}
