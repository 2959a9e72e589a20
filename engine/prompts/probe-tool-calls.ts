/** The tool-call format that a template's policy writes: rendered by the template, recognised by our own parsers. */
import { equivalenceKey, parseJson } from "../json/index.ts";
import { parseAnswer, type ToolCallFormat, toolCallFormats } from "../tool-calls/index.ts";
import type { ConversationRules } from "./contract.ts";
import type { ConversationRenderer } from "./conversation-renderer.ts";
import { assistant, probeTime as now, probeArguments, probeCall, probeTool, user, word } from "./probe-rules.ts";
import type { SpecialTokens } from "./special-tokens.ts";

/** null when the template shows no calls, or in a form that no parser of ours reads. */
export function probeToolCallFormat(renderer: ConversationRenderer, rules: ConversationRules, special: SpecialTokens): ToolCallFormat | null {
  const question = user(word(1));
  const answer = assistant("", [probeCall("abcdefghi")]);
  const asked = renderer.tryRender({ messages: [question], tools: [probeTool], addGenerationPrompt: true, now }, rules);
  const closed = renderer.tryRender({ messages: [question, answer], tools: [probeTool], addGenerationPrompt: false, now }, rules);
  if (asked === null || closed === null || !closed.text.startsWith(asked.text)) return null;
  const spans = closed.contentSpans.filter((span) => span.source === 1);
  const last = spans.at(-1)?.end ?? closed.text.length;
  const [ending] = special.between(closed.text, last, closed.text.length, closed.contentSpans);
  const written = closed.text.slice(asked.text.length, ending?.start ?? closed.text.length);
  return toolCallFormats.find((format) => readsProbe(written, format)) ?? null;
}

function readsProbe(written: string, format: ToolCallFormat): boolean {
  const { content, toolCalls, unparsed } = parseAnswer(written, { format, tools: [probeTool] });
  const [call] = toolCalls;
  if (call === undefined || toolCalls.length > 1 || content !== null || unparsed || call.name !== probeTool.name) return false;
  return equivalenceKey(parseJson(call.arguments)) === equivalenceKey(parseJson(probeArguments));
}
