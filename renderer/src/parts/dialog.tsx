import { Dialog as Base } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { closeOverlay } from "../state/overlays.ts";
import { IconButton } from "./button.tsx";

interface DialogProps {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly width: string;
}

/** The field that asks to be first, else the first one there is; never the button that closes. */
function firstFocus(): HTMLElement | null {
  const dialog = document.querySelector('[role="dialog"]');
  return dialog?.querySelector<HTMLElement>("[data-first-focus], input, select, textarea") ?? null;
}

/** Says what will happen; the button carries the verb, Esc cancels, the focus goes back where it was. */
export function Dialog({ title, aside, children, footer, width }: DialogProps) {
  return (
    <Base.Root open onOpenChange={(open) => !open && closeOverlay()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-20 bg-scrim" />
        <Base.Viewport className="fixed inset-0 z-30 grid place-items-center p-6">
          <Base.Popup
            initialFocus={() => firstFocus() ?? true}
            style={{ width }}
            className="flex max-h-full max-w-full flex-col overflow-hidden rounded-4 border border-line-strong bg-raised shadow-3 outline-none"
          >
            <header className="flex flex-none items-center gap-2.5 border-b border-line py-3 pr-3 pl-4.5">
              <Base.Title className="m-0 truncate text-lg font-strong tracking-[-0.011em]">{title}</Base.Title>
              <div className="flex min-w-0 flex-1 items-center gap-2.5">{aside}</div>
              <Base.Close render={<IconButton glyph="close" label="Close" keyShown="Esc" />} />
            </header>
            <div className="min-h-0 flex-1 overflow-auto">{children}</div>
            {footer !== undefined && (
              <footer className="flex flex-none items-center gap-2 border-t border-line bg-header py-2.5 pr-3.5 pl-4.5">{footer}</footer>
            )}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}
