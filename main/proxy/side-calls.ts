/** Calls that a harness makes beside its main loop (a title, a topic, a summary to show), told by what their requests show. */
import type { Conversation } from "../../engine/conversation/index.ts";
import type { SideCallRule } from "./contract.ts";

/** By it any program says so itself. */
const sideCallHeader = "x-openforge-side-call";
const nameForm = /^[a-z][a-z0-9-]{0,39}$/;

interface AskedCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly conversation: Conversation | null;
}

/** What the call is made for: as the request itself says, else by the first rule that fits; null = the main loop. */
export function sideOf({ headers, conversation }: AskedCall, rules: readonly SideCallRule[]): string | null {
  const said = headers[sideCallHeader];
  if (said !== undefined && nameForm.test(said)) return said;
  if (conversation === null) return null;
  return rules.find((rule) => fits(rule, headers, conversation))?.name ?? null;
}

function fits(rule: SideCallRule, headers: Readonly<Record<string, string>>, { model, tools, messages }: Conversation): boolean {
  if (rule.model !== undefined && !matches(rule.model, model)) return false;
  if (rule.tools !== undefined && rule.tools !== tools.length > 0) return false;
  if (rule.system !== undefined && !matches(rule.system, systemText(messages))) return false;
  return Object.entries(rule.headers ?? {}).every(([name, pattern]) => matches(pattern, headers[name.toLowerCase()] ?? ""));
}

function systemText(messages: Conversation["messages"]): string {
  return messages
    .flatMap((message) => (message.role === "system" || message.role === "developer" ? message.content : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n");
}

/** `*` stands for any text. */
function matches(pattern: string, text: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  const end = rest.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start) || !text.endsWith(end) || text.length < start.length + end.length) return false;
  let at = start.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - end.length;
}
