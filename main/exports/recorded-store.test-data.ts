/** A store with recorded rollouts, for tests: real bodies of the Chat Completions API, token ids that extend exactly. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPlacementIndex } from "../../engine/graph/index.ts";
import type { Outcome } from "../../engine/outcome/index.ts";
import { type CallRecord, openStore, type RolloutRecord, type StepRecord, type Store } from "../store/index.ts";

export interface TestTurn {
  readonly text: string;
  /** A bash command the policy runs, with what came back; null = it only speaks. */
  readonly command: { readonly line: string; readonly result: string } | null;
  readonly sampled: readonly number[];
  /** null in it = the engine gave no finite number. */
  readonly logprobs: readonly (number | null)[];
  /** Ids that the harness puts in before the next answer. */
  readonly between: readonly number[];
  /** What the user says to an answer that runs nothing. */
  readonly reply?: string;
  /** The history was replaced before this turn. */
  readonly compacted: boolean;
}

export interface TestRollout {
  readonly task: string;
  readonly reward: number | null;
  readonly outcome?: Outcome;
  readonly textOnly?: boolean;
  readonly turns: readonly TestTurn[];
  readonly phase?: RolloutRecord["phase"];
  /** Calls of each step of several, and its reward. */
  readonly steps?: readonly { readonly name: string; readonly calls: number; readonly reward: number | null }[];
}

const bashTool = {
  type: "function",
  function: {
    name: "bash",
    description: "Runs a command.",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
};

const experimentId = "e-test";

export interface RecordedStore {
  readonly store: Store;
  readonly experimentId: string;
  readonly folder: string;
  dispose(): void;
}

export function recordedStore(rollouts: readonly TestRollout[]): RecordedStore {
  const folder = mkdtempSync(join(tmpdir(), "openforge-exports-"));
  const store = openStore(join(folder, "data"));
  store.createExperiment({ id: experimentId, name: "test", createdAt: 1_000, endedAt: 9_000, spec: "{}", status: "ended", kind: "experiment" });
  const groups = new Map<string, number>();
  rollouts.forEach((rollout, number) => {
    const groupIndex = groups.get(rollout.task) ?? 0;
    groups.set(rollout.task, groupIndex + 1);
    recordRollout(store, `r-${String(number).padStart(8, "0")}`, groupIndex, rollout);
  });
  return {
    ...{ store, experimentId, folder },
    dispose() {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function recordRollout(store: Store, id: string, groupIndex: number, { task, reward, outcome, phase = "ended", ...rollout }: TestRollout): void {
  const usual: Outcome = { status: reward !== null && reward >= 1 ? "succeeded" : "failed", cause: null, action: "train", detail: null };
  store.createRollouts([
    {
      ...{
        id,
        experimentId,
        taskName: `org/${task}`,
        taskDigest: `sha256:${Buffer.from(task).toString("hex").padEnd(64, "0").slice(0, 64)}`,
        taskPath: `/gone/${task}`,
      },
      ...{ harness: "react", harnessVersion: "1.0.0", policy: "p", policyVersion: "p@3", sandbox: "local", groupIndex, seed: 1, phase },
      ...{ outcome: phase === "ended" ? (outcome ?? usual) : null, reward, rewards: reward === null ? null : { reward }, attempts: 1 },
      ...{ phases: [{ name: "running", startedAt: 2_000, seconds: 3 }], isolation: null, fingerprint: null, calls: 0, chains: 0, promptTokens: 0 },
      ...{
        completionTokens: 0,
        trainable: rollout.textOnly !== true,
        trainableReason: null,
        labels: {},
        policyWaitSeconds: null,
        steps: stepRecords(rollout.steps ?? []),
      },
      ...{ createdAt: 1_000, startedAt: 2_000, endedAt: 5_000 },
    },
  ]);
  recordCalls(store, id, rollout);
}

function stepRecords(steps: NonNullable<TestRollout["steps"]>): readonly StepRecord[] {
  return steps.map(({ name, calls, reward }, index) => ({
    ...{ name, calls, reward, rewards: reward === null ? null : { reward }, minReward: null },
    outcome:
      reward === null
        ? { status: "verifier-failure", cause: "reward-missing", detail: "No reward file." }
        : { status: "failed", cause: null, detail: null },
    firstCall: steps.slice(0, index).reduce((sum, step) => sum + step.calls, 0),
    ...{ startedAt: 2_000 + index, agentSeconds: 1, verifierSeconds: 0.5 },
  }));
}

function recordCalls(store: Store, rolloutId: string, { turns, textOnly = false }: Pick<TestRollout, "turns" | "textOnly">): void {
  const placements = createPlacementIndex();
  const put = (value: unknown) => store.blobs.put(new TextEncoder().encode(JSON.stringify(value))).hash;
  const first = [
    { role: "system", content: "You are an agent in a shell." },
    { role: "user", content: "Do the task." },
  ];
  let messages: object[] = [...first];
  let prompt: number[] = [1, 2, 3];
  turns.forEach((turn, index) => {
    if (turn.compacted && index > 0) {
      messages = [...first, { role: "user", content: `Summary ${index}.` }];
      prompt = [1, 2, 3, 900 + index];
    }
    const callId = `${rolloutId}-c${index}`;
    const calls =
      turn.command === null
        ? {}
        : {
            tool_calls: [
              { id: `call_${index}`, type: "function", function: { name: "bash", arguments: JSON.stringify({ command: turn.command.line }) } },
            ],
          };
    const answer = { role: "assistant", content: turn.text, ...calls };
    const finish = turn.command === null ? "stop" : "tool_calls";
    const usage = { prompt_tokens: prompt.length, completion_tokens: turn.sampled.length, total_tokens: prompt.length + turn.sampled.length };
    const call: CallRecord = {
      ...{ id: callId, rolloutId, attempt: 0, index, dialect: "chat", method: "POST", path: "/v1/chat/completions", status: "ok", httpStatus: 200 },
      ...{
        startedAt: 2_000 + index,
        endedAt: 2_001 + index,
        upstreamMs: 1,
        upstreamRetries: 0,
        replays: 0,
        aborted: false,
        late: false,
        quarantined: null,
      },
      requestHeaders: { "content-type": "application/json" },
      requestBody: put({ model: "p", messages, tools: [bashTool] }),
      responseBody: put({
        id: callId,
        object: "chat.completion",
        created: 2,
        model: "p",
        choices: [{ index: 0, message: answer, finish_reason: finish }],
        usage,
      }),
      ...{ upstreamRequestBody: null, upstreamResponseBody: null, requestKey: callId, model: "p", stream: false },
      ...{ capture: textOnly ? "text-only" : "ids+logprobs", tokenMode: "as-sampled", policyVersion: "p@3" },
      ...{ finishReason: turn.command === null ? "stop" : "tool-calls", promptTokens: prompt.length, completionTokens: turn.sampled.length },
      ...{ unparsedToolCall: false, breakCause: turn.compacted && index > 0 ? "compaction" : null, session: {}, error: null, side: null },
    };
    if (textOnly) store.recordCall(call, null);
    else {
      const sampledIds = Int32Array.from(turn.sampled);
      const placed = placements.placeCall({ callId, promptIds: Int32Array.from(prompt), sampledIds });
      store.recordCall(call, { callId, ...placed, sampledIds, logprobs: Float32Array.from(turn.logprobs, (value) => value ?? Number.NaN) });
    }
    messages = [
      ...messages,
      answer,
      ...(turn.command === null
        ? [{ role: "user", content: turn.reply ?? "Go on." }]
        : [{ role: "tool", tool_call_id: `call_${index}`, content: turn.command.result }]),
    ];
    prompt = [...prompt, ...turn.sampled, ...turn.between];
  });
}

/** A turn with `tokens` sampled ids, all of them with a log-probability. */
export function plainTurn(command: string | null, tokens = 3, change: Partial<TestTurn> = {}): TestTurn {
  return {
    ...{ text: command === null ? "Done." : "", command: command === null ? null : { line: command, result: "ok" } },
    ...{ sampled: Array.from({ length: tokens }, (_, at) => 100 + at), logprobs: Array.from({ length: tokens }, (_, at) => -0.5 - at) },
    ...{ between: [50, 51], compacted: false },
    ...change,
  };
}
