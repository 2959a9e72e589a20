/** Text as the lines a list draws. A very long line is cut into pieces, so that no row is endless. */
export interface TextLine {
  /** 1-based number of the line in the text; a continuation of a cut line has none. */
  readonly number: number | null;
  readonly text: string;
}

export const longestPiece = 4000;

export function linesOf(text: string): readonly TextLine[] {
  return text.split(/\r\n|\n|\r/).flatMap((line, index): TextLine[] => {
    if (line.length <= longestPiece) return [{ number: index + 1, text: line }];
    const pieces: TextLine[] = [];
    for (let at = 0; at < line.length; ) {
      let end = Math.min(line.length, at + longestPiece);
      // A cut never falls between the halves of a character.
      if (end < line.length && /[\uD800-\uDBFF]/.test(line[end - 1] ?? "")) end -= 1;
      pieces.push({ number: at === 0 ? index + 1 : null, text: line.slice(at, end) });
      at = end;
    }
    return pieces;
  });
}
