/** Whole rollouts of tasks with services beside the agent's box, and of tasks with a list of hosts. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { experimentSpecSchema } from "../../main/api/experiment-views.ts";
import { bootWorkbench, type Workbench } from "../../main/boot.ts";
import type { SandboxKind } from "../../main/sandboxes/index.ts";
import type { RolloutRecord } from "../../main/store/index.ts";
import { writeScriptedSteps } from "./scripted-steps.ts";
import { readyProviders, writePackage } from "./task-packages.ts";

const kinds = ["local", "docker"] as const;
const probing = mkdtempSync(join(tmpdir(), "project-probe-"));
const ready = (await readyProviders(probing, kinds)).map(({ kind }) => kind);
let folder = "";
let workbench: Workbench;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "project-"));
  workbench = await bootWorkbench({ dataFolder: join(folder, "data") });
});
afterAll(async () => {
  await workbench.close();
  for (const path of [folder, probing]) rmSync(path, { recursive: true, force: true });
});

async function run(name: string, sandbox: SandboxKind, files: Readonly<Record<string, string>>, commands: readonly string[]): Promise<RolloutRecord> {
  const task = await writePackage(join(folder, `${name}-${sandbox}`), { "instruction.md": "Do it.", ...files });
  const policies = [writeScriptedSteps(folder, `${name}-${sandbox}`, commands)];
  const id = await workbench.rollouts.startExperiment(
    experimentSpecSchema.parse({ tasks: [task.path], harnesses: ["react"], policies, sandbox, attempts: 1 }),
  );
  await workbench.rollouts.settled(id);
  const [rollout] = workbench.store.rolloutsOf(id);
  if (rollout === undefined) throw new Error("there is no rollout");
  return rollout;
}

const artifactText = (rollout: RolloutRecord, name: string): string | null => {
  const found = workbench.store.artifactsOf(rollout.id).find((artifact) => artifact.name === name);
  const bytes = found === undefined ? null : workbench.store.blobs.get(found.blob);
  return bytes === null ? null : Buffer.from(bytes).toString();
};

const fetching = (url: string) => `python3 -c "import urllib.request; print(urllib.request.urlopen('${url}', timeout=20).read().decode())"`;

describe("a task with a compose file", () => {
  const here = test.skipIf(!ready.includes("docker"));

  here("is solved by an agent that asks the service beside it; the service's log and files are kept", { timeout: 180_000 }, async () => {
    const compose = `
services:
  main:
    depends_on: { shop: { condition: service_healthy } }
  shop:
    build: ./shop
    healthcheck: { test: ["CMD", "test", "-e", "/tmp/up"], interval: 300ms, retries: 60 }
`;
    const server = `
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open("/orders.txt", "a").write(self.path + "\\n")
        self.send_response(200); self.end_headers(); self.wfile.write(b"42 apples")
    def log_message(self, *words): print("served", self.path, flush=True)
server = http.server.HTTPServer(("0.0.0.0", 8080), Handler)
open("/tmp/up", "w").close()
server.serve_forever()
`;
    const rollout = await run(
      "shop",
      "docker",
      {
        "task.toml": `artifacts = [{ source = "/orders.txt", destination = "orders.txt", service = "shop" }]
[environment]
network_mode = "no-network"
[[verifier.collect]]
command = "echo counted >> /orders.txt"
service = "shop"
`,
        "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
        "environment/docker-compose.yaml": compose,
        "environment/shop/Dockerfile": 'FROM openforge/base:1\nCOPY server.py /\nCMD ["python3", "/server.py"]\n',
        "environment/shop/server.py": server,
        "tests/test.sh": `#!/bin/sh\nif grep -q "42 apples" /app/answer.txt && ${fetching("http://shop:8080/check")} > /dev/null; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n`,
      },
      [`${fetching("http://shop:8080/apples")} > answer.txt`],
    );
    expect(rollout).toMatchObject({ outcome: { status: "succeeded", detail: null }, reward: 1 });
    expect(rollout.fingerprint?.["service shop"]).toMatch(/^sha256:/);
    expect(rollout.isolation?.network).toContain("1 other service on a private network");
    expect(artifactText(rollout, "orders.txt")).toBe("/apples\ncounted\n");
    expect(artifactText(rollout, "services/shop.log")).toContain("served /apples");
  });

  here("whose service does not come up is an infrastructure failure that names it", { timeout: 180_000 }, async () => {
    const rollout = await run(
      "broken",
      "docker",
      {
        "task.toml": '[environment]\nnetwork_mode = "no-network"\n',
        "environment/Dockerfile": "FROM openforge/base:1\n",
        "environment/docker-compose.yaml": 'services:\n  db: { image: "openforge/base:1", command: "sh -c \'echo disk is full; exit 1\'" }\n',
        "tests/test.sh": "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n",
      },
      ["true"],
    );
    expect(rollout).toMatchObject({ outcome: { status: "environment-failure", cause: "setup-failed" }, reward: null });
    expect(rollout.outcome?.detail).toContain("The service db ended with exit code 1; it said: disk is full.");
  });

  test("that cannot be run is refused by file and line before anything runs", async () => {
    const files = {
      "task.toml": '[environment]\nnetwork_mode = "no-network"\n',
      "environment/Dockerfile": "FROM openforge/base:1\n",
      "environment/docker-compose.yaml": "services:\n  db:\n    image: x\n    pid: host\n",
      "tests/test.sh": "#!/bin/sh\n",
    };
    if (ready.includes("docker")) {
      await expect(run("refused", "docker", files, [])).rejects.toMatchObject({
        message: expect.stringMatching(/environment\/docker-compose\.yaml:4: services\.db\.pid: cannot be had in a rollout/),
      });
    }
    if (ready.includes("local"))
      await expect(run("refused", "local", files, [])).rejects.toMatchObject({ message: expect.stringContaining("need Docker") });
  });
});

describe.each(kinds)("a task with a list of hosts, in the %s sandbox", (sandbox) => {
  test.skipIf(!ready.includes(sandbox))("reaches those, and the rollout tells each connection", { timeout: 120_000 }, async () => {
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
    if (own === undefined) return;
    const server = createServer((_request, answer) => answer.end("the word is plum"));
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const { port } = server.address() as AddressInfo;
    const rollout = await run(
      "listed",
      sandbox,
      {
        "task.toml": `[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["${own}"]\n[verifier]\nnetwork_mode = "no-network"\n`,
        "environment/Dockerfile": "FROM openforge/base:1\nWORKDIR /app\n",
        "tests/test.sh": `#!/bin/sh\nif grep -q plum /app/word.txt && ! ${fetching(`http://${own}:${port}/late`)} > /dev/null; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n`,
      },
      [`${fetching(`http://${own}:${port}/`)} > word.txt`, `${fetching("http://other.example/")}`],
    );
    server.close();
    expect(rollout).toMatchObject({ outcome: { status: "succeeded" }, reward: 1 });
    const told = workbench.store
      .eventsAfter(0, 1000, { rolloutId: rollout.id })
      .filter(({ type }) => type === "rollout.egress")
      .map(({ payload }) => JSON.parse(payload));
    expect(told.map(({ host, allowed }) => [host, allowed])).toEqual([
      [own, true],
      ["other.example", false],
      [own, false],
    ]);
    expect(told[0]).toMatchObject({ port, reason: null });
    expect(told[0].receivedBytes).toBeGreaterThan(10);
  });
});
