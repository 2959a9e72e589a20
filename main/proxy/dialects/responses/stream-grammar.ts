/**
 * The grammar of a Responses stream that we send, as a state machine over its events:
 * created · in_progress? · (item added · its own deltas · item done)* · completed | incomplete | failed
 * Events are numbered from 0; one item is open at a time; deltas are of the open item's kind and join to its `done`;
 * the last event repeats every item as it was done, in order.
 */

export interface ResponsesEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly response?: { readonly id: string; readonly status: string; readonly output: readonly unknown[]; readonly usage: unknown };
  readonly output_index?: number;
  readonly content_index?: number;
  readonly item_id?: string;
  readonly item?: { readonly type: string; readonly id: string };
  readonly part?: { readonly type: string; readonly text: string };
  readonly delta?: string;
  readonly text?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly input?: string;
}

/** By item type: prefix of its delta events, where their text ends up, the type of its content part. */
const kinds: Readonly<Record<string, { readonly prefix: string; readonly whole: "text" | "arguments" | "input"; readonly part: string | null }>> = {
  message: { prefix: "response.output_text", whole: "text", part: "output_text" },
  reasoning: { prefix: "response.reasoning_text", whole: "text", part: "reasoning_text" },
  function_call: { prefix: "response.function_call_arguments", whole: "arguments", part: null },
  custom_tool_call: { prefix: "response.custom_tool_call_input", whole: "input", part: null },
};

interface OpenItem {
  readonly id: string;
  readonly type: string;
  text: string;
  ended: boolean;
  part: "none" | "open" | "closed";
}

interface StreamState {
  readonly done: unknown[];
  readonly ids: Set<string>;
  open: OpenItem | null;
  ended: boolean;
}

/** Throws an Error that names the first breach. */
export function checkResponsesStream(events: readonly ResponsesEvent[]): void {
  const state: StreamState = { done: [], ids: new Set(), open: null, ended: false };
  const responseId = events[0]?.response?.id;
  events.forEach((event, index) => {
    if (event.sequence_number !== index) breach("events are not numbered in order");
    if (state.ended) breach(`${event.type} after the end`);
    if (event.response !== undefined && event.response.id !== responseId) breach("the response's id changes");
    if ((index === 0) !== (event.type === "response.created")) breach("response.created is not the first event, or comes twice");
    if (event.type === "response.in_progress" && index !== 1) breach("in_progress out of place");
    step(state, event);
  });
  if (!state.ended) breach("has no terminal event");
}

function breach(problem: string): never {
  throw new Error(`responses stream: ${problem}`);
}

function step(state: StreamState, event: ResponsesEvent): void {
  switch (event.type) {
    case "response.created":
    case "response.in_progress":
      return;
    case "response.output_item.added":
      addItem(state, event);
      return;
    case "response.output_item.done":
      endItem(state, event);
      return;
    case "response.completed":
    case "response.incomplete":
      if (state.open !== null) breach("ends inside an item");
      if (JSON.stringify(event.response?.output) !== JSON.stringify(state.done)) breach("the last event does not repeat the items");
      if (event.response?.usage === null) breach("ends without usage");
      state.ended = true;
      return;
    case "response.failed":
      state.ended = true;
      return;
    default:
      insideItem(state, event);
  }
}

function addItem(state: StreamState, event: ResponsesEvent): void {
  const item = event.item;
  if (state.open !== null || event.output_index !== state.done.length || item === undefined) breach("an item is added out of order");
  if (state.ids.has(item.id)) breach("two items have one id");
  state.ids.add(item.id);
  state.open = { id: item.id, type: item.type, text: "", ended: false, part: "none" };
}

function endItem(state: StreamState, event: ResponsesEvent): void {
  const open = state.open;
  if (open === null || event.item?.id !== open.id || !open.ended || open.part === "open") breach("an item is done before its content");
  state.done.push(event.item);
  state.open = null;
}

function insideItem(state: StreamState, event: ResponsesEvent): void {
  const item = state.open;
  if (item === null) breach(`${event.type} outside an item`);
  const kind = kinds[item.type] ?? breach(`an item of type ${item.type}`);
  if (event.item_id !== item.id || event.output_index !== state.done.length) breach(`${event.type} of an item that is not the open one`);
  switch (event.type) {
    case "response.content_part.added":
      if (item.part !== "none" || event.part?.type !== kind.part) breach(`a ${event.part?.type} part in a ${item.type} item`);
      item.part = "open";
      return;
    case "response.content_part.done":
      if (item.part !== "open" || !item.ended || event.part?.text !== item.text) breach("a part that is done before its text");
      item.part = "closed";
      return;
    case `${kind.prefix}.delta`:
      if (item.ended || (kind.part !== null && item.part !== "open")) breach(`${event.type} outside its part`);
      item.text += event.delta ?? "";
      return;
    case `${kind.prefix}.done`:
      if (item.ended || event[kind.whole] !== item.text) breach(`${event.type} is not what its deltas join to`);
      item.ended = true;
      return;
    default:
      breach(`${event.type} in a ${item.type} item`);
  }
}
