/**
 * When a turn is over: an end token, the limit, or a stop string in the text. The end token belongs to the turn and stays; a stop string
 * does not, so the tokens that wrote it are taken back.
 */
import type { StreamingDecoder } from "../tokenizers/index.ts";

export interface StopSettings {
  /** Ids after which the turn is over. */
  readonly endIds: readonly number[];
  readonly maxTokens: number;
  readonly stopStrings: readonly string[];
  /** Text of ids as they come; needed for stop strings. */
  readonly decoder: StreamingDecoder | null;
}

export interface Ending {
  readonly reason: "end-token" | "stop-string" | "length";
  /** Tokens of the turn that stay. */
  readonly kept: number;
  /** The stop string that ended it. */
  readonly stopString: string | null;
  /** false: the stop string began inside the last kept token, so the delivered text is shorter than that of the kept tokens. */
  readonly exact: boolean;
  /** What the decoder gave up to the end, without the stop string; "" without a decoder. */
  readonly text: string;
}

export class StopCondition {
  readonly #settings: StopSettings;
  #text = "";
  /** Length of the text when each token was complete. */
  readonly #ends: number[] = [];

  constructor(settings: StopSettings) {
    if (settings.stopStrings.length > 0 && settings.decoder === null) throw new RangeError("stop strings need a decoder");
    this.#settings = settings;
  }

  /** Takes in the next token; null = go on. */
  next(id: number): Ending | null {
    const { endIds, maxTokens, stopStrings, decoder } = this.#settings;
    const count = this.#ends.length + 1;
    if (endIds.includes(id)) return { reason: "end-token", kept: count, stopString: null, exact: true, text: this.#text };
    const before = this.#text.length;
    if (decoder !== null) this.#text += decoder.push(id);
    this.#ends.push(this.#text.length);
    const found = this.#find(stopStrings, before);
    if (found !== null) return found;
    return count >= maxTokens ? { reason: "length", kept: count, stopString: null, exact: true, text: this.#text } : null;
  }

  /** The earliest stop string that reaches into the text after `before`. */
  #find(stopStrings: readonly string[], before: number): Ending | null {
    const places = stopStrings
      .filter((stop) => stop !== "")
      .map((stop) => ({ stop, at: this.#text.indexOf(stop, Math.max(0, before - stop.length + 1)) }))
      .filter(({ at }) => at >= 0)
      .toSorted((left, right) => left.at - right.at);
    const [first] = places;
    if (first === undefined) return null;
    // The last token that brought text before the stop string; one that only began a character does not count.
    const kept = this.#ends.findLastIndex((end, index) => end <= first.at && end > (this.#ends[index - 1] ?? 0)) + 1;
    return {
      reason: "stop-string",
      kept,
      stopString: first.stop,
      exact: (this.#ends[kept - 1] ?? 0) === first.at,
      text: this.#text.slice(0, first.at),
    };
  }
}
