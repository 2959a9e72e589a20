import type { ComponentProps } from "react";

/** A cell of a treegrid. The grid itself is the tab stop and names its active row, so a cell takes no focus. */
export function Cell(props: ComponentProps<"span">) {
  // biome-ignore lint/a11y/useFocusableInteractive: see above
  // biome-ignore lint/a11y/useSemanticElements: a virtual grid of absolute rows is no HTML table
  return <span role="gridcell" {...props} />;
}
