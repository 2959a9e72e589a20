import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createHttpClient, type HttpClient } from "./http-client.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server };
}
function client(): HttpClient {
  const made = createHttpClient();
  closers.push(() => made.close());
  return made;
}
const never = new AbortController().signal;
const post = (url: string) => ({ method: "POST", url, body: Buffer.from("{}") }) as const;

test("a reset before any answer byte on a reused connection is sent once more on a new one", async () => {
  let connections = 0;
  let requests = 0;
  const { url, server } = await serve((request, response) => {
    requests += 1;
    if (requests === 2) request.socket.destroy();
    else response.end(`answer ${requests}`);
  });
  server.on("connection", () => {
    connections += 1;
  });
  const http = client();
  expect(await http.send(post(url), never)).toMatchObject({ ok: true });
  // The first connection is free again a moment later.
  await new Promise((done) => setTimeout(done, 20));
  const second = await http.send(post(url), never);
  expect(second.ok && Buffer.from(second.bytes).toString()).toBe("answer 3");
  expect(connections).toBe(2);
});

test("a reset on a fresh connection is told, not repeated", async () => {
  let requests = 0;
  const { url } = await serve((request) => {
    requests += 1;
    request.socket.destroy();
  });
  expect(await client().send(post(url), never)).toMatchObject({ ok: false });
  expect(requests).toBe(1);
});

test("an answer that is cut is told as cut, and status, type and Retry-After come through", async () => {
  const { url } = await serve((request, response) => {
    if (request.url === "/v1/cut") {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => request.socket.destroy());
    } else response.writeHead(429, { "retry-after": "3", "content-type": "text/plain" }).end("slow down");
  });
  const http = client();
  expect(await http.send(post(`${url}/cut`), never)).toMatchObject({ ok: false, message: expect.stringMatching(/cut|closed/) });
  expect(await http.send(post(url), never)).toMatchObject({ ok: true, status: 429, retryAfter: "3", contentType: "text/plain" });
});

test("an abort ends the request at the server too", async () => {
  let gone = false;
  const controller = new AbortController();
  const { url } = await serve((request) => {
    request.socket.once("close", () => {
      gone = true;
    });
    controller.abort();
  });
  await expect(client().send(post(url), controller.signal)).rejects.toThrow();
  await expect.poll(() => gone, { timeout: 5_000 }).toBe(true);
});

test("what does not speak HTTP is an expected failure", async () => {
  const server = createTcpServer((socket) => socket.end("SSH-2.0-hello\r\n"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closers.push(() => server.close());
  expect(await client().send(post(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), never)).toMatchObject({ ok: false });
  expect(await client().send(post("http://127.0.0.1:9"), never)).toMatchObject({ ok: false, message: "nothing listens there" });
});
