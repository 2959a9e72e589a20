/**
 * Thinking blocks of a Messages server with its own signatures. It wants them back as they were, and harnesses are given ours: they are
 * found again by their text. What was forgotten is left out of a request, which servers accept.
 */
import { hash } from "node:crypto";
import { sliceJson } from "../../../engine/json/index.ts";

interface ThinkingMemory {
  /** Remembers the blocks of a whole answer. `reasoning`: what a harness is told of them. */
  keep(answer: string, reasoning: string): void;
  /** JSON texts of blocks; none when they are not known. */
  blocksOf(reasoning: string): readonly string[];
}

/** Answers that a conversation may still quote. */
const remembered = 5_000;

export function createThinkingMemory(): ThinkingMemory {
  const blocks = new Map<string, readonly string[]>();
  const keyOf = (reasoning: string): string => hash("sha256", reasoning.trim(), "base64");
  return {
    keep(answer, reasoning) {
      if (reasoning === "" || !answer.trimStart().startsWith("{")) return;
      const items = sliceJson(answer).entries().get("content")?.items() ?? [];
      const thinking = items.filter((item) => /^"(?:redacted_)?thinking"$/.test(item.entries().get("type")?.text ?? "")).map(({ text }) => text);
      const oldest = blocks.keys().next();
      if (blocks.size >= remembered && oldest.done !== true) blocks.delete(oldest.value);
      blocks.set(keyOf(reasoning), thinking);
    },
    blocksOf: (reasoning) => blocks.get(keyOf(reasoning)) ?? [],
  };
}
