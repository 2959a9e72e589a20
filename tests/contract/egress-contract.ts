/** What an allow list of hosts must be, in every kind of sandbox. The servers are stand-ins on this machine's loopback. */
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server as SocketServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EgressConnection, insidePaths, type Sandbox, type SandboxProvider, type SandboxRequest } from "../../main/sandboxes/index.ts";
import { run, sandboxRequest, text } from "./sandbox-contract.ts";

/** Names that exist for the egress proxy only. */
const addresses: Readonly<Record<string, string>> = {
  "files.allowed.test": "127.0.0.1",
  "listed.test": "127.0.0.1",
  "rebound.test": "127.0.0.2",
  "metadata.test": "169.254.169.254",
};

export const standInResolver = async (name: string): Promise<readonly string[]> => {
  const address = addresses[name];
  if (address === undefined) throw new Error(`no address of ${name}`);
  return [address];
};

/** Asks for an address as any program does that heeds the usual variables. */
const asking = `
const url = new URL(process.argv[1]);
const proxy = new URL(process.env[process.argv[2] || "http_proxy"]);
const request = require("http").request({ host: proxy.hostname, port: proxy.port, path: url.href, headers: { host: url.host } }, (answer) => {
  let body = "";
  answer.on("data", (chunk) => { body += chunk; });
  answer.on("end", () => console.log(answer.statusCode + " " + body.trim()));
});
request.on("error", (error) => console.log(error.code)).end();`;

const tunnelling = `
const proxy = new URL(process.env.HTTPS_PROXY);
const request = require("http").request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: process.argv[1] });
request.on("connect", (answer, socket, head) => {
  if (answer.statusCode !== 200) { socket.destroy(); return console.log(answer.statusCode); }
  let said = head.toString();
  socket.on("data", (chunk) => { said += chunk; }).on("end", () => console.log("200 " + said.trim())).end("ping");
});
request.on("response", (answer) => { answer.resume(); console.log(answer.statusCode); });
request.on("error", (error) => console.log(error.code)).end();`;

const direct = `
const attempt = (host, port) => new Promise((done) => require("net").connect({ host, port, timeout: 4000 }, () => done("open"))
  .on("error", (e) => done(e.code)).on("timeout", () => done("hang")));
(async () => { for (const place of process.argv.slice(1)) { const [host, port] = place.split(" "); console.log(await attempt(host, Number(port))); } process.exit(0); })();`;

export function egressContract(kind: string, provider: () => SandboxProvider): void {
  describe(`${kind}: a list of hosts`, () => {
    const boxes: Sandbox[] = [];
    const told: EgressConnection[] = [];
    let server: Server;
    let echo: SocketServer;
    let port: number;
    let echoPort: number;
    let box: Sandbox;

    const create = async (changes: Partial<SandboxRequest>): Promise<Sandbox> => {
      const sandbox = await provider().create(sandboxRequest({ onConnection: (connection) => told.push(connection), ...changes }), () => undefined);
      boxes.push(sandbox);
      return sandbox;
    };
    const say = async (sandbox: Sandbox, source: string, ...args: readonly string[]): Promise<string> => {
      const result = await sandbox.exec({ command: [insidePaths.node, "-e", source, ...args], timeoutMs: 30_000, outputLimitBytes: 10_000 });
      return text(result.stdout).trim();
    };

    beforeAll(async () => {
      server = createServer((incoming, answer) => answer.end(`served ${incoming.headers.host}${incoming.url}`));
      echo = createSocketServer({ allowHalfOpen: true }, (socket) =>
        socket.on("error", () => undefined).on("data", (chunk) => socket.end(`${chunk} pong`)),
      );
      await Promise.all([
        new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)),
        new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve)),
      ]);
      port = (server.address() as AddressInfo).port;
      echoPort = (echo.address() as AddressInfo).port;
      const allowedHosts = ["listed.test", "*.allowed.test", "rebound.test", "metadata.test", "127.0.0.1"];
      box = await create({ network: { mode: "allowlist", allowedHosts } });
    });

    afterAll(async () => {
      await Promise.all(boxes.map((each) => each.destroy()));
      server.closeAllConnections();
      server.close();
      echo.close();
    });

    it("lets listed hosts be reached, by plain HTTP and by tunnels, and tells the bytes", async () => {
      expect(await say(box, asking, `http://listed.test:${port}/a`)).toBe(`200 served listed.test:${port}/a`);
      expect(await say(box, asking, `http://files.allowed.test:${port}/b`, "ALL_PROXY")).toBe(`200 served files.allowed.test:${port}/b`);
      expect(await say(box, tunnelling, `listed.test:${echoPort}`)).toBe("200 ping pong");
      await expect.poll(() => told.length).toBe(3);
      expect(told).toContainEqual(
        expect.objectContaining({ host: "listed.test", port: echoPort, allowed: true, reason: null, sentBytes: 4, receivedBytes: 9 }),
      );
    });

    it("refuses every other host with a sentence", async () => {
      told.length = 0;
      expect(await say(box, asking, `http://other.test:${port}/`)).toBe(
        "403 The host other.test is not one of those that this task may reach; it allows listed.test, *.allowed.test, rebound.test, metadata.test, 127.0.0.1.",
      );
      expect(await say(box, tunnelling, "allowed.test:443")).toBe("403");
      expect(told.map(({ host, allowed }) => [host, allowed])).toEqual([
        ["other.test", false],
        ["allowed.test", false],
      ]);
    });

    it("refuses listed names that lead to addresses of this machine, and the metadata address", async () => {
      for (const host of ["rebound.test", "metadata.test", "169.254.169.254", "127.0.0.2"]) {
        const said = await say(box, asking, `http://${host}:${port}/`);
        expect(said, host).toMatch(/^403 .*private to this machine/);
      }
    });

    it("has no way out but the proxy", async () => {
      const places = [`127.0.0.1 ${port}`, `172.17.0.1 ${port}`, "169.254.169.254 80", "1.1.1.1 443", "listed.test 80"];
      const said = (await say(box, direct, ...places)).split("\n");
      expect(said).toHaveLength(places.length);
      for (const word of said) expect(["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EAI_AGAIN", "ENOTFOUND"]).toContain(word);
    });

    it("names the proxy in all the usual variables, and what goes without it", async () => {
      const shown = text((await run(box, "env")).stdout).split("\n");
      for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]) {
        expect(shown).toContain(`${name}=http://127.0.0.1:8791`);
      }
      expect(shown.find((line) => line.startsWith("NO_PROXY="))).toContain("127.0.0.1");
      const plain = await create({});
      expect(text((await run(plain, "env | grep -i _proxy; true")).stdout)).toBe("");
    });

    it("can become another list, or none, and nothing that was not foreseen", async () => {
      const none = { mode: "no-network", allowedHosts: [] } as const;
      const later = { mode: "allowlist", allowedHosts: ["listed.test", "127.0.0.1"] } as const;
      const closed = await create({ network: none, laterNetworks: [later] });
      const url = `http://listed.test:${port}/`;
      expect(await say(closed, asking, url)).toMatch(/^403 .*allows none at present/);
      await closed.useNetwork(later);
      expect(await say(closed, asking, url)).toMatch(/^200 /);
      await closed.useNetwork(none);
      expect(await say(closed, asking, url)).toMatch(/^403 /);
      await expect(closed.useNetwork({ mode: "public", allowedHosts: [] })).rejects.toMatchObject({ exitCode: 3 });
      const plain = await create({});
      await plain.useNetwork(none);
      await expect(plain.useNetwork(later)).rejects.toMatchObject({ exitCode: 3 });
    });
  });
}
