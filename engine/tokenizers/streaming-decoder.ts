/**
 * Text as it becomes certain. What is pending is decoded again with each id and given out once it ends in a whole character,
 * which is when the reference gives it out.
 * Byte fallback makes one exception possible: a stray byte turns its whole run of byte tokens into U+FFFD, also the part of
 * the run that was given out. So only characters that an encoder would write in bytes are given out inside a run; others wait
 * for its end. After a character that was right to give out, only the rest of the run becomes U+FFFD.
 */
import { byteOfToken } from "./byte-alphabet.ts";
import type { StreamingDecoder } from "./contract.ts";
import { type TokenDecoder, textOfRun } from "./decoder.ts";

export interface StreamingOptions {
  readonly decoder: TokenDecoder;
  /** Token text of an id, null when it is to be skipped. Throws RangeError for an unknown id. */
  readonly tokenOf: (id: number) => string | null;
  /** Whether the vocabulary has a token of its own for a character, so that no encoder writes it in bytes. */
  readonly hasToken: (character: string) => boolean;
  /** Never give out a part of a run of byte tokens: the joined text is that of the whole for any ids. */
  readonly wholeRuns?: boolean;
}

export function createStreamingDecoder(options: StreamingOptions): StreamingDecoder {
  let pending: string[] = [];
  let atStart = true;
  const give = (text: string): string => {
    pending = [];
    atStart = false;
    return text;
  };
  return {
    push(id) {
      const token = options.tokenOf(id);
      if (token === null) return "";
      pending.push(token);
      if (options.decoder.needsEnd || (options.decoder.byteFallback && runIsOpen(pending, options))) return "";
      const text = options.decoder.decode(pending, atStart);
      return text === "" || text.endsWith("\ufffd") ? "" : give(text);
    },
    flush: () => (pending.length === 0 ? "" : give(options.decoder.decode(pending, atStart))),
  };
}

/** The tokens end in a run of bytes that may still change what it stands for. */
function runIsOpen(tokens: readonly string[], options: StreamingOptions): boolean {
  const run: number[] = [];
  for (let index = tokens.length - 1; index >= 0; index--) {
    const byte = byteOfToken(tokens[index] ?? "");
    if (byte === null) break;
    run.unshift(byte);
  }
  if (run.length === 0) return false;
  if (options.wholeRuns === true) return true;
  const text = textOfRun(run);
  return text === null || Array.from(text).some(options.hasToken);
}
