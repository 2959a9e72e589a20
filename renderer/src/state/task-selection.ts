/** The task package that the Tasks screen shows. */
import { create } from "zustand";

export const useTaskSelection = create<{ readonly path: string | null }>(() => ({ path: null }));
