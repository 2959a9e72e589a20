/** Sends malformed and truncated requests to sessions and attached addresses, and looks at every reply and at what was recorded. */
import { join } from "node:path";
import { createUpstream, readCall, type SessionStats, type Upstream } from "../../../main/proxy/index.ts";
import type { TokenMode } from "../../../main/store/index.ts";
import { rebuildTrajectories } from "../../../main/trajectories/index.ts";
import { layProxyBed, type ProxyBed } from "../proxy-bed.ts";
import { createRandom } from "../random.ts";
import { createFuzzTally, type FuzzReport, type FuzzTally, openSockets, quickClock } from "./fuzz-tally.ts";
import { type FuzzRequest, type FuzzTarget, malformedRequest } from "./malformed-requests.ts";
import { exchangeRaw, type RawReply } from "./raw-exchange.ts";
import { faultOfReply } from "./reply-form.ts";
import { fuzzDialects } from "./request-bodies.ts";

/** Requests that one session gets, and how many of them at once. */
const perSession = 50;
const atOnce = 8;
const policies = join(import.meta.dirname, "../../../resources/policies");
const tokenModes: readonly TokenMode[] = ["text-in", "as-sampled", "as-template"];

interface Opened extends FuzzTarget {
  readonly rolloutIds: () => readonly string[];
  /** Calls that were counted. */
  readonly calls: () => number;
  close(): Promise<void>;
}

/** `seed` and its number make a request again. */
export async function fuzzRequests(count: number, seed: number): Promise<FuzzReport> {
  const tally = createFuzzTally(seed);
  const socketsBefore = openSockets();
  const bed = await layProxyBed({ clock: quickClock });
  const media = { put: (bytes: Uint8Array) => bed.store.blobs.put(bytes).hash, get: bed.store.blobs.get };
  const upstream = await createUpstream(
    { kind: "scripted", id: "scripted", file: join(policies, "scripted.yaml") },
    { env: {}, policiesFolder: policies, media },
  );
  try {
    for (let first = 0; first < count; first += perSession) {
      const opened = await open(bed, upstream, first / perSession);
      const numbers = Array.from({ length: Math.min(perSession, count - first) }, (_, index) => first + index);
      await Promise.all(Array.from({ length: atOnce }, () => sendAll(bed, opened, numbers, tally, seed)));
      await opened.close();
      lookAtRecord(bed, opened, tally);
    }
    for (const problem of await bed.store.check()) tally.fault(`store check: ${JSON.stringify(problem)}`);
  } finally {
    await upstream.close();
    await bed.close();
  }
  if (openSockets() > socketsBefore) tally.fault(`${openSockets() - socketsBefore} sockets are left open`);
  return tally.read();
}

/** Three sessions, one in each token mode, then an attached address. */
async function open(bed: ProxyBed, upstream: Upstream, batch: number): Promise<Opened> {
  const tokenMode = tokenModes[batch % 4];
  if (tokenMode === undefined) {
    const attached = await bed.attach(upstream, "as-sampled");
    const calls = (): number => attached.attach.sessions().reduce((sum, { stats }) => sum + recordedOf(stats), 0);
    return {
      path: attached.attach.path,
      key: attached.attach.key,
      rolloutIds: () => attached.rolloutIds,
      calls,
      close: () => attached.attach.close(),
    };
  }
  const { session, rolloutId } = await bed.open(upstream, { tokenMode });
  const { path, key } = session;
  return { path, key, rolloutIds: () => [rolloutId], calls: () => recordedOf(session.stats()), close: () => session.close() };
}

/** Unknown paths and counts of tokens are recorded, and counted apart. */
function recordedOf({ calls, unknownPaths, tokenCounts }: SessionStats): number {
  return calls + unknownPaths + tokenCounts;
}

async function sendAll(bed: ProxyBed, target: FuzzTarget, numbers: number[], tally: FuzzTally, seed: number): Promise<void> {
  for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
    const request = malformedRequest(createRandom(seed * 1_000_003 + number), target);
    const reply = await exchangeRaw(bed.proxy.address, request.bytes, { ...request, withinMs: 30_000 });
    tally.counted(reply.ended === "left" ? "client left" : String(reply.status ?? "closed"));
    const fault = faultOf(request, reply);
    if (fault !== null) tally.fault(`request ${number}, ${request.what}: ${fault}`);
  }
}

function faultOf(request: FuzzRequest, reply: RawReply): string | null {
  if (reply.ended === "hung") return "no reply within 30 s";
  if (reply.ended === "left" || request.form === "none") return null;
  // A client that says that nothing follows may be taken for one that is gone.
  if (request.ends && reply.status === null && reply.body === "") return null;
  const faults = (request.form === "any" ? fuzzDialects : [request.dialect]).map((dialect) => faultOfReply(reply, dialect, request.asks));
  return faults.includes(null) ? null : faults.join(" / ");
}

/** What was counted is there, can be read again, and makes chains. */
function lookAtRecord({ store }: ProxyBed, opened: Opened, tally: FuzzTally): void {
  const calls = opened.rolloutIds().flatMap((id) => store.callsOf(id));
  if (calls.length !== opened.calls()) tally.fault(`${opened.path}: ${calls.length} calls are recorded, ${opened.calls()} were counted`);
  try {
    for (const call of calls) {
      const read = readCall(store, call);
      if (call.status === "ok" && read.answer === null) tally.fault(`${call.id}: its answer can't be read again`);
    }
    for (const id of opened.rolloutIds()) rebuildTrajectories(store, id);
  } catch (error) {
    tally.fault(`${opened.path}: the record can't be read: ${String(error)}`);
  }
}
