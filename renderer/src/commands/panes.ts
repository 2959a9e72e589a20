/** Panes in the order of the page: F6 goes to the next, Shift+F6 back. A pane says where its focus goes by `data-pane-focus`. */
export function focusPane(by: 1 | -1): void {
  const panes = [...document.querySelectorAll<HTMLElement>("[data-pane]")].filter((pane) => pane.getClientRects().length > 0);
  const current = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(current + by + panes.length) % panes.length] ?? panes[0];
  (next?.querySelector<HTMLElement>("[data-pane-focus]") ?? next)?.focus();
}
