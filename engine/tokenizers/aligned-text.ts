/**
 * Text that knows where it came from. `places` holds, for each UTF-16 unit, the code points of the original text that it
 * stands for (half-open); null when nobody asked for offsets, which is the fast way.
 */
interface Places {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

export interface AlignedText {
  readonly text: string;
  readonly places: Places | null;
  /** Begins where the original text begins. */
  readonly atStart: boolean;
}

/** The original text, each unit at its own code point. */
export function alignedWithItself(text: string): AlignedText {
  const starts = new Int32Array(text.length);
  const ends = new Int32Array(text.length);
  let point = 0;
  for (let unit = 0; unit < text.length; ) {
    const width = (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
    starts.fill(point, unit, unit + width);
    ends.fill(++point, unit, unit + width);
    unit += width;
  }
  return { text, places: { starts, ends }, atStart: true };
}

/** Units `start` to `end`. */
export function sliceAligned(source: AlignedText, start: number, end: number): AlignedText {
  if (start === 0 && end === source.text.length) return source;
  const places = source.places;
  return {
    text: source.text.slice(start, end),
    places: places === null ? null : { starts: places.starts.subarray(start, end), ends: places.ends.subarray(start, end) },
    atStart: source.atStart && start === 0,
  };
}

/** Builds a changed text: kept runs keep their places, new text takes the place of one unit of the source. */
export class AlignedEdit {
  readonly #source: AlignedText;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #text = "";

  constructor(source: AlignedText) {
    this.#source = source;
  }

  keep(start: number, end: number): void {
    this.#text += this.#source.text.slice(start, end);
    for (let unit = start; unit < end; unit++) this.#place(unit);
  }

  insert(text: string, likeUnit: number): void {
    this.#text += text;
    for (let unit = 0; unit < text.length; unit++) this.#place(likeUnit);
  }

  result(): AlignedText {
    const places = this.#source.places === null ? null : { starts: Int32Array.from(this.#starts), ends: Int32Array.from(this.#ends) };
    return { text: this.#text, places, atStart: this.#source.atStart };
  }

  #place(unit: number): void {
    const places = this.#source.places;
    if (places === null) return;
    this.#starts.push(places.starts[unit] ?? 0);
    this.#ends.push(places.ends[unit] ?? 0);
  }
}
