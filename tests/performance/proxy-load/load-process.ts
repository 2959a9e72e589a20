/**
 * The proxy with recording on for a load that lasts: `load-process.ts UPSTREAM_PORT`. Prints its address and that of a control door as
 * JSON; the door opens and closes sessions and tells the memory. Ends with its standard input.
 */
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createUpstream, type ProxySession } from "../../../main/proxy/index.ts";
import { layProxyBed } from "../../stand-ins/proxy-bed.ts";

const bed = await layProxyBed();
const messageRules = { developer: "system", mergeSystem: true, mergeUser: false } as const;
const upstream = await createUpstream(
  { kind: "openai-compatible", id: "fixed", url: `http://127.0.0.1:${process.argv[2]}`, model: "fixed", messageRules },
  { env: {}, policiesFolder: "", media: { put: (bytes) => bed.store.blobs.put(bytes).hash, get: (hash) => bed.store.blobs.get(hash) } },
);
const sessions = new Map<string, ProxySession>();
let recorded = 0;

async function control(path: string): Promise<unknown> {
  if (path === "/open") {
    const { session, rolloutId } = await bed.open(upstream);
    sessions.set(session.path, session);
    bed.store.updateRollout(rolloutId, { phase: "running" });
    return { path: session.path, key: session.key };
  }
  if (path === "/memory") {
    globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, heap: heapUsed + external, descriptors: readdirSync("/proc/self/fd").length };
  }
  if (path === "/check") {
    for (const open of sessions.keys()) await close(open);
    return { recorded, problems: (await bed.store.check()).length };
  }
  await close(path.replace(/^\/close/, ""));
  return {};
}

async function close(path: string): Promise<void> {
  const session = sessions.get(path);
  if (session === undefined) return;
  sessions.delete(path);
  await session.close();
  recorded += session.stats().answered;
  bed.store.updateRollout(path.replace("/r/", ""), { phase: "ended" });
}

const door = createServer((request, response) => {
  control(request.url ?? "").then(
    (told) => response.end(JSON.stringify(told)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
door.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ address: bed.proxy.address, control: `127.0.0.1:${(door.address() as AddressInfo).port}` }));
});
process.stdin.resume().once("end", async () => {
  await bed.close();
  process.exit(0);
});
