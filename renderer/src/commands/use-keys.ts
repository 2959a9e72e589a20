import { useEffect } from "react";
import { useOverlay } from "../state/overlays.ts";
import { obstacle, runCommand } from "./handlers.ts";
import { keyText, worksWhileTyping } from "./keymap.ts";
import { commands } from "./table.ts";

const takesText = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]";
const takesEnter = "button, a, summary, [role=menuitem], [role=tab], [role=option], [role=treegrid]";

/** Runs the command of a key press. One letter does nothing while a person types; nothing runs under a dialog. */
function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || useOverlay.getState().open !== null) return;
  const key = keyText(event);
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest(takesText) && !worksWhileTyping(key)) return;
  if ((key === "Enter" || key === "Space") && target?.closest(takesEnter)) return;
  const command = commands.find((each) => each.keys.includes(key) && obstacle(each) === null);
  if (command !== undefined && runCommand(command)) event.preventDefault();
}

export function useKeys(): void {
  useEffect(() => {
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
