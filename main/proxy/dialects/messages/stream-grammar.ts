/**
 * The grammar of a Messages stream that we send, as a state machine over its events:
 * message_start · (block_start · its own deltas · block_stop)+ · message_delta · message_stop
 * Blocks are numbered from 0, one is open at a time, thinking comes before text and text before tools; the signature is the last delta
 * of a thinking block; the deltas of a tool join to one JSON object.
 */

export interface MessagesEvent {
  readonly type: "message_start" | "content_block_start" | "content_block_delta" | "content_block_stop" | "message_delta" | "message_stop";
  readonly message?: { readonly id: string; readonly [name: string]: unknown };
  readonly index?: number;
  readonly content_block?: undefined | { readonly type: string; readonly id?: string; readonly [name: string]: unknown };
  readonly delta?:
    | undefined
    | { readonly type?: string; readonly partial_json?: string; readonly stop_reason?: string; readonly [name: string]: unknown };
  readonly usage?: unknown;
}

const deltasOf: Readonly<Record<string, readonly string[]>> = {
  thinking: ["thinking_delta", "signature_delta"],
  text: ["text_delta"],
  tool_use: ["input_json_delta"],
};
const order = ["thinking", "text", "tool_use"];

interface StreamState {
  blocks: number;
  rank: number;
  open: { readonly type: string; json: string; signed: boolean } | null;
  stage: "start" | "blocks" | "ending" | "ended";
  readonly ids: Set<string>;
}

/** Throws an Error that names the first breach. */
export function checkMessagesStream(events: readonly MessagesEvent[]): void {
  const state: StreamState = { blocks: 0, rank: 0, open: null, stage: "start", ids: new Set() };
  for (const event of events) step(state, event);
  if (state.stage !== "ended") breach("has no message_stop");
}

function breach(problem: string): never {
  throw new Error(`messages stream: ${problem}`);
}

function step(state: StreamState, event: MessagesEvent): void {
  const expected = { message_start: "start", message_delta: "blocks", message_stop: "ending" } as const;
  const stage = event.type in expected ? expected[event.type as keyof typeof expected] : "blocks";
  if (state.stage !== stage) breach(`${event.type} out of place`);
  switch (event.type) {
    case "message_start":
      state.stage = "blocks";
      return;
    case "message_delta":
      if (state.open !== null || state.blocks === 0) breach("ends inside a block, or without one");
      if (event.delta?.stop_reason === undefined || event.usage === undefined) breach("ends without reason or usage");
      state.stage = "ending";
      return;
    case "message_stop":
      state.stage = "ended";
      return;
    case "content_block_start":
      openBlock(state, event);
      return;
    case "content_block_delta":
      addDelta(state, event);
      return;
    case "content_block_stop":
      closeBlock(state, event);
  }
}

function openBlock(state: StreamState, { index, content_block: block }: MessagesEvent): void {
  if (state.open !== null || index !== state.blocks || block === undefined) breach("a block is opened out of order");
  const rank = order.indexOf(block.type);
  if (rank < state.rank) breach(`a ${block.type} block after a later kind`);
  if (block.type === "tool_use") {
    if (block.id === undefined || block.id === "" || state.ids.has(block.id)) breach("a tool call has no id of its own");
    state.ids.add(block.id);
  }
  state.rank = rank;
  state.open = { type: block.type, json: "", signed: false };
}

function addDelta(state: StreamState, { index, delta }: MessagesEvent): void {
  const { open } = state;
  if (open === null || index !== state.blocks) breach("a delta outside its block");
  if (delta?.type === undefined || !(deltasOf[open.type] ?? []).includes(delta.type)) breach(`${delta?.type} in a ${open.type} block`);
  if (open.signed) breach("a delta after the signature");
  if (delta.type === "signature_delta") open.signed = true;
  open.json += delta.partial_json ?? "";
}

function closeBlock(state: StreamState, { index }: MessagesEvent): void {
  const { open } = state;
  if (open === null || index !== state.blocks) breach("a block that is not open is closed");
  if (open.type === "thinking" && !open.signed) breach("a thinking block without signature");
  if (open.type === "tool_use") JSON.parse(open.json);
  state.open = null;
  state.blocks += 1;
}
