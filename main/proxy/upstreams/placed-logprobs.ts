/**
 * Log-probs that a server gives for some of an answer's tokens only, put beside the ids they belong to. llama.cpp keeps none for a token
 * that ends inside a character. A place is taken only where every way of laying them out agrees; the others have none.
 */

interface PlacedLogprob {
  readonly id: number;
  readonly logprob: number | null;
}

/** As long as `ids`, null where it is not certain; null when they are of other tokens. */
export function placeLogprobs(ids: readonly number[], given: readonly PlacedLogprob[] | null): readonly (number | null)[] | null {
  if (given === null) return null;
  const earliest = layOut(ids, given);
  const fromEnd = layOut([...ids].reverse(), [...given].reverse());
  if (earliest === null || fromEnd === null) return null;
  const placed: (number | null)[] = ids.map(() => null);
  for (const [index, { logprob }] of given.entries()) {
    const first = earliest[index];
    const last = ids.length - 1 - (fromEnd[given.length - 1 - index] ?? 0);
    if (first !== undefined && first === last) placed[first] = logprob;
  }
  return placed;
}

/** The first place of each, in order; null when there is none. */
function layOut(ids: readonly number[], given: readonly PlacedLogprob[]): readonly number[] | null {
  const places: number[] = [];
  let from = 0;
  for (const { id } of given) {
    const place = ids.indexOf(id, from);
    if (place === -1) return null;
    places.push(place);
    from = place + 1;
  }
  return places;
}
