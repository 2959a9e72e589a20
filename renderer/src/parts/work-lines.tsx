import { useLayoutEffect, useRef } from "react";
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
}

/** Progress of long work as it is printed, then how it ended. */
export function WorkLines({ work, onStop, done, failed = false }: WorkLinesProps) {
  const box = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line scrolls
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [work.lines.length]);
  if (work.status === "idle") return null;
  return (
    <div className="mt-2.5 grid gap-2">
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
    </div>
  );
}
