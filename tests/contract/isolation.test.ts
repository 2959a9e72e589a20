/** Ten local sandboxes at once: none sees another, the user, or a port of this machine but its own proxy. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insidePaths, type Sandbox, sandboxProviders } from "../../main/sandboxes/index.ts";
import { run, sandboxRequest, text } from "./sandbox-contract.ts";

const random = (): string => Math.random().toString(36).slice(2);
/** Everything of the machine's that must stay unseen bears this word. */
const planted = `planted-${random()}`;
const stateProbe = sandboxProviders({ stateFolder: join(tmpdir(), "of-probe") });
const { ready, detail } = await stateProbe.local.probe();

/**
 * Looks everywhere a program can: every file and name that it can read outside the system's own programs, every process, every
 * environment, every way to connect. Reads from standard input (where nobody else reads it) the words to look for and the targets.
 */
const lookEverywhere = `
const fs = require("node:fs"); const net = require("node:net");
const { words, targets } = JSON.parse(fs.readFileSync(0, "utf8"));
const found = new Set();
const inspect = (where, text) => { for (const word of words) if (text.includes(word)) found.add(where + " " + word); };
const seen = new Set();
(function walk(path, depth) {
  if (depth > 8 || /^\\/(usr|sys|proc\\/(\\d+|self|thread-self)\\/(task|map_files|root|cwd))/.test(path) || seen.has(path)) return;
  seen.add(path);
  let stat; try { stat = fs.lstatSync(path); } catch { return; }
  inspect("name", path);
  if (stat.isSymbolicLink()) { try { inspect("link", fs.readlinkSync(path)); } catch {} return; }
  if (stat.isDirectory()) { let names = []; try { names = fs.readdirSync(path); } catch {} for (const name of names) walk(path === "/" ? "/" + name : path + "/" + name, depth + 1); return; }
  if (!stat.isFile() || /\\/(kmsg|kpagecount|kpageflags|kpagecgroup|kcore|pagemap|mem|clear_refs)$/.test(path)) return;
  try { const fd = fs.openSync(path, "r"); const buffer = Buffer.alloc(65536); inspect(path, buffer.subarray(0, fs.readSync(fd, buffer)).toString("latin1")); fs.closeSync(fd); } catch {}
})("/", 0);
inspect("environment", JSON.stringify(process.env));
const attempt = (target) => new Promise((done) => { const socket = net.connect(target, () => { socket.destroy(); done("open"); }); socket.on("error", (error) => done(error.code)); socket.setTimeout(4000, () => done("hang")); });
Promise.all(targets.map(attempt)).then((ends) => console.log(JSON.stringify({ found: [...found], ends })));
`;

describe.skipIf(!ready)(`isolation of local sandboxes${ready ? "" : ` (skipped: ${detail})`}`, () => {
  let folder: string;
  let boxes: readonly Sandbox[] = [];
  const servers: Server[] = [];
  const hostFile = join(homedir(), `.${planted}`);
  const listen = async (where: Parameters<Server["listen"]>[0]): Promise<Server> => {
    const server = createServer((socket) => socket.end("host"));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(where, resolve));
    return server;
  };
  const hostProcess = spawn("sleep", ["600", "--", "1"], { argv0: `sleep-${planted}`, env: { HOST_SECRET: planted }, stdio: "ignore" });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "of-iso-"));
    await writeFile(hostFile, planted);
    await writeFile(join(tmpdir(), planted), planted);
    process.env.OPENFORGE_TEST_SECRET = planted;
    const provider = sandboxProviders({ stateFolder: join(folder, "state") }).local;
    boxes = await Promise.all(
      [...Array(10).keys()].map(async (number) => {
        const proxySocket = join(folder, `model-${number}.sock`);
        await listen(proxySocket as never);
        return provider.create(sandboxRequest({ proxySocket }), () => undefined);
      }),
    );
  });

  afterAll(async () => {
    await Promise.all(boxes.map((box) => box.destroy()));
    for (const server of servers) server.close();
    hostProcess.kill();
    delete process.env.OPENFORGE_TEST_SECRET;
    await rm(hostFile, { force: true });
    await rm(join(tmpdir(), planted), { force: true });
    await rm(folder, { recursive: true, force: true });
  });

  it("shows none of them the others, the user or the machine", async () => {
    const tcp = await listen({ host: "0.0.0.0", port: 0 } as never);
    const loopback = await listen({ host: "127.0.0.1", port: 0 } as never);
    const abstract = await listen({ path: `\0${planted}` } as never);
    const portOf = (server: Server): number => {
      const address = server.address();
      return typeof address === "object" && address !== null ? address.port : 0;
    };
    const marks = boxes.map((_, number) => `box-${number}-${random()}`);
    await Promise.all(
      boxes.map((box, number) =>
        run(
          box,
          `for d in /app /tmp /var/tmp /logs/agent /tests /home/agent /dev/shm; do echo $OWN > $d/$OWN; done
           sh -c 'sleep 609' $OWN >/dev/null 2>&1 &
           node -e 'require("net").createServer().listen(9999, "0.0.0.0"); require("net").createServer().listen("\\0shared-name")' >/dev/null 2>&1 &
           sleep 0.3`,
          { env: { OWN: marks[number] ?? "" } },
        ),
      ),
    );
    const look = async (box: Sandbox, words: readonly string[]): Promise<{ found: string[]; ends: string[] }> => {
      const stdin = Buffer.from(JSON.stringify({ words, targets }));
      const command = [insidePaths.node, "-e", lookEverywhere];
      const result = await box.exec({ command, stdin, timeoutMs: 60_000, outputLimitBytes: 1_000_000 });
      expect(text(result.stderr)).toBe("");
      return JSON.parse(text(result.stdout));
    };
    const targets = [
      { host: "127.0.0.1", port: portOf(loopback) },
      { host: "127.0.0.1", port: portOf(tcp) },
      { host: "10.0.0.1", port: portOf(tcp) },
      { host: "169.254.169.254", port: 80 },
      { path: `\0${planted}` },
      { path: join(folder, "model-0.sock") },
      { path: "/var/run/docker.sock" },
    ];
    for (const [number, box] of boxes.entries()) {
      const { found, ends } = await look(box, [planted, ...marks.filter((_, other) => other !== number)]);
      expect(found).toEqual([]);
      for (const end of ends) expect(["ECONNREFUSED", "ENETUNREACH", "ENOENT", "EACCES"]).toContain(end);
    }
    // The looking itself works: a box finds its own mark in all places where it left it.
    const own = await look(boxes[0] as Sandbox, [marks[0] ?? ""]);
    for (const place of ["/app/", "/dev/shm/", "/proc/"]) expect(own.found.join("\n")).toContain(place);
    expect(abstract.listening).toBe(true);
  });

  it("shows a bare machine: one home, no devices of others, no other process", async () => {
    const box = boxes[1] as Sandbox;
    await box.killAll();
    const view = await run(
      box,
      "ls -A /home /opt /run; ls /root /mnt /srv 2>&1 | grep -vc 'No such'; ls /proc | grep -c '^[0-9]'; cat /etc/hostname",
    );
    expect(text(view.stdout)).toMatch(/^\/home:\nagent\n\n\/opt:\nopenforge\n\n\/run:\n0\n[345]\nsandbox\n$/);
  });
});
