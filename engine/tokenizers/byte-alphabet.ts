/** GPT-2's alphabet: one visible character for each byte. */

/** Character of each byte. */
export const characterOfByte: readonly string[] = makeAlphabet();

/** Byte of each character's code; absent for characters outside the alphabet. */
export const byteOfCharacter: ReadonlyMap<number, number> = new Map(characterOfByte.map((character, byte) => [character.charCodeAt(0), byte]));

function makeAlphabet(): string[] {
  const visible = (byte: number) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(visible(byte) ? byte : next++));
}

/** Name of a byte in vocabularies with byte fallback: `<0x0A>`. */
export function byteTokenName(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
}

/** The byte that a token of byte fallback stands for, or null. */
export function byteOfToken(token: string): number | null {
  if (token.length !== 6 || !token.startsWith("<0x") || !token.endsWith(">")) return null;
  const digits = token.slice(3, 5);
  return /^(?:[0-9A-Fa-f]{2}|\+[0-9A-Fa-f])$/.test(digits) ? Number.parseInt(digits, 16) : null;
}
