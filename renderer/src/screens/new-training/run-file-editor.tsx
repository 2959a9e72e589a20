import { useRef } from "react";
import type { TrainingCheck } from "../../service/views.ts";

interface EditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly faults: TrainingCheck["faults"];
}

/** Where the caret goes to stand at the beginning of a line, from 1. */
function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let current = 1; current < line; current += 1) {
    const next = text.indexOf("\n", at);
    if (next === -1) return text.length;
    at = next + 1;
  }
  return at;
}

/** A run file as text, its lines numbered, those with a fault marked; a fault leads to its line. */
export function RunFileEditor({ value, onChange, faults }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLPreElement>(null);
  const lines = value.split("\n").length;
  const faulty = new Set(faults.map(({ line }) => line));
  const goTo = (line: number): void => {
    const at = startOfLine(value, line);
    area.current?.focus();
    area.current?.setSelectionRange(at, startOfLine(value, line + 1));
    if (area.current !== null) area.current.scrollTop = Math.max(0, (line - 4) * 18);
  };
  return (
    <div className="grid gap-2">
      <div
        className={`flex h-76 overflow-hidden rounded-2 border bg-raised focus-within:border-transparent focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-focus short:h-44 ${faults.length > 0 ? "border-failed" : "border-line-control"}`}
      >
        <pre
          ref={gutter}
          aria-hidden="true"
          className="m-0 w-10 flex-none overflow-hidden bg-sunken py-2 text-right text-xs leading-[1.125rem] text-muted select-none"
        >
          {Array.from({ length: lines }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are numbered
            <span key={index} className={`block pr-2 ${faulty.has(index + 1) ? "bg-failed-tint text-failed" : ""}`}>
              {faulty.has(index + 1) ? "✕ " : ""}
              {index + 1}
            </span>
          ))}
        </pre>
        <textarea
          ref={area}
          data-first-focus
          aria-label="Run file"
          aria-invalid={faults.length > 0}
          aria-describedby={faults.length > 0 ? "run-file-faults" : undefined}
          spellCheck={false}
          wrap="off"
          className="min-w-0 flex-1 resize-none overflow-auto border-0 bg-transparent px-2.5 py-2 font-mono text-xs leading-[1.125rem] outline-none"
          value={value}
          onChange={(event) => onChange(event.target.value)}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
      {faults.length > 0 && (
        <ul id="run-file-faults" aria-label="Faults of the run file" className="m-0 max-h-24 list-none overflow-auto p-0" aria-live="polite">
          {faults.map(({ line, message }) => (
            <li key={`${line}/${message}`}>
              <button
                type="button"
                className="focus-inside flex w-full gap-2 rounded-2 px-1.5 py-0.75 text-left text-xs hover:bg-hover"
                onClick={() => goTo(line)}
              >
                <span className="w-14 flex-none text-failed tabular-nums">line {line}</span>
                <span>{message}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
