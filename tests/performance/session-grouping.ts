/** Telling a long conversation of an attached program from others, call by call, as its history grows. */
import type { ContentPart, Message } from "../../engine/conversation/index.ts";
import { createSessionGrouping, type GroupedRequest } from "../../main/proxy/session-grouping.ts";
import { type BenchmarkRow, compare } from "./measure/compare.ts";

const calls = 200;
const wordsOfTurn = 2_000;

/** The requests of one rollout: each is the one before, an answer and what came back for it. */
function growingHistory(): readonly GroupedRequest[] {
  const messages: Message[] = [];
  const says = (text: string): readonly ContentPart[] => [{ type: "text", text }];
  return Array.from({ length: calls }, (_, call) => {
    const text = `${call} ${"word ".repeat(wordsOfTurn / 5)}`;
    if (call > 0) messages.push({ role: "assistant", content: says(text), toolCalls: [] });
    messages.push({ role: "user", content: says(text) });
    return { headers: {}, bodyNames: [], requestKey: String(call), messages: [...messages] };
  });
}

function groupAll(requests: readonly GroupedRequest[]): number {
  const grouping = createSessionGrouping<number>();
  const started = performance.now();
  for (const [call, request] of requests.entries()) grouping.keep(request, grouping.find(request) ?? call);
  return performance.now() - started;
}

export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  note(`${calls} calls, ${wordsOfTurn} characters a message`);
  return [
    await compare({
      name: `grouping of ${calls} calls whose history grows`,
      unit: "ms",
      aim: "a twentieth of its reference",
      measure: () => groupAll(growingHistory()),
      reference: {
        name: "the same with every message of every request hashed again",
        measure: () => groupAll(growingHistory().map((request) => ({ ...request, messages: request.messages.map((message) => ({ ...message })) }))),
      },
    }),
  ];
}
