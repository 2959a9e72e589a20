import { keyCaps } from "../commands/keymap.ts";

export const isMac = /Mac/.test(navigator.userAgent);

interface KeyCapsProps {
  readonly value: string;
  /** Inside a button: no frames. */
  readonly bare?: boolean;
  readonly inverse?: boolean;
  /** All of it in one frame. */
  readonly joined?: boolean;
}

/** A key as it stands on the keyboard. */
export function KeyCaps({ value, bare = false, inverse = false, joined = false }: KeyCapsProps) {
  const caps = keyCaps(value, isMac);
  if (bare) return <kbd className={`font-sans text-2xs font-medium ${inverse ? "" : "text-muted"}`}>{caps.join(" ")}</kbd>;
  return (
    <span className="inline-flex flex-none gap-0.75">
      {(joined ? [caps.join(" ")] : caps).map((cap) => (
        <kbd
          key={cap}
          className="inline-block min-w-4.5 rounded-1 border border-line-strong bg-surface px-1 text-center font-sans text-2xs font-medium text-muted"
        >
          {cap}
        </kbd>
      ))}
    </span>
  );
}
