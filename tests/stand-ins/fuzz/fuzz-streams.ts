/** Asks upstreams of every kind whose servers garble their answers, and looks at what clients of every dialect are told. */
import { createUpstream, readCall } from "../../../main/proxy/index.ts";
import { rebuildTrajectories } from "../../../main/trajectories/index.ts";
import { layProxyBed, type ProxyBed } from "../proxy-bed.ts";
import { createRandom, pick } from "../random.ts";
import { createFuzzTally, type FuzzReport, type FuzzTally, openSockets, quickClock } from "./fuzz-tally.ts";
import { type GarbledServer, startGarbledServer } from "./garbled-server.ts";
import { faultOfReply } from "./reply-form.ts";
import type { FuzzDialect } from "./request-bodies.ts";
import { upstreamKinds } from "./upstream-kinds.ts";

const atOnce = 12;

/** Plain requests: what is garbled here is the answer. */
const asks: readonly { readonly dialect: FuzzDialect; readonly path: string; readonly body: object }[] = [
  { dialect: "chat", path: "/chat/completions", body: { model: "m", messages: [{ role: "user", content: "hello" }] } },
  { dialect: "chat", path: "/chat/completions", body: { model: "m", stream: true, messages: [{ role: "user", content: "hello" }] } },
  { dialect: "responses", path: "/responses", body: { model: "m", input: "hello" } },
  { dialect: "responses", path: "/responses", body: { model: "m", input: "hello", stream: true } },
  { dialect: "messages", path: "/messages", body: { model: "m", max_tokens: 99, messages: [{ role: "user", content: "hello" }] } },
  { dialect: "messages", path: "/messages", body: { model: "m", max_tokens: 99, stream: true, messages: [{ role: "user", content: "hello" }] } },
  { dialect: "gemini", path: "/models/m:generateContent", body: { contents: [{ role: "user", parts: [{ text: "hello" }] }] } },
  { dialect: "gemini", path: "/models/m:streamGenerateContent?alt=sse", body: { contents: [{ role: "user", parts: [{ text: "hello" }] }] } },
];

/** `seed` and its number make a case again. */
export async function fuzzStreams(count: number, seed: number, first = 0): Promise<FuzzReport> {
  const tally = createFuzzTally(seed);
  const socketsBefore = openSockets();
  const bed = await layProxyBed({ clock: quickClock });
  const server = await startGarbledServer();
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  try {
    const work = async (): Promise<void> => {
      for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) await oneCase(bed, server, number, seed, tally);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    for (const problem of await bed.store.check()) tally.fault(`store check: ${JSON.stringify(problem)}`);
  } finally {
    await bed.close();
    await server.close();
  }
  // What undici destroyed is closed a moment later.
  await new Promise((done) => setTimeout(done, 200));
  if (openSockets() > socketsBefore) tally.fault(`${openSockets() - socketsBefore} sockets are left open`);
  return tally.read();
}

async function oneCase(bed: ProxyBed, server: GarbledServer, number: number, seed: number, tally: FuzzTally): Promise<void> {
  const random = createRandom(seed * 1_000_003 + number);
  const kind = pick(random, upstreamKinds);
  const { dialect, path, body } = pick(random, asks);
  const media = { put: (bytes: Uint8Array) => bed.store.blobs.put(bytes).hash, get: bed.store.blobs.get };
  const tell = (fault: string): void => tally.fault(`stream ${number}, ${kind.name} for ${dialect}: ${fault}`);
  const upstream = await createUpstream(kind.at(server.url(seed * 1_000_003 + number)), { env: {}, policiesFolder: "", media });
  const { session, rolloutId, post } = await bed.open(upstream, { tokenMode: kind.tokens ? "as-sampled" : "text-in" });
  // Some clients hang up before they are answered.
  const patience = random() < 0.08 ? Math.floor(random() * 40) : null;
  try {
    const reply = await post(path, body, { signal: AbortSignal.timeout(patience ?? 60_000) });
    const text = await reply.text();
    const contentType = reply.headers.get("content-type") ?? "";
    tally.counted(`${kind.name}: ${reply.status === 200 && !text.includes('"error"') ? "answered" : "refused"}`);
    const fault = faultOfReply({ status: reply.status, contentType, body: text }, dialect, "answer");
    if (fault !== null) tell(fault);
  } catch (error) {
    tally.counted(`${kind.name}: ${patience === null ? "broken off" : "the client left"}`);
    if (patience === null) tell(`no reply: ${String(error)}`);
  }
  await session.close();
  await upstream.close();
  try {
    const calls = bed.store.callsOf(rolloutId);
    if (calls.length !== 1 && (patience === null || calls.length > 1)) tell(`${calls.length} calls are recorded`);
    for (const call of calls) if (call.status === "ok" && readCall(bed.store, call).answer === null) tell("its answer can't be read again");
    rebuildTrajectories(bed.store, rolloutId);
  } catch (error) {
    tell(`the record can't be read: ${String(error)}`);
  }
}
