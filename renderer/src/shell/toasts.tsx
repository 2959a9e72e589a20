import { useEffect, useState } from "react";
import { Button, IconButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { dismiss, type Notice, useNotices } from "../state/notices.ts";

const shownFor = 6000;
const glyphs = { success: "ok", failed: "fail", neutral: "info" } as const;
const inks = { success: "text-success", failed: "text-failed", neutral: "text-muted" } as const;

/** Goes after six seconds, stays under pointer or focus; an error stays until it is closed. */
function Toast({ notice }: { readonly notice: Notice }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held || notice.tone === "failed") return;
    const timer = setTimeout(() => dismiss(notice.id), shownFor);
    return () => clearTimeout(timer);
  }, [held, notice]);
  const hold = (on: boolean) => () => setHeld(on);
  return (
    <li
      className="flex items-center gap-2.5 rounded-3 border border-line-strong bg-raised py-2.25 pr-2 pl-3 text-xs leading-[1.0625rem] shadow-2 [animation:appear_var(--of-motion-base)]"
      onPointerEnter={hold(true)}
      onPointerLeave={hold(false)}
      onFocus={hold(true)}
      onBlur={hold(false)}
    >
      <Icon name={glyphs[notice.tone]} className={inks[notice.tone]} />
      <div className="min-w-0 flex-1">
        <b className="block break-words">{notice.title}</b>
        {notice.text !== null && <span className="block break-words text-secondary">{notice.text}</span>}
      </div>
      {notice.action !== null && (
        <Button
          small
          onClick={() => {
            notice.action?.run();
            dismiss(notice.id);
          }}
        >
          {notice.action.verb}
        </Button>
      )}
      <IconButton glyph="close" label="Close message" onClick={() => dismiss(notice.id)} />
    </li>
  );
}

export function Toasts() {
  const shown = useNotices((state) => state.shown);
  return (
    <ul
      aria-live="polite"
      className="pointer-events-none fixed right-3 bottom-9 z-40 m-0 flex w-90 max-w-[calc(100vw-1.5rem)] list-none flex-col gap-2 p-0 *:pointer-events-auto"
    >
      {shown.map((notice) => (
        <Toast key={notice.id} notice={notice} />
      ))}
    </ul>
  );
}
