import { Component, type ErrorInfo, type ReactNode, useEffect, useState } from "react";
import { asFailure, type Failure } from "../service/failure.ts";
import type { QueryState } from "../service/queries.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** What would be here, and one action. */
export function Empty({ title, text, children }: { readonly title: string; readonly text?: ReactNode; readonly children?: ReactNode }) {
  return (
    <div className="grid min-h-0 flex-1 place-items-center p-6">
      <div className="flex max-w-96 flex-col items-start gap-1.5 text-xs">
        <b className="text-sm">{title}</b>
        {text !== undefined && <span className="leading-[1.0625rem] text-secondary">{text}</span>}
        {children !== undefined && <div className="mt-1.5 flex gap-2">{children}</div>}
      </div>
    </div>
  );
}

/** Grey bars after 200 ms, never before: most reads are faster than that. */
export function Loading({ what }: { readonly what: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return <div className="flex-1" aria-busy="true" />;
  return (
    <div className="flex flex-1 flex-col gap-2 p-4 text-xs text-muted" aria-busy="true" role="status">
      {["46%", "62%", "38%"].map((width) => (
        <i key={width} className="block h-2.5 rounded-[2px] bg-pressed" style={{ width, maxWidth: "20rem" }} />
      ))}
      {what}
    </div>
  );
}

/** One sentence and what to do. */
export function Failed({ failure, children }: { readonly failure: Failure; readonly children?: ReactNode }) {
  return (
    <div className="grid min-h-0 flex-1 place-items-center p-6" role="alert">
      <div className="flex max-w-96 flex-col items-start gap-1.5 text-xs">
        <Icon name="fail" className="text-failed" />
        <b className="text-sm">{failure.message}</b>
        {failure.remedy !== null && <span className="leading-[1.0625rem] text-secondary">{failure.remedy}</span>}
        {children !== undefined && <div className="mt-1.5 flex gap-2">{children}</div>}
      </div>
    </div>
  );
}

/** Shows a value when it is there; else that it is being read, or why not. An old value stays while a new one is read. */
export function Ready<T>({
  state,
  reading,
  children,
}: {
  readonly state: QueryState<T>;
  readonly reading: string;
  readonly children: (value: T) => ReactNode;
}) {
  if (state.value !== undefined) return children(state.value);
  if (state.failure !== null) return <Failed failure={state.failure} />;
  return <Loading what={reading} />;
}

interface BoundaryProps {
  readonly children: ReactNode;
}

/** A pane that breaks stops alone. */
export class Boundary extends Component<BoundaryProps, { readonly failure: Failure | null }> {
  override state: { readonly failure: Failure | null } = { failure: null };

  static getDerivedStateFromError(error: unknown): { readonly failure: Failure } {
    return { failure: asFailure(error) };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error(error, info.componentStack);
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === null) return this.props.children;
    return (
      <Failed failure={{ message: "This pane stopped.", remedy: `The other panes go on. Nothing was lost. (${failure.message})` }}>
        <Button onClick={() => this.setState({ failure: null })}>Reload pane</Button>
      </Failed>
    );
  }
}

const noteLook = { plain: "bg-sunken", warn: "bg-paused-tint", bad: "bg-failed-tint", info: "bg-accent-tint" } as const;
const noteGlyph = { plain: "info", warn: "warn", bad: "fail", info: "info" } as const;
const noteInk = { plain: "text-muted", warn: "text-paused", bad: "text-failed", info: "text-accent" } as const;

/** A remark inside a pane or a form. */
export function Note({
  look,
  children,
  square = false,
}: {
  readonly look: keyof typeof noteLook;
  readonly children: ReactNode;
  readonly square?: boolean;
}) {
  return (
    <div
      className={`flex gap-2 px-3 py-2 text-xs leading-[1.0625rem] ${square ? "" : "rounded-2"} ${noteLook[look]}`}
      role={look === "bad" ? "alert" : undefined}
    >
      <Icon name={noteGlyph[look]} className={`mt-px ${noteInk[look]}`} />
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}

export const FailureNote = ({ failure }: { readonly failure: Failure }) => (
  <Note look="bad">
    <b>{failure.message}</b> {failure.remedy}
  </Note>
);
