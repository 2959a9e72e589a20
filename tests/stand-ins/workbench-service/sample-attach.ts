/** Attached programs of the stand-in service: one address that is open with three sessions, and what a person says of them. */
import type { implement } from "@orpc/server";
import type { Attachment } from "../../../main/api/attach-views.ts";
import type { contract } from "../../../main/api/contract.ts";
import type { RolloutView } from "../../../main/api/rollout-views.ts";
import { sampleRollout } from "./sample-experiments.ts";

export const attachExperiment = "e-5";
const base = "http://127.0.0.1:7411/r/a-1";
const dialects = { chat: `${base}/v1`, responses: `${base}/v1`, messages: base, gemini: base };

export function sessionRollout(index: number): RolloutView {
  const rollout = sampleRollout(attachExperiment, index, Date.now() - 4_000_000, "running");
  return {
    ...rollout,
    id: `${attachExperiment}-${index}`,
    task: "attach/my-agent",
    taskPath: "",
    taskDigest: "",
    harness: "claude-cli",
    harnessVersion: "2.1.0",
    labels: { purpose: "attach" },
    isolation: { files: "none: a program of this machine, outside any sandbox", network: "none", processes: "none", limits: "none" },
    fingerprint: null,
  };
}

interface SampleAttach {
  /** What a person says that calls should have answered, by their ids. */
  readonly corrections: ReadonlyMap<string, string>;
  readonly handlers: ReturnType<typeof handlersOf>["handlers"];
}

export function sampleAttach(os: ReturnType<typeof implement<typeof contract>>, rollouts: Map<string, RolloutView>): SampleAttach {
  return handlersOf(os, rollouts);
}

function handlersOf(os: ReturnType<typeof implement<typeof contract>>, rollouts: Map<string, RolloutView>) {
  const corrections = new Map<string, string>();
  let open: Attachment[] = rollouts.has(`${attachExperiment}-0`)
    ? [
        {
          ...{ id: "a-1", experiment: attachExperiment, name: "my-agent", policy: "qwen3-4b-forge", baseUrl: dialects.chat, dialects },
          ...{ startedAt: Date.now() - 4_000_000, sessions: 3, calls: 31 },
        },
      ]
    : [];
  const close = (id: string) => {
    open = open.filter((each) => each.id !== id);
    return { sessions: 3, calls: 31 };
  };
  return {
    corrections,
    handlers: {
      start: os.attach.start.handler(() => ({
        ...{ id: "a-2", experiment: attachExperiment, key: "ofk-7f2c9b1e4d", baseUrl: dialects.chat, dialects },
      })),
      list: os.attach.list.handler(() => open),
      counts: os.attach.counts.handler(() => ({ sessions: 3, calls: 31 })),
      stop: os.attach.stop.handler(({ input }) => close(input.id)),
      grade: os.attach.grade.handler(({ input: { id, status, cause, note } }) => {
        const rollout = rollouts.get(id);
        if (rollout !== undefined)
          rollouts.set(id, { ...rollout, status, cause, detail: note, reward: status === "succeeded" ? 1 : 0, action: "train" });
        return {};
      }),
      correct: os.attach.correct.handler(({ input: { call, text } }) => {
        if (text === "") corrections.delete(call);
        else corrections.set(call, text);
        return {};
      }),
    },
  };
}
