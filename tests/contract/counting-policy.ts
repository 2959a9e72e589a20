/**
 * A chat endpoint in the test's own process, which outlives every kill of the service: it answers each request with a call that
 * holds a number of its own, and remembers what it gave and what came back in later requests. A number that came back was released
 * to a harness.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface CountingPolicy {
  readonly url: string;
  /** Marks of all answers given. */
  readonly given: ReadonlySet<string>;
  /** Marks that were seen in the history of a later request. */
  readonly returned: ReadonlySet<string>;
  close(): void;
}

/** Each rollout makes `turns` tool calls, then says that it is done. */
export async function startCountingPolicy(turns: number): Promise<CountingPolicy> {
  const given = new Set<string>();
  const returned = new Set<string>();
  let count = 0;
  const server: Server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.method === "GET") {
        response.end(JSON.stringify({ object: "list", data: [{ id: "counting", object: "model" }] }));
        return;
      }
      for (const mark of text.match(/mark-\d+-/g) ?? []) returned.add(mark);
      const { messages } = JSON.parse(text) as { messages: readonly { role: string }[] };
      const turn = messages.filter((message) => message.role === "assistant").length;
      count += 1;
      const mark = `mark-${count}-`;
      given.add(mark);
      const command = `echo ${mark}; sleep 0.1`;
      const call = { id: `call_${count}`, type: "function", function: { name: "bash", arguments: JSON.stringify({ command }) } };
      const message = turn < turns ? { role: "assistant", content: null, tool_calls: [call] } : { role: "assistant", content: `Done ${mark}` };
      const body = {
        id: `c-${count}`,
        object: "chat.completion",
        created: 0,
        model: "counting",
        choices: [{ index: 0, message, finish_reason: turn < turns ? "tool_calls" : "stop" }],
        usage: { prompt_tokens: 10 * turn + 10, completion_tokens: 8, total_tokens: 10 * turn + 18 },
      };
      setTimeout(() => response.end(JSON.stringify(body)), 50);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    given,
    returned,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
