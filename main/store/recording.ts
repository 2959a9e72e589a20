/**
 * One experiment with everything it refers to, as a single portable file. Layout: the line `openforge-recording 1`; the SHA-256 of the
 * rest (32 bytes); the rest, brotli: length of the index (u32, little-endian), the index as JSON (`indexSchema`), then the distinct
 * chunks of all bodies one after another. Bodies are recipes over those chunks, so growing bodies cost what they add.
 */
import { hash as digest } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { z } from "zod";
import type { BlobHash } from "../../engine/conversation/index.ts";
import { WorkbenchError } from "../errors.ts";
import { chunkEnd } from "./bodies/chunker.ts";
import { decodeRecipe, encodeRecipe } from "./bodies/recipe.ts";
import type { CallRecord, NodeRecord, Store } from "./contract.ts";
import { missing } from "./errors.ts";
import { floatsOf, floatsToBytes, idsOf, idsToBytes } from "./records/numbers.ts";
import { artifactSchema, blobHashSchema, callSchema, eventSchema, experimentSchema, rolloutSchema } from "./records/schemas.ts";

const name = "openforge-recording";
const version = 1;
const checksumBytes = 32;
/** Read whole into memory; a larger one is no recording to be shown. */
const mostBytes = 1024 * 1024 * 1024;

const base64 = z.base64().transform((text) => Buffer.from(text, "base64"));

const indexSchema = z.object({
  experiment: experimentSchema,
  rollouts: z.array(rolloutSchema),
  calls: z.array(
    z.object({
      call: callSchema,
      attachments: z.array(blobHashSchema),
      node: z
        .object({
          parent: z.string().nullable(),
          addedPromptIds: base64,
          sampledIds: base64,
          logprobs: base64,
          promptLength: z.number(),
        })
        .nullable(),
    }),
  ),
  events: z.array(eventSchema),
  artifacts: z.array(artifactSchema),
  bodies: z.array(z.object({ hash: blobHashSchema, recipe: base64 })),
  /** Lengths, in the order of the bytes. */
  chunks: z.array(z.number().int().positive()),
});

type Recording = z.output<typeof indexSchema>;

/** Writes the recording of an experiment whose rollouts have all ended; replaces a file of that name. */
export function exportRecording(store: Store, experimentId: string, path: string): void {
  const experiment = store.experiment(experimentId);
  if (experiment === null) throw missing("experiment", experimentId);
  const rollouts = store.rolloutsOf(experimentId);
  if (rollouts.some((rollout) => rollout.phase !== "ended"))
    throw new WorkbenchError(
      "store",
      `The experiment ${experimentId} is still running.`,
      "Wait until its rollouts have ended, or cancel it, then export.",
    );
  const calls = rollouts.flatMap((rollout) => exportedCalls(store, rollout.id, rollout.attempts));
  const artifacts = rollouts.flatMap((rollout) => store.artifactsOf(rollout.id));
  const hashes = [...calls.flatMap(({ call, attachments }) => [...bodiesOf(call), ...attachments]), ...artifacts.map((artifact) => artifact.blob)];
  const { bodies, chunks } = cutBodies(store, new Set(hashes));
  const index = {
    experiment,
    rollouts,
    calls,
    events: eventsOf(store, experimentId),
    artifacts,
    bodies,
    chunks: chunks.map((chunk) => chunk.length),
  };
  writeFile(path, Buffer.from(JSON.stringify(index)), chunks);
}

/** Adds the experiment of such a file with status `recording`, once; returns its id. A broken file is refused and changes nothing. */
export function importRecording(store: Store, path: string): string {
  const { recording, chunks } = readFile(path);
  const { experiment } = recording;
  const known = store.experiment(experiment.id);
  if (known?.status === "recording") return known.id;
  if (known !== null) {
    throw new WorkbenchError(
      "store",
      `The experiment ${experiment.id} of ${path} is in this data folder already.`,
      "Open it there, or delete it first.",
    );
  }
  const stored = new Map<BlobHash, BlobHash>();
  for (const body of recording.bodies) {
    const bytes = Buffer.concat(decodeRecipe(body.recipe).flatMap((run) => chunks.slice(run.first, run.first + run.count)));
    if (digest("sha256", bytes, "hex") !== body.hash) throw damaged(path, `the body ${body.hash.slice(0, 12)}… does not match its checksum`);
    stored.set(body.hash, store.blobs.put(bytes).hash);
  }
  store.atomically(() => addRecords(store, recording, stored, path));
  return experiment.id;
}

function exportedCalls(store: Store, rolloutId: string, attempts: number) {
  const numbers = Array.from({ length: attempts + 1 }, (_, attempt) => attempt);
  return numbers.flatMap((attempt) => {
    const nodes = new Map(store.nodesOf(rolloutId, attempt).map((node) => [node.callId, node]));
    return store
      .callsOf(rolloutId, attempt)
      .map((call) => ({ call, attachments: store.attachmentsOf(call.id), node: exportedNode(nodes.get(call.id)) }));
  });
}

function exportedNode(node: NodeRecord | undefined) {
  if (node === undefined) return null;
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  return {
    parent: node.parentCallId,
    addedPromptIds: text(idsToBytes(node.addedPromptIds)),
    sampledIds: text(idsToBytes(node.sampledIds)),
    logprobs: text(floatsToBytes(node.logprobs)),
    promptLength: node.promptLength,
  };
}

function bodiesOf(call: CallRecord): readonly BlobHash[] {
  return [call.requestBody, call.responseBody, call.upstreamRequestBody, call.upstreamResponseBody].filter((hash) => hash !== null);
}

function eventsOf(store: Store, experimentId: string) {
  const events = [];
  for (let after = 0; ; ) {
    const page = store.eventsAfter(after, 1000, { experimentId });
    const last = page.at(-1);
    if (last === undefined) return events;
    events.push(...page);
    after = last.sequence;
  }
}

function cutBodies(store: Store, hashes: ReadonlySet<BlobHash>) {
  const chunks: Uint8Array[] = [];
  const known = new Map<string, number>();
  const bodies = [...hashes].map((hash) => {
    const bytes = store.blobs.get(hash);
    if (bytes === null)
      throw new WorkbenchError("store", `The body ${hash.slice(0, 12)}… is gone.`, "Run `openforge store check` to see what is damaged.");
    const keys: number[] = [];
    for (let start = 0; start < bytes.length; ) {
      const end = chunkEnd(bytes, start);
      const chunk = bytes.subarray(start, end);
      const chunkName = digest("sha256", chunk, "base64");
      const key = known.get(chunkName) ?? chunks.push(chunk) - 1;
      known.set(chunkName, key);
      keys.push(key);
      start = end;
    }
    return { hash, recipe: Buffer.from(encodeRecipe(keys)).toString("base64") };
  });
  return { bodies, chunks };
}

function writeFile(path: string, index: Buffer, chunks: readonly Uint8Array[]): void {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  const packed = brotliCompressSync(Buffer.concat([length, index, ...chunks]), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
  });
  const part = `${path}.part`;
  const file = openSync(part, "w");
  try {
    for (const bytes of [Buffer.from(`${name} ${version}\n`), digest("sha256", packed, "buffer"), packed]) writeSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, path);
}

function readFile(path: string): { readonly recording: Recording; readonly chunks: readonly Uint8Array[] } {
  const file = readBytes(path);
  const lineEnd = file.indexOf(0x0a);
  const [word, number] = file.toString("latin1", 0, Math.max(0, Math.min(lineEnd, 64))).split(" ");
  if (word !== name) throw new WorkbenchError("store", `${path} is no recording.`, "Choose a file that `openforge` exported as a recording.");
  if (Number(number) !== version)
    throw new WorkbenchError(
      "store",
      `${path} is a recording of version ${number}; this workbench reads version ${version}.`,
      "Update the workbench.",
    );
  const packed = file.subarray(lineEnd + 1 + checksumBytes);
  if (!digest("sha256", packed, "buffer").equals(file.subarray(lineEnd + 1, lineEnd + 1 + checksumBytes)))
    throw damaged(path, "its checksum does not match");
  try {
    return unpack(packed, path);
  } catch (cause) {
    if (cause instanceof WorkbenchError || !(cause instanceof Error)) throw cause;
    throw damaged(path, cause.message);
  }
}

function unpack(packed: Buffer, path: string): { readonly recording: Recording; readonly chunks: readonly Uint8Array[] } {
  const plain = brotliDecompressSync(packed, { maxOutputLength: mostBytes });
  const indexEnd = 4 + plain.readUInt32LE(0);
  const parsed = indexSchema.safeParse(JSON.parse(plain.toString("utf8", 4, indexEnd)));
  if (!parsed.success) throw damaged(path, z.prettifyError(parsed.error).replaceAll("\n", " "));
  let offset = indexEnd;
  const chunks = parsed.data.chunks.map((length) => {
    offset += length;
    return plain.subarray(offset - length, offset);
  });
  return { recording: parsed.data, chunks };
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new WorkbenchError("store", `The recording ${path} cannot be read.`, "Check that the file exists and that you may read it.", { cause });
  }
}

function damaged(path: string, detail: string): WorkbenchError {
  return new WorkbenchError("store", `The recording ${path} is damaged: ${detail}.`, "Get the file again.");
}

/** Calls come back at the place of their event, which recording them writes anew; the counts of the rollouts are set last. */
function addRecords(store: Store, recording: Recording, stored: ReadonlyMap<BlobHash, BlobHash>, path: string): void {
  const at = (hash: BlobHash): BlobHash => {
    const found = stored.get(hash);
    if (found === undefined) throw damaged(path, `the body ${hash.slice(0, 12)}… is not in it`);
    return found;
  };
  const maybe = (hash: BlobHash | null) => (hash === null ? null : at(hash));
  store.createExperiment({ ...recording.experiment, status: "recording" });
  store.createRollouts(recording.rollouts.map((rollout) => ({ ...rollout, phase: "ended", calls: 0, promptTokens: 0, completionTokens: 0 })));
  const waiting = new Map(recording.calls.map((entry) => [entry.call.id, entry]));
  const record = (callId: string): boolean => {
    const entry = waiting.get(callId);
    if (entry === undefined) return false;
    waiting.delete(callId);
    const { call, node } = entry;
    store.recordCall(
      {
        ...call,
        requestBody: at(call.requestBody),
        responseBody: maybe(call.responseBody),
        upstreamRequestBody: maybe(call.upstreamRequestBody),
        upstreamResponseBody: maybe(call.upstreamResponseBody),
      },
      node === null
        ? null
        : {
            callId,
            parentCallId: node.parent,
            addedPromptIds: idsOf(node.addedPromptIds),
            sampledIds: idsOf(node.sampledIds),
            logprobs: floatsOf(node.logprobs),
            promptLength: node.promptLength,
          },
      entry.attachments.map(at),
    );
    return true;
  };
  for (const event of recording.events) if (event.type !== "call.recorded" || !record(callNamedBy(event.payload))) store.appendEvent(event);
  for (const callId of [...waiting.keys()]) record(callId);
  for (const artifact of recording.artifacts) store.addArtifact({ ...artifact, blob: at(artifact.blob) });
  for (const { id, calls, promptTokens, completionTokens } of recording.rollouts) store.updateRollout(id, { calls, promptTokens, completionTokens });
}

function callNamedBy(payload: string): string {
  const parsed = z.object({ call: z.string() }).safeParse(JSON.parse(payload));
  return parsed.success ? parsed.data.call : "";
}
