/** The seeds field: whole numbers with commas or spaces between them. Pure. */
export type SeedsReading = { readonly ok: true; readonly seeds: readonly number[] } | { readonly ok: false; readonly mistake: string };

/** Empty = the seed of the file. */
export function readSeeds(text: string): SeedsReading {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.some((word) => !/^\d{1,9}$/.test(word))) return { ok: false, mistake: "Whole numbers with commas between them, for example 1, 2, 3." };
  return { ok: true, seeds: [...new Set(words.map(Number))] };
}
