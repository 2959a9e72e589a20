import { type ReactNode, useLayoutEffect, useRef } from "react";
import type { LongWork } from "../service/long-work.ts";
import { Button } from "./button.tsx";
import { FailureNote, Note } from "./states.tsx";

interface WorkLinesProps {
  readonly work: LongWork<unknown>;
  readonly onStop: () => void;
  /** Said when it is done; null says nothing. */
  readonly done: string | null;
  /** The work was done and the answer is no. */
  readonly failed?: boolean;
  /** In a form, which keeps its parts apart by itself. */
  readonly inForm?: boolean;
  /** What came of it. */
  readonly children?: ReactNode;
}

/** Progress of long work as it is printed, then how it ended. */
export function WorkLines({ work, onStop, done, failed = false, inForm = false, children }: WorkLinesProps) {
  const box = useRef<HTMLPreElement>(null);
  const whole = useRef<HTMLDivElement>(null);
  const status = useRef(work.status);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line scrolls
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [work.lines.length]);
  // What was asked for is seen, in a short window too. Coming back to what ended before moves nothing.
  useLayoutEffect(() => {
    if (status.current !== work.status) whole.current?.scrollIntoView({ block: "nearest" });
    status.current = work.status;
  }, [work.status]);
  if (work.status === "idle") return null;
  return (
    <div ref={whole} className={`grid gap-2 ${inForm ? "" : "mt-2.5"}`}>
      {work.lines.length > 0 && (
        <pre
          ref={box}
          className="m-0 max-h-40 overflow-auto rounded-2 bg-sunken px-2.5 py-2 text-xs leading-[1.125rem] break-words whitespace-pre-wrap"
          aria-live="polite"
        >
          {work.lines.join("\n")}
        </pre>
      )}
      {work.status === "running" && (
        <div className="flex items-center gap-2 text-xs text-muted" role="status">
          Running
          <Button small glyph="stop" onClick={onStop}>
            Stop
          </Button>
        </div>
      )}
      {work.status === "failed" && work.failure !== null && <FailureNote failure={work.failure} />}
      {work.status === "stopped" && <Note look="plain">Stopped.</Note>}
      {work.status === "done" && done !== null && <Note look={failed ? "bad" : "plain"}>{done}</Note>}
      {children}
    </div>
  );
}
