/** The one thing that lies over the window, if any: the palette, a dialog, a question. */
import { create } from "zustand";

export type Overlay =
  | { readonly kind: "palette"; readonly start: string }
  | { readonly kind: "keys" }
  | { readonly kind: "new-experiment"; readonly tasks?: readonly string[]; readonly harnesses?: readonly string[] }
  | { readonly kind: "new-training" }
  | { readonly kind: "new-task" }
  | { readonly kind: "add-policy" }
  | {
      readonly kind: "question";
      readonly title: string;
      readonly text: string;
      /** The verb on the button. */
      readonly verb: string;
      readonly run: () => void;
    };

export const useOverlay = create<{ readonly open: Overlay | null }>(() => ({ open: null }));
export const openOverlay = (open: Overlay): void => useOverlay.setState({ open });
export const closeOverlay = (): void => useOverlay.setState({ open: null });
