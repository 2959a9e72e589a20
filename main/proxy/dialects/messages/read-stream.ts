/** A stream of this dialect, event by event or whole: what is said in it, and the one body that it stands for. */
import { z } from "zod";
import { readSse } from "../../streams/sse.ts";
import type { SaidPiece } from "../answer-writer.ts";

/** The block as it begins; its text may begin with it. */
const head = z.looseObject({ type: z.string(), text: z.string().optional(), thinking: z.string().optional(), signature: z.string().optional() });

const eventSchema = z.looseObject({
  type: z.string(),
  message: z.looseObject({ model: z.string().optional(), usage: z.looseObject({}).nullish() }).optional(),
  content_block: head.optional(),
  delta: z
    .looseObject({
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
      stop_reason: z.string().nullish(),
    })
    .optional(),
  usage: z.looseObject({}).nullish(),
  error: z.unknown().optional(),
});

/** Text and reasoning in one event's data; nothing when it is no event, which the reader of the whole will say. */
export function saidInEvent(data: string): readonly SaidPiece[] {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return [];
  }
  const event = eventSchema.safeParse(json).data;
  const said = event?.type === "content_block_start" ? event.content_block : event?.type === "content_block_delta" ? event.delta : undefined;
  const pieces: readonly SaidPiece[] = [
    { kind: "reasoning", text: said?.thinking ?? "" },
    { kind: "text", text: said?.text ?? "" },
  ];
  return pieces.filter(({ text }) => text !== "");
}

interface JoinedStream {
  /** The JSON text of the message; null when the stream does not end as one. */
  readonly body: string | null;
  /** An error object that the server sent inside the stream. */
  readonly error: unknown;
}

interface OpenBlock {
  readonly head: z.infer<typeof head>;
  text: string;
  thinking: string;
  signature: string;
  json: string;
}

/** Throws SyntaxError for an event that is no JSON. */
export function joinStream(text: string): JoinedStream {
  const blocks: OpenBlock[] = [];
  let usage: Readonly<Record<string, unknown>> = {};
  let model: string | undefined;
  let reason: string | null = null;
  let ended = false;
  for (const { data } of readSse(text)) {
    const parsed = eventSchema.safeParse(JSON.parse(data));
    if (!parsed.success) return { body: null, error: undefined };
    const event = parsed.data;
    if (event.type === "error") return { body: null, error: event.error ?? "unknown" };
    usage = { ...usage, ...numbersOf(event.message?.usage), ...numbersOf(event.usage) };
    model ??= event.message?.model;
    const { content_block: begun, delta } = event;
    if (event.type === "content_block_start" && begun !== undefined)
      blocks.push({ head: begun, text: begun.text ?? "", thinking: begun.thinking ?? "", signature: begun.signature ?? "", json: "" });
    const open = blocks.at(-1);
    if (event.type === "content_block_delta" && open !== undefined) {
      open.text += delta?.text ?? "";
      open.thinking += delta?.thinking ?? "";
      open.signature += delta?.signature ?? "";
      open.json += delta?.partial_json ?? "";
    }
    reason = delta?.stop_reason ?? reason;
    ended ||= event.type === "message_stop";
  }
  if (!ended || reason === null) return { body: null, error: undefined };
  const named = model === undefined ? "" : `"model":${JSON.stringify(model)},`;
  const content = blocks.map(blockText).join(",");
  const body = `{"type":"message",${named}"content":[${content}],"stop_reason":${JSON.stringify(reason)},"usage":${JSON.stringify(usage)}}`;
  return { body, error: undefined };
}

/** A later event of the stream may say `null` for what an earlier one has told. */
function numbersOf(usage: object | null | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== null));
}

function blockText({ head: begun, text, thinking, signature, json }: OpenBlock): string {
  switch (begun.type) {
    case "text":
      return JSON.stringify({ ...begun, text });
    case "thinking":
      return JSON.stringify({ ...begun, thinking, ...(signature === "" ? {} : { signature }) });
    case "tool_use": {
      const { input, ...rest } = begun;
      // A server that streams no arguments has them all in the block's beginning.
      return `${JSON.stringify(rest).slice(0, -1)},"input":${json === "" ? JSON.stringify(input ?? {}) : json}}`;
    }
    default:
      return JSON.stringify(begun);
  }
}
