import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";
import { keyCaps } from "../commands/keymap.ts";
import { isMac } from "./key-caps.tsx";

interface HintProps {
  readonly text: string;
  readonly keyShown?: string;
  readonly children: ReactElement<Record<string, unknown>>;
}

/** A tooltip: name and key, after 400 ms. It holds no control and nothing that is nowhere else. */
export function Hint({ text, keyShown, children }: HintProps) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} />
      <Tooltip.Portal>
        <Tooltip.Positioner sideOffset={6} className="z-50">
          <Tooltip.Popup className="flex max-w-80 items-center gap-2 rounded-2 bg-fg px-2 py-1 text-xs text-inverse">
            {text}
            {keyShown !== undefined && (
              <kbd className="rounded-1 border border-current px-1 font-sans text-2xs">{keyCaps(keyShown, isMac).join(" ")}</kbd>
            )}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

export const HintDelay = Tooltip.Provider;
