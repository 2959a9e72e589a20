/** A verifier that brings services of its own: tests/docker-compose.yaml, in a box that the agent never sees. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { writeScriptedSteps } from "./scripted-steps.ts";
import { readyProviders, writePackage } from "./task-packages.ts";

const probing = mkdtempSync(join(tmpdir(), "verifier-project-probe-"));
const ready = (await readyProviders(probing, ["docker"])).length > 0;
let folder = "";
let workbench: Workbench;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "verifier-project-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  for (const path of [folder, probing]) rmSync(path, { recursive: true, force: true });
});

/** Says 1 for the right word, 0 for another. */
const judge = `
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"1" if self.path == "/" + os.environ["WORD"] else b"0")
    def log_message(self, *words): pass
server = http.server.HTTPServer(("0.0.0.0", 8000), Handler)
open("/tmp/up", "w").close()
server.serve_forever()
`;
const compose = (wanted: string): string => `services:
  main:
    depends_on: { judge: { condition: service_healthy } }
  judge:
    build: ./judge
    environment: { WORD: "${wanted}" }
    healthcheck: { test: ["CMD", "test", "-e", "/tmp/up"], interval: 300ms, retries: 60 }
`;
const script = `#!/bin/sh
[ ! -e /app/secret.txt ] || exit 1
python3 -c "import urllib.request as u; print(u.urlopen('http://judge:8000/' + open('/app/word.txt').read().strip()).read().decode())" > /logs/verifier/reward.txt
`;

async function run(name: string, shell: string, changes: Readonly<Record<string, string>> = {}): Promise<RolloutRecord> {
  const task = await writePackage(join(folder, name), {
    "task.toml": `artifacts = ["/app/word.txt"]
[environment]
network_mode = "no-network"
[verifier]
environment_mode = "separate"
[verifier.environment]
network_mode = "no-network"
env = { WANTED = "plum" }
`,
    "instruction.md": "Write the word.",
    "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
    "tests/Dockerfile": "FROM openforge/base:1\nCOPY test.sh /tests/test.sh\nRUN chmod +x /tests/test.sh\n",
    "tests/docker-compose.yaml": compose(["$", "{WANTED}"].join("")),
    "tests/judge/Dockerfile": 'FROM openforge/base:1\nCOPY judge.py /\nCMD ["python3", "/judge.py"]\n',
    "tests/judge/judge.py": judge,
    "tests/test.sh": script,
    ...changes,
  });
  const policies = [writeScriptedSteps(folder, name, [shell])];
  const id = await workbench.rollouts.startExperiment(experimentSpecSchema.parse({ tasks: [task.path], policies, sandbox: "docker", attempts: 1 }));
  await workbench.rollouts.settled(id);
  const [rollout] = workbench.store.rolloutsOf(id);
  if (rollout === undefined) throw new Error("there is no rollout");
  return rollout;
}

describe.skipIf(!ready)("a verifier with a compose file", () => {
  test("asks its own services, which know nothing but the declared artifacts", { timeout: 180_000 }, async () => {
    expect(await run("right", "echo plum > word.txt; touch secret.txt")).toMatchObject({ reward: 1, outcome: { status: "succeeded", detail: null } });
    expect(await run("wrong", "echo pear > word.txt")).toMatchObject({ reward: 0, outcome: { status: "failed" } });
    const filters = { label: [`openforge.owner=${workbench.ownerId}`] };
    const docker = new Docker();
    expect(await docker.listContainers({ all: true, filters })).toEqual([]);
    expect(await docker.listNetworks({ filters })).toEqual([]);
  });

  test("whose service does not come up is no fault of the agent", { timeout: 120_000 }, async () => {
    const rollout = await run("broken", "echo plum > word.txt", { "tests/judge/judge.py": "raise SystemExit('no licence')\n" });
    expect(rollout).toMatchObject({ reward: null, outcome: { status: "environment-failure", cause: "setup-failed" } });
    expect(rollout.outcome?.detail).toContain("The service judge ended with exit code 1; it said: no licence.");
  });
});
