/** The one thing that lies over the window, if any: the palette, a dialog, a question. */
import { create } from "zustand";
import type { ExportSubject } from "../screens/export/formats.ts";
import type { PolicyView } from "../service/views.ts";

export type Overlay =
  | { readonly kind: "palette"; readonly start: string }
  | { readonly kind: "keys" }
  | { readonly kind: "new-experiment"; readonly tasks?: readonly string[]; readonly harnesses?: readonly string[] }
  | { readonly kind: "new-training" }
  | { readonly kind: "new-task" }
  | { readonly kind: "new-harness" }
  | { readonly kind: "import-task" }
  | { readonly kind: "import" }
  | { readonly kind: "export"; readonly subjects: readonly [ExportSubject, ...ExportSubject[]] }
  /** An experiment or a rollout. */
  | { readonly kind: "regrade"; readonly id: string; readonly label: string }
  | { readonly kind: "attach" }
  | { readonly kind: "grade"; readonly rollout: string }
  /** `edits` = the saved policy that is changed; `source` = what the form begins with. */
  | { readonly kind: "add-policy"; readonly edits?: PolicyView; readonly source?: "server" | "weights" }
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
