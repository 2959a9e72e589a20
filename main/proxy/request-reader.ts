/**
 * Reads the requests of one session. Agents send their whole history with every call: what a body repeats of a recent one, byte for
 * byte from its start, is taken from there, so that a call costs what is new in it.
 */
import { hash } from "node:crypto";
import type { BlobHash, Conversation } from "../../engine/conversation/index.ts";
import type { Arrival } from "./call-entry.ts";
import type { Decoded, Dialect, DialectId, Fault, MediaStore, ReplyShape } from "./dialects/dialect.ts";
import { type Mark, readOnward, readWhole, type ScannedBody } from "./dialects/request-body.ts";
import { unknownPathFault } from "./faults.ts";
import { createRequestKeying, type RequestKeying } from "./request-key.ts";

interface ArrivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly startedAt: number;
  readonly body: Uint8Array;
  readonly dialect: Dialect;
  readonly unknownPath: boolean;
  /** The body could not even be taken. */
  readonly fault: Fault | null;
}

export interface RequestReader {
  read(request: ArrivedRequest): Arrival;
}

/** A body that was read, to read later ones from. */
interface Known {
  readonly dialect: DialectId;
  readonly body: ScannedBody;
  /** Longest first. */
  readonly marks: readonly (Mark & { readonly listKey: string })[];
  readonly tools: { readonly raw: Uint8Array; readonly key: string } | null;
}

/** Bodies kept to read from (main line and subagents), and their bytes in all. */
const mostKnown = 6;
const mostKnownBytes = 8 * 1024 * 1024;
/** A body that differs from an earlier one in so many last items goes on from it. */
const mostRereadItems = 1;
/** Marks that a body takes over, for bodies that part earlier. */
const mostOlderMarks = 10;

const plainReply: ReplyShape = { model: "", stream: false, includeUsage: false, encryptedReasoning: false, parallelToolCalls: true };
const halfNote = "The request holds half of a character; the policy was given U+FFFD in its place.";

export function createRequestReader(volatileFields: readonly string[], media: MediaStore): RequestReader {
  const keyings = new Map<DialectId, RequestKeying>();
  let known: Known[] = [];

  function keyingOf(dialect: Dialect): RequestKeying {
    const made = keyings.get(dialect.id) ?? createRequestKeying(dialect.list, volatileFields);
    keyings.set(dialect.id, made);
    return made;
  }

  function readBody(request: ArrivedRequest): ReadBody | Fault {
    for (const from of known) {
      if (from.dialect !== request.dialect.id) continue;
      for (const mark of from.marks) {
        const body = readOnward(request.body, request.dialect.list, from.body, mark);
        if (body !== null) return { body, from, listKey: mark.listKey };
      }
    }
    try {
      return { body: readWhole(request.body, request.dialect.list), from: null, listKey: "" };
    } catch (error) {
      if (error instanceof TypeError) return jsonFault("The body is not valid UTF-8: send JSON as UTF-8.");
      return jsonFault(`The body is no JSON object: ${error instanceof Error ? error.message : String(error)}.`);
    }
  }

  /** The sentence for a body that was read in part counts its items from there: read whole, it names the right one. */
  function wholeFault({ body, dialect, path }: ArrivedRequest, fault: Fault): Fault {
    const decoded = dialect.decode(readWhole(body, dialect.list), media, path);
    return decoded.ok ? fault : decoded.fault;
  }

  /** A body takes the place of the one that it goes on from: old bodies that live on are what the garbage collector is slow with. */
  function remember(made: Known, from: Known | null): void {
    let bytes = 0;
    const goesOn = from !== null && made.body.known.items >= from.body.itemEnds.length - mostRereadItems;
    known = [made, ...(goesOn ? known.filter((each) => each !== from) : known)].slice(0, mostKnown).filter((each, index) => {
      bytes += each.body.bytes.length;
      return index === 0 || bytes <= mostKnownBytes;
    });
  }

  return {
    read(request) {
      const { fault, ...rest } = request;
      const refused = (why: Fault): Arrival => ({
        ...rest,
        requestKey: hash("sha256", request.body, "hex"),
        conversation: null,
        asWritten: null,
        reply: plainReply,
        attachments: [],
        refusal: why,
        notes: [],
      });
      if (fault !== null) return refused(fault);
      if (request.unknownPath) return refused(unknownPathFault);
      const read = readBody(request);
      if ("status" in read) return refused(read);
      const decoded = request.dialect.decode(read.body, media, request.path);
      if (!decoded.ok) return refused(wholeFault(request, decoded.fault));
      try {
        const { key, made } = keyed(request.dialect, keyingOf(request.dialect), read, decoded);
        // Bodies that need mending are rare and always read whole.
        const hasHalves = holdsHalfCharacter(read.body);
        if (!hasHalves) remember(made, read.from);
        const { conversation, reply } = decoded;
        return {
          ...rest,
          requestKey: key,
          conversation,
          // Half a character must be mended before it is sent on.
          asWritten: hasHalves ? null : read.body.raw,
          reply,
          attachments: attachmentsOf(conversation),
          refusal: null,
          notes: hasHalves ? [halfNote] : [],
        };
      } catch (error) {
        if (error instanceof RangeError) return refused(jsonFault(`The body can't be read: ${error.message}.`));
        throw error;
      }
    },
  };
}

interface ReadBody {
  readonly body: ScannedBody;
  /** The earlier body it was read from, and the key of the items they share. */
  readonly from: Known | null;
  readonly listKey: string;
}

function keyed(
  dialect: Dialect,
  keying: RequestKeying,
  { body, from, listKey }: ReadBody,
  decoded: Extract<Decoded, { ok: true }>,
): { key: string; made: Known } {
  const items = body.value[dialect.list];
  const count = body.known.items;
  const keys = Array.isArray(items) ? keying.listKeys(items, count, listKey) : [];
  const tools = toolsOf(body, from, keying);
  const key = keying.bodyKey(body.value, keys.at(-1) ?? listKey, (name) => (name === "tools" ? (tools?.key ?? null) : null));
  const marks = decoded.marks.map((mark) => ({ ...mark, listKey: mark.items > count ? (keys[mark.items - count - 1] ?? "") : listKey }));
  const fresh = marks.filter((mark) => mark.items > 0 && mark.items >= count);
  const older = from?.marks.filter((mark) => mark.items < Math.max(1, count)).slice(0, mostOlderMarks) ?? [];
  return { key, made: { dialect: dialect.id, body, marks: [...fresh, ...older], tools } };
}

function toolsOf(body: ScannedBody, from: Known | null, keying: RequestKeying): Known["tools"] {
  const raw = body.raw.get("tools");
  if (raw === undefined) return null;
  if (from?.tools != null && Buffer.compare(from.tools.raw, raw) === 0) return { raw, key: from.tools.key };
  return { raw, key: keying.memberKey("tools", body.value.tools) };
}

function attachmentsOf({ messages }: Conversation): readonly BlobHash[] {
  const found: BlobHash[] = [];
  for (const message of messages) {
    if (message.role === "other") continue;
    for (const part of message.content)
      if ((part.type === "image" || part.type === "file") && part.source.kind === "blob") found.push(part.source.hash);
  }
  return found;
}

/** JSON.stringify writes a half character, and only that, as an escape of the surrogate range. */
function holdsHalfCharacter(body: ScannedBody): boolean {
  const start = body.known.items === 0 ? 0 : (body.itemEnds[body.known.items - 1] ?? 0);
  const written = Buffer.from(body.bytes.buffer, body.bytes.byteOffset + start, body.bytes.length - start);
  if (!written.includes("\\ud") && !written.includes("\\uD")) return false;
  return /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(body.value));
}

function jsonFault(message: string): Fault {
  return { status: 400, code: "invalid_json", type: "invalid_request_error", message };
}
