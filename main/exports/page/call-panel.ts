/** One model call on the page: what was new in its request, what the policy answered, what came back. */
import type { ContentPart, Message, ToolCall } from "../../../engine/conversation/index.ts";
import type { Store } from "../../store/index.ts";
import type { TranscriptCall } from "../../trajectories/index.ts";
import { fullName } from "../rows/chat-form.ts";
import { html, type Markup } from "./markup.ts";

/** Longer texts are folded. */
const foldedCharacters = 1200;

export function callPanel(store: Store, said: TranscriptCall): Markup {
  const { call, chain, messages, known, answer, tools } = said;
  const news = messages.slice(known).map((message) => messageBlock(store, message));
  const kept = known === 0 ? null : html`<p class="message put-in muted">${known} messages as before</p>`;
  const list =
    known === 0 && tools.length > 0
      ? html`<p class="message put-in muted">Tools: ${tools.map((tool) => (tool.kind === "function" ? fullName(tool) : "other")).join(", ")}</p>`
      : null;
  const seconds = ((call.endedAt - call.startedAt) / 1000).toFixed(1);
  const marks = [
    `${call.promptTokens} prompt`,
    `${call.completionTokens} sampled`,
    `${seconds} s`,
    chain === null ? "in no chain" : `chain ${chain}`,
    ...(call.breakCause === null ? [] : [call.breakCause]),
    ...(call.side === null ? [] : [`side call: ${call.side}`]),
    call.capture,
  ];
  return html`<section class="panel" id="call-${call.index}">
<div class="head"><h2>Call ${call.index}</h2>${call.status === "ok" ? null : html`<span class="chip bad">${call.status}</span>`}<span class="muted num">${marks.join(" · ")}</span></div>
${kept}${list}
${news}
${call.error === null ? null : html`<p class="message error">${call.error}</p>`}
${answer === null ? null : answerBlock(store, answer.message, answer.finishReason)}
</section>`;
}

function answerBlock(store: Store, message: Extract<Message, { role: "assistant" }>, finishReason: string): Markup {
  return html`<div class="message sampled"><div class="role">assistant <span class="muted">sampled, ${finishReason}</span></div>${assistantContent(store, message)}</div>`;
}

function messageBlock(store: Store, message: Message): Markup {
  if (message.role === "other") return html`<div class="message put-in"><div class="role">other</div>${text(message.raw)}</div>`;
  const name = message.role === "tool" ? html` <span class="muted mono">${message.name ?? message.toolCallId}</span>` : null;
  const content = message.role === "assistant" ? assistantContent(store, message) : parts(store, message.content);
  return html`<div class="message put-in"><div class="role">${message.role}${name}</div>${content}</div>`;
}

function assistantContent(store: Store, message: Extract<Message, { role: "assistant" }>): Markup {
  const reasoning =
    message.reasoning === undefined || message.reasoning === "" ? null : html`<div class="reasoning">${text(message.reasoning)}</div>`;
  return html`${reasoning}${parts(store, message.content)}${message.toolCalls.map(toolCall)}`;
}

function parts(store: Store, content: readonly ContentPart[]): Markup {
  return html`${content.map((part) => onePart(store, part))}`;
}

function onePart(store: Store, part: ContentPart): Markup {
  if (part.type === "text") return part.text === "" ? html`` : text(part.text);
  if (part.type === "other") return text(part.raw);
  if (part.type === "image" && part.source.kind === "blob") {
    const bytes = store.blobs.get(part.source.hash);
    const type = part.mediaType ?? "image/png";
    if (bytes !== null && /^image\/[\w.+-]+$/.test(type))
      return html`<img alt="" src="data:${type};base64,${Buffer.from(bytes).toString("base64")}">`;
  }
  const name = part.type === "file" ? (part.name ?? "") : "";
  return html`<p class="muted">[${part.type}${name === "" ? "" : ` ${name}`}${part.source.kind === "url" ? ` ${part.source.url}` : ""}]</p>`;
}

function toolCall(call: ToolCall): Markup {
  return html`<pre class="code"><b>${fullName(call)}</b> ${call.kind === "function" ? indented(call.arguments) : call.arguments}</pre>`;
}

/** Long texts open on demand; their first line tells what they are. */
function text(given: string): Markup {
  if (given.length <= foldedCharacters) return html`<pre>${given}</pre>`;
  const first = given.trimStart().split("\n", 1)[0] ?? "";
  return html`<details><summary class="mono">${first.slice(0, 160)} <span class="muted">… ${given.length} characters</span></summary><pre>${given}</pre></details>`;
}

/** One argument that is a text with lines reads better as such than as JSON. */
function indented(written: string): string {
  try {
    const value: unknown = JSON.parse(written);
    if (typeof value !== "object" || value === null) return written;
    const entries = Object.entries(value);
    const [only] = entries;
    return entries.length === 1 && only !== undefined && typeof only[1] === "string" ? `${only[0]}: ${only[1]}` : JSON.stringify(value, null, 2);
  } catch (error) {
    if (error instanceof SyntaxError) return written;
    throw error;
  }
}
