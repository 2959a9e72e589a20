import { create } from "zustand";

/** The harness whose details are open; null = the first of the catalogue. */
export const useHarnessSelection = create<{ readonly id: string | null }>(() => ({ id: null }));
