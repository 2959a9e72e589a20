/** What a tokenizer puts around the ids of a text, and how it trims the offsets of byte-level tokens. */
import type { PostProcessorDefinition } from "./definition.ts";

export interface PostProcessor {
  /** Ids put before and after the text when special tokens are wanted. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** White space is left out of the offsets; `keepsPrefixSpace`: but not the one put before the first token. */
  readonly trim: { readonly keepsPrefixSpace: boolean } | null;
}

export function createPostProcessor(definition: PostProcessorDefinition | null | undefined): PostProcessor {
  if (definition === null || definition === undefined) return { before: [], after: [], trim: null };
  switch (definition.type) {
    case "ByteLevel":
      return { before: [], after: [], trim: definition.trim_offsets ? { keepsPrefixSpace: definition.add_prefix_space } : null };
    case "BertProcessing":
      return { before: [definition.cls[1]], after: [definition.sep[1]], trim: null };
    case "RobertaProcessing":
      return {
        before: [definition.cls[1]],
        after: [definition.sep[1]],
        trim: definition.trim_offsets ? { keepsPrefixSpace: definition.add_prefix_space } : null,
      };
    case "TemplateProcessing":
      return templateProcessing(definition);
    case "Sequence": {
      const steps = definition.processors.map(createPostProcessor);
      return {
        before: steps.toReversed().flatMap((step) => step.before),
        after: steps.flatMap((step) => step.after),
        trim: steps.find((step) => step.trim !== null)?.trim ?? null,
      };
    }
  }
}

function templateProcessing(definition: Extract<PostProcessorDefinition, { type: "TemplateProcessing" }>): PostProcessor {
  const before: number[] = [];
  const after: number[] = [];
  let textSeen = false;
  for (const part of definition.single) {
    if ("Sequence" in part) {
      textSeen = true;
      continue;
    }
    const ids = definition.special_tokens[part.SpecialToken.id]?.ids;
    if (ids === undefined) throw new Error(`tokenizer.json cannot be used: its post-processor does not say the ids of ${part.SpecialToken.id}`);
    (textSeen ? after : before).push(...ids);
  }
  return { before, after, trim: null };
}

const leadingSpace = /^[Ġ\p{White_Space}]*/u;
const trailingSpace = /[Ġ\p{White_Space}]*$/u;

/** Offsets of one token without the white space at its ends, by the reference's rule, which counts characters of the token. */
export function trimOffsets(token: string, isFirst: boolean, start: number, end: number, keepsPrefixSpace: boolean): [number, number] {
  const leading = leadingSpace.exec(token)?.[0].length ?? 0;
  const trailing = trailingSpace.exec(token)?.[0].length ?? 0;
  const kept = (isFirst || start === 0) && keepsPrefixSpace && leading === 1;
  const from = leading > 0 && !kept ? Math.min(start + leading, end) : start;
  const to = trailing > 0 && end >= trailing ? Math.max(end - trailing, from) : end;
  return [from, to];
}
