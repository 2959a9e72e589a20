// The least MCP client: starts the server and calls its tools one after the other.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export function startClient() {
  const server = spawn("node", ["/app/warehouse/server.mjs"], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let lastId = 0;
  createInterface({ input: server.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const request = (method, params) =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params })}\n`);
    });
  return {
    request,
    async callTool(name, given) {
      const { result } = await request("tools/call", { name, arguments: given });
      if (result.isError) throw new Error(result.content[0].text);
      return JSON.parse(result.content[0].text);
    },
    close: () => server.stdin.end(),
  };
}
