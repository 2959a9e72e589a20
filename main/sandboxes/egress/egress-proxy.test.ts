import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { EgressConnection } from "../contract.ts";
import { type EgressProxy, openEgressProxy } from "./egress-proxy.ts";

let folder: string;
let socketPath: string;
let server: Server;
let port: number;
let proxy: EgressProxy;
let told: EgressConnection[];

const names: Readonly<Record<string, readonly string[]>> = {
  "good.test": ["127.0.0.1"],
  "rebound.test": ["127.0.0.9"],
  "metadata.test": ["169.254.169.254"],
  "mapped.test": ["::ffff:127.0.0.9"],
};

async function open(allowedHosts: readonly string[]): Promise<void> {
  proxy = openEgressProxy({
    allowedHosts,
    onConnection: (connection) => told.push(connection),
    resolve: async (name) => {
      const found = names[name];
      if (found === undefined) throw new Error("ENOTFOUND");
      return found;
    },
  });
  await proxy.listen(socketPath);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "of-egress-"));
  socketPath = join(folder, "egress.sock");
  told = [];
  server = createServer((incoming, answer) => {
    let body = "";
    incoming.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    incoming.on("end", () => answer.end(`${incoming.method} ${incoming.url} ${incoming.headers.host} ${body}`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  proxy.close();
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

function ask(path: string, options: { readonly method?: string; readonly body?: string; readonly host?: string } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = options.host === undefined ? {} : { host: options.host };
    const asked = request({ socketPath, path, method: options.method ?? "GET", headers, agent: false }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.once("error", reject);
    asked.end(options.body);
  });
}

/** Everything that comes back when `words` are sent as they are. */
function say(words: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    let said = "";
    socket.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    socket.once("close", () => resolve(said)).once("error", reject);
    socket.write(words);
  });
}

it("carries plain HTTP and tunnels to listed hosts, and tells what went through", async () => {
  await open(["good.test", "127.0.0.1"]);
  expect(await ask(`http://good.test:${port}/a?b=1`, { method: "POST", body: "hello", host: "other.test" })).toEqual({
    status: 200,
    body: `POST /a?b=1 good.test:${port} hello`,
  });
  const tunnelled = await say(`CONNECT good.test:${port} HTTP/1.1\r\n\r\nGET /in HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  expect(tunnelled).toMatch(/^HTTP\/1\.1 200 [^\r]*\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*GET \/in x/);
  await expect.poll(() => told.length).toBe(2);
  for (const connection of told) expect(connection).toMatchObject({ host: "good.test", port, allowed: true, reason: null });
  expect(told.every(({ sentBytes, receivedBytes }) => sentBytes > 20 && receivedBytes > 20)).toBe(true);
});

it("refuses other hosts by 403 and a sentence, without looking them up", async () => {
  await open(["good.test", "127.0.0.1"]);
  for (const host of ["evil.test", "sub.good.test", "8.8.8.8"]) {
    const answer = await ask(`http://${host}/`);
    expect(answer).toEqual({
      status: 403,
      body: `The host ${host} is not one of those that this task may reach; it allows good.test, 127.0.0.1.\n`,
    });
    const refused = await say(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`);
    expect(refused).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(refused).toContain(`The host ${host} is not one of those`);
  }
  expect(told.map(({ host, allowed }) => [host, allowed])).toContainEqual(["8.8.8.8", false]);
  expect(told).toHaveLength(6);
});

it("refuses listed names that lead to private addresses, and such addresses themselves", async () => {
  await open(["rebound.test", "metadata.test", "mapped.test", "0.0.0.0/0"]);
  for (const host of ["rebound.test", "metadata.test", "mapped.test", "127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:7f00:1]", "0.0.0.0"]) {
    const answer = await ask(`http://${host}:${port}/`);
    expect([host, answer.status]).toEqual([host, 403]);
    expect(answer.body).toContain("private to this machine");
  }
});

it("knows loopback addresses by any name", async () => {
  await open(["0.0.0.0/0"]);
  for (const host of ["127.1", "2130706433", "0x7f000001", "017700000001"]) expect((await ask(`http://${host}:${port}/`)).status).toBe(403);
  for (const host of ["127.1", "2130706433", "0x7f000001"]) expect(await say(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`)).toMatch(/ 403 /);
});

it("says what it is to those who speak otherwise", async () => {
  await open(["good.test"]);
  expect((await ask("/index.html")).status).toBe(400);
  expect(await say("CONNECT nonsense HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  expect((await ask("http://user:secret@good.test/")).status).toBe(400);
});

it("says when a listed host cannot be reached or found", async () => {
  await open(["nowhere.test", "127.0.0.1"]);
  expect(await ask("http://nowhere.test/")).toEqual({ status: 502, body: "The host nowhere.test has no address.\n" });
  const answer = await ask("http://127.0.0.1:1/");
  expect(answer).toEqual({ status: 502, body: "127.0.0.1:1 cannot be reached: ECONNREFUSED.\n" });
});

it("ends what is open to a host that is taken off the list", async () => {
  await open(["good.test", "127.0.0.1"]);
  const socket = connect(socketPath);
  socket.on("error", () => undefined);
  const established = new Promise((resolve) => socket.once("data", resolve));
  socket.write(`CONNECT good.test:${port} HTTP/1.1\r\n\r\n`);
  await established;
  const ended = new Promise((resolve) => socket.once("close", resolve));
  proxy.allow([]);
  await ended;
  expect((await ask(`http://good.test:${port}/`)).body).toContain("allows none at present");
});
