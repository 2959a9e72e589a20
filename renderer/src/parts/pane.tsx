import type { ReactNode } from "react";

interface PaneProps {
  /** Name for screen readers; every pane is a stop of F6. */
  readonly label: string;
  readonly children: ReactNode;
  readonly className?: string;
  readonly style?: React.CSSProperties;
}

/** A region of the window. Lines divide panes; there are no cards inside. */
export function Pane({ label, children, className = "", style }: PaneProps) {
  return (
    <section
      data-pane
      aria-label={label}
      tabIndex={-1}
      style={style}
      className={`focus-inside relative flex min-h-0 min-w-0 flex-col overflow-hidden ${className}`}
    >
      {children}
    </section>
  );
}

export function PaneHeader({ children, className = "" }: { readonly children: ReactNode; readonly className?: string }) {
  return (
    <header
      className={`flex h-pane-header flex-none items-center gap-2 border-b border-line bg-header pr-1.5 pl-3 text-xs whitespace-nowrap ${className}`}
    >
      {children}
    </header>
  );
}

export const PaneTitle = ({ children }: { readonly children: ReactNode }) => <h2 className="m-0 truncate text-xs font-strong">{children}</h2>;

/** A part of a side pane, with a line below. */
export function Section({ title, aside, children }: { readonly title?: ReactNode; readonly aside?: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="border-b border-line p-3 last:border-b-0">
      {title !== undefined && (
        <div className="mb-2 flex items-center gap-2">
          <h3 className="m-0 text-xs font-strong">{title}</h3>
          <span className="flex-1" />
          {aside !== undefined && <span className="text-2xs font-medium text-muted tabular-nums">{aside}</span>}
        </div>
      )}
      {children}
    </div>
  );
}

/** Names and values in two columns. A null value is missing and shown as a dash. */
export function Facts({ rows, labelWidth = "6rem" }: { readonly rows: readonly (readonly [string, ReactNode])[]; readonly labelWidth?: string }) {
  return (
    <dl className="m-0 grid gap-x-2.5 gap-y-1.25 text-xs" style={{ gridTemplateColumns: `${labelWidth} minmax(0, 1fr)` }}>
      {rows.map(([label, value]) => (
        <div key={label} className="contents">
          <dt className="text-muted">{label}</dt>
          <dd className="m-0 min-w-0 break-words tabular-nums">{value ?? <span className="text-muted">–</span>}</dd>
        </div>
      ))}
    </dl>
  );
}
