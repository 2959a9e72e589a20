/** Attached programs of the stand-in service: none. */
import type { implement } from "@orpc/server";
import type { contract } from "../../../main/api/contract.ts";

export function sampleAttach(os: ReturnType<typeof implement<typeof contract>>) {
  const base = "http://127.0.0.1:7411/r/a-1";
  const dialects = { chat: `${base}/v1`, responses: `${base}/v1`, messages: base, gemini: base };
  return {
    start: os.attach.start.handler(() => ({ id: "a-1", experiment: "e-9", key: "key", baseUrl: dialects.chat, dialects })),
    list: os.attach.list.handler(() => []),
    counts: os.attach.counts.handler(() => ({ sessions: 0, calls: 0 })),
    stop: os.attach.stop.handler(() => ({ sessions: 0, calls: 0 })),
    grade: os.attach.grade.handler(() => ({})),
    correct: os.attach.correct.handler(() => ({})),
  };
}
