import { type RefObject, useEffect, useRef } from "react";

/** Brings the active row of a list (`data-active`) into sight when another one becomes it; the focus stays where it is. */
export function useActiveInSight<E extends HTMLElement>(active: string | number | null): RefObject<E | null> {
  const list = useRef<E>(null);
  const before = useRef(active);
  useEffect(() => {
    if (before.current === active) return;
    before.current = active;
    list.current?.querySelector('[data-active="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return list;
}
