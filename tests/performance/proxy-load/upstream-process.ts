/** A policy server that answers every POST with one fixed completion, after a time that is fixed but for its spread. Prints its port. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const delayMs = Number(process.argv[2] ?? 0);
const spread = Number(process.argv[3] ?? 0);
const completion = JSON.stringify({
  id: "c",
  object: "chat.completion",
  model: "fixed",
  choices: [{ index: 0, message: { role: "assistant", content: "I look at the next file. ".repeat(12) }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5_000, completion_tokens: 80, total_tokens: 5_080 },
});
const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(completion) };

const server = createServer((request, response) => {
  const answer = (): void => {
    response.writeHead(200, headers).end(completion);
  };
  request.resume();
  request.once("end", () => (delayMs === 0 ? answer() : setTimeout(answer, delayMs * (1 + spread * (2 * Math.random() - 1)))));
});
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.resume().once("end", () => process.exit(0));
