import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { closeOverlay, type Overlay } from "../state/overlays.ts";

/** Asks before something is lost. The destructive verb is outlined and never the default. */
export function Question({ title, text, verb, run }: Extract<Overlay, { kind: "question" }>) {
  return (
    <Dialog
      title={title}
      width="28rem"
      footer={
        <>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" data-first-focus onClick={closeOverlay}>
            Cancel
          </Button>
          <Button
            look="danger"
            onClick={() => {
              closeOverlay();
              run();
            }}
          >
            {verb}
          </Button>
        </>
      }
    >
      <p className="m-0 px-4.5 py-4 text-sm text-secondary">{text}</p>
    </Dialog>
  );
}
