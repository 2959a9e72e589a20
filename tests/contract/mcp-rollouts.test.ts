/** MCP servers over HTTP as rollouts meet them: a service of a compose file, and a program that the task's own image starts. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { readyProviders, writePackage } from "./task-packages.ts";

const probing = mkdtempSync(join(tmpdir(), "mcp-probe-"));
const ready = (await readyProviders(probing, ["docker"])).length > 0;
let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mcp-"));
  process.env.MCP_ROLLOUTS_KEY = "open-sesame";
  process.env.MCP_ROLLOUTS_WRONG = "close-sesame";
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  delete process.env.MCP_ROLLOUTS_KEY;
  delete process.env.MCP_ROLLOUTS_WRONG;
  for (const path of [folder, probing]) rmSync(path, { recursive: true, force: true });
});

/** Both transports of HTTP: /mcp answers calls by a stream of events and all else by JSON, /sse is the older one. What is called stands in /calls.log. */
const server = `
import http.server, json, os, queue
streams = {}
def answer(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize": return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "lab", "version": "1"}}
    if method == "tools/list": return {"tools": [{"name": "weigh", "description": "Weighs a thing.", "inputSchema": {"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]}}]}
    if method == "tools/call":
        with open("/tmp/calls.log", "a") as log: log.write(params["arguments"]["thing"] + "\\n")
        return {"content": [{"type": "text", "text": "It weighs 4217 g."}]}
    return {}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *words): print(*words, flush=True)
    def reply(self, status, body=b"", **headers):
        self.send_response(status); self.send_header("content-length", str(len(body)))
        for name, value in headers.items(): self.send_header(name.replace("_", "-"), value)
        self.end_headers(); self.wfile.write(body)
    def allowed(self):
        if self.headers.get("x-lab-key") == "open-sesame": return True
        self.reply(401, b"no key")
    def do_GET(self):
        if not self.allowed(): return
        if self.path != "/sse": return self.reply(405)
        self.send_response(200); self.send_header("content-type", "text/event-stream"); self.send_header("connection", "close"); self.end_headers()
        number = str(len(streams)); streams[number] = queue.Queue()
        self.wfile.write(("event: endpoint\\r\\ndata: /messages?session=" + number + "\\r\\n\\r\\n").encode()); self.wfile.flush()
        while True:
            self.wfile.write(("event: message\\ndata: " + streams[number].get() + "\\n\\n").encode()); self.wfile.flush()
    def do_DELETE(self): self.reply(200)
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.allowed(): return
        said = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": answer(message)})
        if self.path.startswith("/messages"):
            if "id" in message: streams[self.path.split("=")[1]].put(said)
            return self.reply(202)
        if message["method"] != "initialize" and self.headers.get("mcp-session-id") != "s-1": return self.reply(400, b"no session")
        if "id" not in message: return self.reply(202)
        if message["method"] == "tools/call": return self.reply(200, (": working\\n\\nevent: message\\ndata: " + said + "\\n\\n").encode(), content_type="text/event-stream")
        self.reply(200, said.encode(), content_type="application/json", mcp_session_id="s-1")
http.server.ThreadingHTTPServer(("0.0.0.0", 8000), Handler).serve_forever()
`;

const paths = { "streamable-http": "mcp", sse: "sse" } as const;
type Transport = keyof typeof paths;

const healthy = "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 8000))\"";
const places: Readonly<Record<"service" | "own", (transport: Transport) => Readonly<Record<string, string>>>> = {
  service: (transport) => ({
    ...packageOf("lab", transport, 'artifacts = [{ source = "/tmp/calls.log", destination = "calls.log", service = "lab" }]'),
    "environment/docker-compose.yaml": `services:\n  main: { depends_on: { lab: { condition: service_healthy } } }\n  lab:\n    build: ./lab\n    healthcheck: { test: '${healthy.replaceAll("'", "''")}', interval: 300ms, retries: 60 }\n`,
    "environment/lab/Dockerfile": 'FROM openforge/base:1\nCOPY server.py /\nCMD ["python3", "/server.py"]\n',
    "environment/lab/server.py": server,
  }),
  own: (transport) => ({
    ...packageOf("127.0.0.1", transport, 'artifacts = [{ source = "/tmp/calls.log", destination = "calls.log" }]'),
    "environment/Dockerfile": `FROM openforge/base:1\nCOPY server.py entry.sh /\nRUN chmod +x /entry.sh\nWORKDIR /app\nHEALTHCHECK --interval=300ms --retries=60 CMD ${healthy}\nENTRYPOINT ["/entry.sh"]\n`,
    "environment/entry.sh": '#!/bin/sh\npython3 /server.py > /dev/null 2>&1 &\nexec "$@"\n',
    "environment/server.py": server,
  }),
};

function packageOf(host: string, transport: Transport, artifacts: string): Readonly<Record<string, string>> {
  return {
    "task.toml": `schema_version = "1.4"
${artifacts}
[environment]
network_mode = "no-network"
[[environment.mcp_servers]]
name = "lab"
transport = "${transport}"
url = "http://${host}:8000/${paths[transport]}"
headers = { x-lab-key = "\${MCP_ROLLOUTS_KEY}" }
`,
    "instruction.md": "Weigh the plum with the tool `weigh` and write the grams into grams.txt.",
    "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
    "tests/test.sh": '#!/bin/sh\nif [ "$(cat /app/grams.txt)" = 4217 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n',
  };
}

/** Writes what the tool said, as it was said to the policy. */
function weighing(): string {
  const path = join(folder, "weighing.yaml");
  const steps = [
    { calls: [{ tool: "weigh", arguments: { thing: "plum" } }] },
    { calls: [{ shell: ["echo $", "{grams} > grams.txt"].join("") }] },
    { text: "Done." },
  ];
  const capture = { grams: { regex: "weighs (\\d+) g", in: "anywhere" } };
  writeFileSync(path, JSON.stringify({ version: 1, name: "weighing", rules: [{ name: "weigh", capture, steps }] }));
  return `scripted:${path}`;
}

async function run(name: string, harness: string, files: Readonly<Record<string, string>>): Promise<RolloutRecord> {
  const task = await writePackage(join(folder, name), files);
  const id = await workbench.rollouts.startExperiment(
    experimentSpecSchema.parse({ tasks: [task.path], harnesses: [harness], policies: [weighing()], sandbox: "docker", attempts: 1 }),
  );
  await workbench.rollouts.settled(id);
  const [rollout] = workbench.store.rolloutsOf(id);
  if (rollout === undefined) throw new Error("there is no rollout");
  return rollout;
}

const cases = [
  ["react", "streamable-http", "service"],
  ["react", "sse", "service"],
  ["react", "streamable-http", "own"],
  ["react", "sse", "own"],
  ["codex", "streamable-http", "service"],
  ["zeroclaw", "sse", "service"],
  ["claude-code", "streamable-http", "own"],
] as const;

describe.skipIf(!ready)("a task's MCP server", () => {
  test.each(cases)("%s uses it over %s, at the place: %s", { timeout: 180_000 }, async (harness, transport, place) => {
    const rollout = await run(`${harness}-${transport}-${place}`, harness, places[place](transport));
    expect([rollout.outcome?.status, rollout.outcome?.detail, rollout.reward]).toEqual(["succeeded", null, 1]);
    const log = workbench.store.artifactsOf(rollout.id).find(({ name }) => name === "calls.log");
    expect(Buffer.from(workbench.store.blobs.get(log?.blob ?? ("" as never)) ?? []).toString()).toBe("plum\n");
  });

  test("that refuses the key is one sentence, and no fault of the policy", { timeout: 120_000 }, async () => {
    const files = places.service("streamable-http");
    const toml = (files["task.toml"] ?? "").replace("MCP_ROLLOUTS_KEY", "MCP_ROLLOUTS_WRONG");
    const rollout = await run("refused", "react", { ...files, "task.toml": toml });
    expect(rollout).toMatchObject({ outcome: { status: "harness-failure", action: "mask" } });
    expect(rollout.outcome?.detail).toContain("MCP server lab at http://lab:8000/mcp said 401: no key");
  });
});
