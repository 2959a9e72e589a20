/** Ranking of the palette. Pure: every item is its words; a query is the words that must all be in them. */
export interface Searchable {
  readonly title: string;
  /** Said beside the title, and searched too. */
  readonly about: string;
}

/** Ranges of `text` that the words of a query cover, for underlining. */
export function coveredRanges(text: string, query: string): readonly (readonly [number, number])[] {
  const lower = text.toLowerCase();
  const ranges = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .flatMap((word): [number, number][] => {
      const at = lower.indexOf(word);
      return at === -1 ? [] : [[at, at + word.length]];
    })
    .sort((left, right) => left[0] - right[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of ranges) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** 0 = no match; higher is better: a word at the start of the title, of a word in it, anywhere in it, elsewhere. */
function score(item: Searchable, query: string): number {
  const title = item.title.toLowerCase();
  const about = item.about.toLowerCase();
  let total = 1;
  for (const word of query.toLowerCase().split(/\s+/)) {
    if (word === "") continue;
    const at = title.indexOf(word);
    if (at === 0) total += 8;
    else if (at > 0) total += /[\s\-_.:/]/.test(title[at - 1] ?? "") ? 5 : 3;
    else if (about.includes(word)) total += 1;
    else return 0;
  }
  return total;
}

/** The items that match, best first; equal ones stay in their order. */
export function ranked<T extends Searchable>(items: readonly T[], query: string, most: number): readonly T[] {
  return items
    .map((item, index) => ({ item, index, score: score(item, query) }))
    .filter((each) => each.score > 0)
    .sort((left, right) => right.score - left.score || left.index - right.index)
    .slice(0, most)
    .map((each) => each.item);
}
