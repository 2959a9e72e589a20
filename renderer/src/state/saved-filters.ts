/** Filters that a person gave a name. */
import { z } from "zod";
import { create } from "zustand";

const savedFilterSchema = z.object({ name: z.string(), text: z.string() });
type SavedFilter = z.infer<typeof savedFilterSchema>;

export const useSavedFilters = create<{ readonly filters: readonly SavedFilter[] }>(() => ({ filters: [] }));

export function saveFilter(text: string): void {
  useSavedFilters.setState(({ filters }) => ({ filters: [...filters.filter((filter) => filter.text !== text), { name: text, text }] }));
}

export function forgetFilter(text: string): void {
  useSavedFilters.setState(({ filters }) => ({ filters: filters.filter((filter) => filter.text !== text) }));
}

export const restoreFilters = (json: string): void => useSavedFilters.setState({ filters: z.array(savedFilterSchema).parse(JSON.parse(json)) });
