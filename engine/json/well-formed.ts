/** Halves of characters: a surrogate without its partner, which no UTF-8 can carry. */

const loneSurrogates = /\p{Surrogate}/gu;

/** Whether the text holds half a character. */
export function hasLoneSurrogate(text: string): boolean {
  return text.search(/\p{Surrogate}/u) >= 0;
}

/** The text with U+FFFD in the place of each half character, fit to be sent and tokenised. */
export function replaceLoneSurrogates(text: string): string {
  return text.replace(loneSurrogates, "\ufffd");
}
