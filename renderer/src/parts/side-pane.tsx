import type { ReactNode } from "react";
import { Pane } from "./pane.tsx";
import { Splitter, usePaneSize } from "./splitter.tsx";
import { Boundary } from "./states.tsx";
import { useMedia } from "./use-media.ts";

interface SidePaneProps {
  readonly label: string;
  readonly name: string;
  readonly initial: number;
  readonly children: ReactNode;
  /** What the boundary watches: another subject makes a failed pane try again. */
  readonly subject: string;
}

/** A pane at the right: beside the centre in wide windows, over it in narrow ones. */
export function SidePane({ label, name, initial, children, subject }: SidePaneProps) {
  const rule = { name, initial, least: 216, most: 376 };
  const size = usePaneSize(rule);
  const narrow = useMedia("(max-width: 1200px)");
  const body = <Boundary key={subject}>{children}</Boundary>;
  if (narrow)
    return (
      <Pane
        label={label}
        className="absolute! inset-y-0 right-0 z-20 border-l border-line-strong bg-surface shadow-2"
        style={{ width: `min(${Math.max(size, 300)}px, 90%)` }}
      >
        {body}
      </Pane>
    );
  return (
    <>
      <Splitter {...rule} side="right" label={`Width of ${label.toLowerCase()}`} />
      <Pane label={label} className="flex-none border-l border-line" style={{ width: size }}>
        {body}
      </Pane>
    </>
  );
}
