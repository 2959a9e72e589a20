/**
 * Bad input at the doors that no other test opens: policies declared wrongly or answering nothing, and the service's own door under a
 * rollout's key or a broken request line. Each ends in one sentence or a plain refusal, and nothing hangs or dies.
 * Beside this: main/tasks/malformed-packages.test.ts, main/harnesses/read-manifest.test.ts, main/cli/read-experiment.test.ts (files),
 * proxy.test.ts (requests and upstreams), sandbox-docker.test.ts (dead socket, unknown image).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startServer } from "../../main/api/index.ts";
import { createPolicyRegistry, type PolicyRegistry } from "../../main/proxy/index.ts";
import { openStore, type Store } from "../../main/store/index.ts";
import { layProxyBed } from "../stand-ins/proxy-bed.ts";

let folder: string;
let store: Store;
let policies: PolicyRegistry;
let servers: Server[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "of-bad-input-"));
  store = openStore(folder);
  policies = createPolicyRegistry({ store, policiesFolder: "resources/policies", env: {} });
  servers = [];
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Address of a server that answers every request so; null = never. */
async function serverThatSays(answer: { readonly status: number; readonly body: string; readonly location?: string } | null): Promise<string> {
  const server = createServer((_request, response) => {
    if (answer === null) return;
    response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end(answer.body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

describe("a policy", () => {
  test.each([
    ["a user and password", "http://me:hunter2-secret@127.0.0.1:9/v1"],
    ["a key in its query", "http://127.0.0.1:9/v1?key=hunter2-secret"],
  ])("with %s in its address is refused, and the secret is not repeated", async (_name, url) => {
    for (const attempt of [policies.add({ id: "a", url, kind: "openai-compatible" }), policies.resolve(url)]) {
      const error: unknown = await attempt.catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "usage", exitCode: 2, message: expect.stringMatching(/^The address of a policy has no user/) });
      expect(String(error)).not.toContain("hunter2");
    }
    expect(policies.list()).toHaveLength(1);
  });

  test("that is not vLLM takes no tokenizer", async () => {
    const add = policies.add({ id: "a", url: "http://127.0.0.1:9", kind: "openai-compatible", tokenizer: "resources/policies/tokenizer" });
    await expect(add).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("takes no prompts as token ids") });
    expect(policies.list()).toHaveLength(1);
  });

  test("that takes the connection and says nothing is given up after five seconds", async () => {
    const url = await serverThatSays(null);
    await expect(policies.add({ id: "a", url })).rejects.toMatchObject({
      code: "upstream",
      message: `The policy at ${url} gave no answer within 5 s.`,
      remedy: expect.stringMatching(/\.$/),
    });
  });

  test.each([
    ["a page", { status: 200, body: "<html><body>It works!</body></html>" }, /can't be read: its list of models has another shape\.$/],
    ["nothing", { status: 200, body: "" }, /can't be read: /],
    ["another address", { status: 302, body: "", location: "http://127.0.0.1:9/" }, /^The policy server answered with status 302\.$/],
    ["404", { status: 404, body: "" }, /^The policy server answered with status 404\.$/],
  ])("that answers %s fails its probe with a sentence and a remedy", async (_name, answer, message) => {
    const url = await serverThatSays(answer);
    await expect(policies.probe(url)).rejects.toMatchObject({
      code: "upstream",
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(/\w.*\.$/),
    });
  });
});

describe("the service's own door", () => {
  const start = () => startServer({ router: {}, windowFolder: folder, port: 0, socketPath: null, readBlob: () => Buffer.from("secret body") });

  test("opens nothing to the key of a rollout, on no route", async () => {
    const bed = await layProxyBed();
    const service = await start();
    try {
      const upstream = await policies.resolve("scripted");
      const { session } = await bed.open(upstream);
      const headers = { authorization: `Bearer ${session.key}` };
      for (const path of ["/", "/blobs/abc", "/rpc", "/healthz"]) {
        const response = await fetch(`http://127.0.0.1:${service.port}${path}`, { headers });
        expect([path, response.status]).toEqual([path, 403]);
        expect(await response.text()).toBe("The key of a rollout opens its model routes on the proxy and nothing else.\n");
      }
      await upstream.close();
    } finally {
      await service.close();
      await bed.close();
    }
  });

  test("ends although a client holds a refused upgrade open", async () => {
    const service = await start();
    const socket = connect({ port: service.port, host: "127.0.0.1", allowHalfOpen: true });
    try {
      socket.on("error", () => undefined);
      socket.write(`GET // HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
      await new Promise((resolve) => socket.once("data", resolve));
      const ended = await Promise.race([service.close().then(() => true), new Promise((resolve) => setTimeout(resolve, 5_000, false))]);
      expect(ended).toBe(true);
    } finally {
      socket.destroy();
    }
  });

  test.each(["GET // HTTP/1.1", "GET http:// HTTP/1.1", "GET /%zz HTTP/1.1", "GET /..%2f..%2fetc%2fpasswd.txt HTTP/1.1"])(
    "survives the request line `%s`, as a request and as an upgrade",
    async (line) => {
      const service = await start();
      try {
        for (const upgrade of [
          "",
          "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
        ]) {
          const answer = await speak(
            service.port,
            `${line}\r\nHost: 127.0.0.1:${service.port}\r\n${upgrade === "" ? "Connection: close\r\n" : upgrade}\r\n`,
          );
          expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
        }
        expect((await fetch(`http://127.0.0.1:${service.port}/healthz`)).status).toBe(200);
      } finally {
        await service.close();
      }
    },
  );
});

function speak(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setTimeout(3_000, () => socket.destroy(new Error("no answer")));
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(answer));
  });
}
