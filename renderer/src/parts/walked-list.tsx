import type { KeyboardEvent, ReactNode } from "react";

const to: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at, last) => Math.min(last, at + 1),
  ArrowUp: (at) => Math.max(0, at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

interface WalkedListProps {
  readonly className?: string;
  readonly children: ReactNode;
  /** Where the focus goes is also chosen. */
  readonly chooses?: boolean;
}

/** What a button in a `WalkedList` carries: the list has one tab stop, the button that is active. */
export const walkedItem = (isStop: boolean) => ({ "data-walked": true, tabIndex: isStop ? 0 : -1 });

/** Buttons that the keyboard walks over: one tab stop, arrows, Home and End inside. */
export function WalkedList({ className = "", children, chooses = false }: WalkedListProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-walked]")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = at === -1 ? undefined : items[to[event.key]?.(at, items.length - 1) ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
    if (chooses) next.click();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrows move among the buttons inside
    <div className={className} onKeyDown={onKeyDown}>
      {children}
    </div>
  );
}
