/** The proxy with recording on, in a process of its own: `proxy-process.ts UPSTREAM_PORT SESSIONS`. Prints its address and the sessions as JSON. */
import { createUpstream } from "../../../main/proxy/index.ts";
import { layProxyBed } from "../../stand-ins/proxy-bed.ts";

const bed = await layProxyBed();
const messageRules = { developer: "system", mergeSystem: true, mergeUser: false } as const;
const upstream = await createUpstream(
  { kind: "openai-compatible", id: "fixed", url: `http://127.0.0.1:${process.argv[2]}`, model: "fixed", messageRules },
  { env: {}, policiesFolder: "", media: { put: (bytes) => bed.store.blobs.put(bytes).hash, get: (hash) => bed.store.blobs.get(hash) } },
);
const sessions: { path: string; key: string }[] = [];
for (let index = 0; index < Number(process.argv[3]); index += 1) {
  const { session } = await bed.open(upstream);
  sessions.push({ path: session.path, key: session.key });
}
console.log(JSON.stringify({ address: bed.proxy.address, sessions }));
process.stdin.resume().once("end", async () => {
  await bed.close();
  process.exit(0);
});
