/** Compose projects in Docker: services beside the agent's box, on a network of their own. Images are made here, from the base image. */
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type EgressConnection,
  insidePaths,
  type Sandbox,
  type SandboxRequest,
  sandboxCauseOf,
  sandboxProviders,
} from "../../main/sandboxes/index.ts";
import { standInResolver } from "./egress-contract.ts";
import { run, sandboxRequest, text } from "./sandbox-contract.ts";

const folder = await mkdtemp(join(tmpdir(), "of-cmp-"));
const provider = sandboxProviders({ stateFolder: join(folder, "state"), socketFolder: folder, resolve: standInResolver }).docker;
const { ready, detail } = await provider.probe();
const ownerId = `compose-${process.pid}`;

/** The base image has no web server of its own: Python's. */
const webServer = `
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = (os.environ.get("GREETING", "") + " " + self.path).encode()
        self.send_response(200); self.send_header("content-length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *words): print("asked", self.path, flush=True)
open("/tmp/up", "w").close()
http.server.HTTPServer(("0.0.0.0", 80), Handler).serve_forever()
`;

describe.skipIf(!ready)(`compose projects${ready ? "" : ` (skipped: ${detail})`}`, () => {
  const docker = new Docker();
  const boxes: Sandbox[] = [];
  let environment: string;

  beforeAll(async () => {
    environment = join(folder, "task", "environment");
    await mkdir(join(environment, "web"), { recursive: true });
    await writeFile(
      join(environment, "web", "Dockerfile"),
      'FROM openforge/base:1\nARG GREETING=none\nENV GREETING=$GREETING\nCOPY server.py /\nCMD ["python3", "/server.py"]\n',
    );
    await writeFile(join(environment, "web", "server.py"), webServer);
    await writeFile(join(environment, "config.txt"), "from the package");
  });

  afterAll(async () => {
    await Promise.all(boxes.map((box) => box.destroy()));
    await provider.reap(ownerId, new Set());
    await rm(folder, { recursive: true, force: true });
  });

  async function open(compose: string, changes: Partial<SandboxRequest> = {}): Promise<Sandbox> {
    const root = await mkdtemp(join(folder, "case-"));
    await cp(join(folder, "task"), root, { recursive: true });
    const file = join(root, "environment", "docker-compose.yaml");
    await writeFile(file, compose);
    const image = { kind: "compose", file, root, main: { kind: "host" }, variables: { WORD: "hello" }, buildTimeoutMs: 120_000 } as const;
    const box = await provider.create(sandboxRequest({ ownerId, image, ...changes }), () => undefined);
    boxes.push(box);
    return box;
  }

  const say = async (box: Sandbox, source: string, ...args: readonly string[]): Promise<string> => {
    const result = await box.exec({ command: [insidePaths.node, "-e", source, ...args], timeoutMs: 30_000, outputLimitBytes: 10_000 });
    return text(result.stdout).trim();
  };
  const get = "fetch(process.argv[1]).then((r) => r.text()).then(console.log, (e) => console.log(e.cause?.code ?? e.message))";
  const healthy = '{ test: ["CMD", "test", "-e", "/tmp/up"], interval: 300ms, retries: 40 }';
  const web = `
  web:
    build: { context: ./web, args: { GREETING: "\${WORD}" } }
    container_name: the-web
    healthcheck: ${healthy}`;

  it("brings services that are reached by name, and nobody else", async () => {
    const box = await open(`
services:
  main: { depends_on: { web: { condition: service_healthy } }, environment: { PLACE: "$2b$12$x" }, volumes: ["./config.txt:/etc/config.txt:ro", "shared:/shared"] }
  ${web}
    volumes: ["shared:/shared", "./config.txt:/own.txt"]
    user: root
volumes: { shared: }
`);
    expect(await say(box, get, "http://web/a")).toBe("hello /a");
    expect(await say(box, get, "http://the-web/b")).toBe("hello /b");
    expect(text((await run(box, 'cat /etc/config.txt; echo " $PLACE"; whoami')).stdout)).toContain("from the package $2b$12$x\n");
    expect(box.services?.names).toEqual(["web"]);
    expect(box.fingerprint["service web"]).toMatch(/^sha256:/);

    // Nothing outside answers: this machine neither by the bridge's gateway nor by its other addresses, no resolver, no internet.
    const attempts = `const net = require("net"); const attempt = (host) => new Promise((done) => net.connect({ host, port: ${"PORT"}, timeout: 6000 }, () => done("open"))
      .on("error", (e) => done(e.code)).on("timeout", () => done("hang")));
      (async () => { for (const host of process.argv.slice(1)) console.log(await attempt(host)); process.exit(0); })();`;
    const listener = createServer((_request, answer) => answer.end("outside"));
    await new Promise<void>((resolve) => listener.listen(0, "0.0.0.0", resolve));
    const { port } = listener.address() as AddressInfo;
    const own = text((await run(box, "cat /proc/net/fib_trie | grep -B1 'host LOCAL' | grep -o '10\\.[0-9.]*' | head -1")).stdout).trim();
    const gateway = own.replace(/\d+$/, (last) => String((Number(last) & ~63) + 1));
    const said = (await say(box, attempts.replace("PORT", String(port)), gateway, "172.17.0.1", "169.254.169.254", "example.com")).split("\n");
    listener.close();
    expect(said).toHaveLength(4);
    for (const word of said) expect(["EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN", "ENOTFOUND", "ETIMEDOUT", "hang"]).toContain(word);

    const { services } = box;
    if (services === undefined) throw new Error("no services");
    const ran = await services.exec("web", {
      command: ["sh", "-c", "echo $GREETING; cat /own.txt; echo kept > /shared/note"],
      timeoutMs: 20_000,
      outputLimitBytes: 1000,
    });
    expect(text(ran.stdout)).toBe("hello\nfrom the package");
    expect(text((await run(box, "cat /shared/note")).stdout)).toBe("kept\n");
    expect(await services.download("web", "/own.txt", join(folder, "own.txt"))).toBe(true);
    expect(await services.download("web", "/nothing", join(folder, "nothing"))).toBe(false);
    expect(text(await services.logs("web", 10_000))).toContain("asked /a");
    await box.killAll();
    expect(await say(box, get, "http://web/c")).toBe("hello /c");
  });

  it("keeps twins apart", async () => {
    const compose = `services:${web}\n    container_name: fixed\n    ports: ["8123:80"]\n`.replace("    container_name: the-web\n", "");
    const twins = await Promise.all([open(compose), open(compose)]);
    expect(await Promise.all(twins.map((box) => say(box, get, "http://fixed/x")))).toEqual(["hello /x", "hello /x"]);
  });

  it("waits for what must have ended, and for what needs main", async () => {
    const box = await open(`
services:
  seed: { image: "openforge/base:1", command: "sh -c 'sleep 0.5; echo seeded > /data/x'", volumes: [data:/data] }
  main: { depends_on: { seed: { condition: service_completed_successfully } }, volumes: [data:/data] }
  beside: { image: "openforge/base:1", command: "python3 -m http.server 90", network_mode: "service:main", depends_on: [main] }
volumes: { data: {} }
`);
    expect(text((await run(box, "cat /data/x")).stdout)).toBe("seeded\n");
    await expect.poll(() => say(box, get, "http://127.0.0.1:90/nothing"), { timeout: 10_000 }).toContain("404");
  });

  it("says which service failed, and what it said last, and leaves nothing", async () => {
    const error = await open('services:\n  db: { image: "openforge/base:1", command: "sh -c \'echo no room; exit 3\'" }\n').catch(
      (failure: unknown) => failure,
    );
    expect(error).toMatchObject({ message: "The service db ended with exit code 3; it said: no room." });
    expect(sandboxCauseOf(error)).toBe("setup-failed");
    const sick =
      'services:\n  db: { image: "openforge/base:1", command: sleep 60, healthcheck: { test: "echo not yet; exit 1", interval: 200ms, retries: 2 } }\n';
    await expect(open(sick)).rejects.toMatchObject({ message: "The service db did not become healthy; its healthcheck said: not yet." });
    await expect(open("services:\n  db:\n    image: x\n    privileged: true\n")).rejects.toMatchObject({
      message: expect.stringMatching(/docker-compose\.yaml:4: services\.db\.privileged: /),
    });
  });

  it("lets services and main out to listed hosts only, by one proxy", async () => {
    const told: EgressConnection[] = [];
    const server = createServer((_request, answer) => answer.end("outside"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const network = { mode: "allowlist", allowedHosts: ["listed.test", "127.0.0.1"] } as const;
    const box = await open(`services:${web}\n`, { network, onConnection: (connection) => told.push(connection) });
    const ask = `import sys, urllib.request, urllib.error
try: print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
except urllib.error.HTTPError as error: print(error.code)`;
    const python = (url: string) => ({ command: ["python3", "-c", ask, url], timeoutMs: 20_000, outputLimitBytes: 1000 });
    expect(text((await box.exec(python(`http://listed.test:${port}/`))).stdout)).toBe("outside\n");
    expect(text((await box.exec(python("http://web/direct"))).stdout)).toBe("hello /direct\n");
    const fromService = await box.services?.exec("web", python(`http://listed.test:${port}/`));
    expect(text(fromService?.stdout ?? new Uint8Array())).toBe("outside\n");
    expect(text((await box.exec(python("http://other.test/"))).stdout)).toBe("403\n");
    await expect
      .poll(() => told.map(({ host, allowed }) => `${host} ${allowed}`).sort())
      .toEqual(["listed.test true", "listed.test true", "other.test false"]);
    server.close();
  });

  it("gives main and the others a way out beside their network, and takes it", async () => {
    const none = { mode: "no-network", allowedHosts: [] } as const;
    const outside = { mode: "public", allowedHosts: [] } as const;
    const box = await open(`services:${web}\n`, { network: outside, laterNetworks: [none] });
    const links = async (): Promise<readonly [string, string]> => {
      const command = ["sh", "-c", "ls /sys/class/net | wc -l"];
      const beside = await box.services?.exec("web", { command, timeoutMs: 20_000, outputLimitBytes: 1000 });
      return [text((await run(box, "ls /sys/class/net | wc -l")).stdout).trim(), text(beside?.stdout ?? new Uint8Array()).trim()];
    };
    expect(await links()).toEqual(["3", "3"]);
    await box.useNetwork(none);
    expect(await links()).toEqual(["2", "2"]);
    expect(await say(box, get, "http://web/still")).toBe("hello /still");
    await box.useNetwork(outside);
    expect(await links()).toEqual(["3", "3"]);
    const alone = await provider.create(sandboxRequest({ ownerId, laterNetworks: [outside] }), () => undefined);
    boxes.push(alone);
    const names = async (): Promise<number> =>
      text((await run(alone, "ls /sys/class/net")).stdout)
        .trim()
        .split("\n").length;
    expect(await names()).toBe(1);
    await alone.useNetwork(outside);
    expect(await names()).toBe(2);
    await alone.useNetwork(none);
    expect(await names()).toBe(1);
  });

  it("leaves no container, network or volume behind, by its end or by the sweep", async () => {
    const compose = `services:${web}\n    volumes: ["kept:/kept", "/anonymous"]\nvolumes: { kept: }\n`;
    const left = async (rollout: string): Promise<number> => {
      const filters = { label: [`openforge.rollout=${rollout}`] };
      const containers = await docker.listContainers({ all: true, filters });
      const [networks, volumes] = await Promise.all([docker.listNetworks({ filters }), docker.listVolumes({ filters })]);
      return containers.length + networks.length + (volumes.Volumes ?? []).length;
    };
    const ended = await open(compose, { rolloutId: `${ownerId}-ended` });
    await run(ended, "true");
    expect(await left(`${ownerId}-ended`)).toBe(4);
    await ended.destroy();
    expect(await left(`${ownerId}-ended`)).toBe(0);

    const sweeper = `${ownerId}-sweep`;
    const swept = await open(compose, { rolloutId: "swept", ownerId: sweeper });
    const kept = await open(compose, { rolloutId: "kept", ownerId: sweeper });
    await run(swept, "true");
    await run(kept, "true");
    expect(await provider.reap(sweeper, new Set(["kept"]))).toEqual(["swept"]);
    expect([await left("swept"), await left("kept")]).toEqual([0, 4]);
    expect(await provider.reap(sweeper, new Set())).toEqual(["kept"]);
    expect(await left("kept")).toBe(0);
  });
});
