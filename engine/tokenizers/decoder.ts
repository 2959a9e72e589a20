/**
 * From ids to text, as the reference decodes: stages over the list of token texts, joined at the end.
 * `atStart` tells the stages that treat the very first token apart whether the list begins the text.
 */
import { byteOfCharacter, byteOfToken } from "./byte-alphabet.ts";
import type { DecoderDefinition, PatternDefinition } from "./definition.ts";
import { compilePattern } from "./patterns.ts";
import { prependScheme } from "./pre-tokenizers.ts";

export interface TokenDecoder {
  /** Runs of byte tokens are read together: all of them are U+FFFD when one is not UTF-8. */
  readonly byteFallback: boolean;
  /** The end of the text is treated apart, so nothing is certain before it. */
  readonly needsEnd: boolean;
  decode(tokens: readonly string[], atStart: boolean): string;
}

type Stage = (tokens: readonly string[], atStart: boolean) => readonly string[];

export function createDecoder(definition: DecoderDefinition | null | undefined): TokenDecoder {
  if (definition === null || definition === undefined) {
    return { byteFallback: false, needsEnd: false, decode: (tokens, atStart) => (atStart || tokens.length === 0 ? "" : " ") + tokens.join(" ") };
  }
  const parts = flatten(definition);
  const fused = parts.findIndex((part) => part.type === "Fuse" || part.type === "ByteLevel");
  const stages = parts.map((part, index) => createStage(part, fused >= 0 && index > fused));
  return {
    byteFallback: parts.some((part) => part.type === "ByteFallback"),
    needsEnd: parts.some((part, index) => fused >= 0 && index > fused && readsWholeText(part)),
    decode: (tokens, atStart) => stages.reduce((list, stage) => stage(list, atStart), tokens).join(""),
  };
}

type Part = Exclude<DecoderDefinition, { type: "Sequence" }>;

function flatten(definition: DecoderDefinition): Part[] {
  return definition.type === "Sequence" ? definition.decoders.flatMap(flatten) : [definition];
}

function readsWholeText(part: Part): boolean {
  return (part.type === "Strip" && part.stop > 0) || (part.type === "Replace" && !isOneCharacter(part.pattern));
}

function isOneCharacter(pattern: PatternDefinition): boolean {
  return "String" in pattern && Array.from(pattern.String).length === 1;
}

/** `whole`: the stage sees the text in one piece, so its beginning is the beginning of the list. */
function createStage(part: Part, whole: boolean): Stage {
  switch (part.type) {
    case "ByteLevel":
      return (tokens) => [decodeBytes(tokens)];
    case "Fuse":
      return (tokens) => [tokens.join("")];
    case "ByteFallback":
      return decodeByteTokens;
    case "Replace": {
      const pattern = compilePattern(part.pattern);
      return (tokens) => tokens.map((token) => token.replace(pattern, () => part.content));
    }
    case "Strip":
      return (tokens, atStart) => tokens.map((token) => strip(token, part.content, whole && !atStart ? 0 : part.start, part.stop));
    case "Metaspace":
      return metaspace(part.replacement, prependScheme(part) !== "never");
  }
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const utf8Strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const encoder = new TextEncoder();

function decodeBytes(tokens: readonly string[]): string {
  const bytes: number[] = [];
  for (const token of tokens) {
    const before = bytes.length;
    for (let unit = 0; unit < token.length; unit++) {
      const byte = byteOfCharacter.get(token.charCodeAt(unit));
      if (byte !== undefined) {
        bytes.push(byte);
        continue;
      }
      // A token with a character outside the alphabet is an added one; it stands for its own text.
      bytes.length = before;
      for (const own of encoder.encode(token)) bytes.push(own);
      break;
    }
  }
  return utf8.decode(Uint8Array.from(bytes));
}

/** Runs of `<0x..>` tokens become their text, or one U+FFFD each when the run as a whole is not UTF-8. */
function decodeByteTokens(tokens: readonly string[]): readonly string[] {
  const decoded: string[] = [];
  let run: number[] = [];
  const closeRun = () => {
    if (run.length > 0) decoded.push(textOfRun(run) ?? "\ufffd".repeat(run.length));
    run = [];
  };
  for (const token of tokens) {
    const byte = byteOfToken(token);
    if (byte !== null) {
      run.push(byte);
      continue;
    }
    closeRun();
    decoded.push(token);
  }
  closeRun();
  return decoded;
}

/** Text of bytes, or null when they are not UTF-8. */
export function textOfRun(bytes: readonly number[]): string | null {
  try {
    return utf8Strict.decode(Uint8Array.from(bytes));
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function strip(token: string, content: string, start: number, stop: number): string {
  let from = 0;
  while (from < start && token[from] === content) from++;
  let to = token.length;
  while (token.length - to < stop && to > from && token[to - 1] === content) to--;
  return token.slice(from, to);
}

/** The replacement character is a space; at the beginning of the text it is nothing. */
function metaspace(replacement: string, dropsFirst: boolean): Stage {
  return (tokens, atStart) => tokens.map((token, index) => token.replaceAll(replacement, atStart && index === 0 && dropsFirst ? "" : " "));
}
