/** A service of its own that can be killed: makes one sandbox, leaves a command running in it, says so and stays. */

import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { run, sandboxRequest, text } from "./sandbox-contract.ts";

const [kind, stateFolder = "", ownerId = "", rolloutId = "", seconds = ""] = process.argv.slice(2);
const provider = sandboxProviders({ stateFolder })[kind === "docker" ? "docker" : "local"];
const proxySocket = `${stateFolder}/child.sock`;
rmSync(proxySocket, { force: true });
const server = createServer((_request, answer) => answer.end("model"));
server.listen(proxySocket, async () => {
  const box = await provider.create(sandboxRequest({ ownerId, rolloutId, proxySocket, limits: { memoryMb: 512, processes: 100 } }), () => undefined);
  const ask = "fetch('http://127.0.0.1:8790/').then((r) => r.text()).then(console.log)";
  const seen = await run(box, `id -u; touch /app/x && echo wrote; node -e "${ask}"; touch /usr/x 2>/dev/null || echo refused`);
  void run(box, `setsid sleep ${seconds} & sleep ${seconds}`, { timeoutMs: 600_000 });
  console.log(JSON.stringify({ said: text(seen.stdout), isolation: box.isolation }));
});
