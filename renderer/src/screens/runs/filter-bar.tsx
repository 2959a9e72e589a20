import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { type Completion, completions } from "../../filter/complete.ts";
import type { ParsedFilter } from "../../filter/parse.ts";
import { IconButton } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { KeyCaps } from "../../parts/key-caps.tsx";
import type { RolloutView } from "../../service/views.ts";
import { setFilter, useRunsSelection } from "../../state/runs-selection.ts";
import { forgetFilter, saveFilter, useSavedFilters } from "../../state/saved-filters.ts";

const ink = { key: "text-code-key", operator: "text-muted", value: "text-code-number", text: "text-code-string", space: "" } as const;
const shared = "absolute inset-0 flex items-center overflow-hidden font-mono text-xs whitespace-pre";

/** The text in its colours, under a field whose own text is transparent; a mistake is underlined. */
function Coloured({ text, filter }: { readonly text: string; readonly filter: ParsedFilter }) {
  const { mistake } = filter;
  return (
    <span aria-hidden="true" className={`${shared} pointer-events-none`}>
      {filter.spans.map((span) => {
        const wrong = mistake !== null && span.from < mistake.to && span.to > mistake.from;
        return (
          <span key={span.from} className={`${ink[span.kind]} ${wrong ? "underline decoration-failed decoration-wavy underline-offset-3" : ""}`}>
            {text.slice(span.from, span.to)}
          </span>
        );
      })}
    </span>
  );
}

interface FilterBarProps {
  readonly filter: ParsedFilter;
  readonly rollouts: readonly RolloutView[];
  readonly experiments: readonly string[];
  /** Rollouts shown, of all; null while they are still being read. */
  readonly counted: string | null;
  readonly onLeave: () => void;
}

export function FilterBar({ filter, rollouts, experiments, counted, onLeave }: FilterBarProps) {
  const text = useRunsSelection((state) => state.filter);
  const saved = useSavedFilters((state) => state.filters.some((each) => each.text === text));
  const field = useRef<HTMLInputElement>(null);
  const listId = useId();
  const [caret, setCaret] = useState<number | null>(null);
  const [chosen, setChosen] = useState(0);
  const offers = caret === null ? [] : completions(text, caret, rollouts, experiments);
  const typingKey = offers.some((each) => each.kind !== "");
  useEffect(() => useRunsSelection.setState({ typingKey }), [typingKey]);
  const offer = offers[Math.min(chosen, offers.length - 1)];

  useCommands({
    find: () => field.current?.select(),
    "runs.clear": () => setFilter(""),
  });

  const change = (value: string, at: number | null): void => {
    setFilter(value);
    setCaret(at);
    setChosen(0);
  };
  const take = (completion: Completion): void => {
    const next = text.slice(0, completion.from) + completion.insert + text.slice(caret ?? text.length);
    const at = completion.from + completion.insert.length;
    change(next, at);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Tab" && offer !== undefined && !event.shiftKey) {
      event.preventDefault();
      take(offer);
    } else if (step !== 0 && offers.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + offers.length) % offers.length);
    } else if (event.key === "Enter" || (event.key === "ArrowDown" && offers.length === 0)) {
      setCaret(null);
      onLeave();
    } else if (event.key === "Escape") {
      if (offers.length > 0) setCaret(null);
      else if (text !== "") setFilter("");
      else onLeave();
    }
  };

  return (
    <div className="relative min-w-0 flex-1">
      <div
        className={`control flex h-7.5! items-center gap-2 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-focus ${filter.mistake === null ? "" : "border-failed!"}`}
      >
        <Icon name="filter" size={0.875} className="text-secondary" />
        <div className="relative h-full min-w-0 flex-1">
          <Coloured text={text} filter={filter} />
          <input
            ref={field}
            role="combobox"
            aria-label="Filter rollouts"
            aria-expanded={offers.length > 0}
            aria-controls={listId}
            aria-activedescendant={offer === undefined ? undefined : `${listId}-${offers.indexOf(offer)}`}
            aria-invalid={filter.mistake !== null}
            spellCheck={false}
            autoComplete="off"
            placeholder='outcome:failed reward:0 harness:react "text"'
            value={text}
            onChange={(event) => change(event.target.value, event.target.selectionStart)}
            onKeyDown={onKeyDown}
            onBlur={() => setCaret(null)}
            className={`${shared} w-full bg-transparent text-transparent caret-fg selection:bg-selected focus-visible:outline-none`}
          />
        </div>
        <span className="text-2xs font-medium text-muted tabular-nums">{counted}</span>
        <IconButton
          glyph="star"
          label={text.trim() === "" ? "Save this filter (write one first)" : saved ? "Forget this filter" : "Save this filter"}
          on={saved}
          onClick={() => {
            if (text.trim() !== "") (saved ? forgetFilter : saveFilter)(text);
          }}
        />
      </div>
      {filter.mistake !== null && (
        <p
          className="absolute top-full left-0 z-10 m-0 mt-1 flex gap-1.5 rounded-3 border border-line-strong bg-raised px-2.5 py-1.5 text-xs shadow-2"
          role="alert"
        >
          <Icon name="fail" size={0.875} className="mt-px text-failed" />
          <span>
            <b>{filter.mistake.subject}</b> {filter.mistake.message}
            {filter.mistake.example !== null && (
              <>
                , for example <code className="text-xs">{filter.mistake.example}</code>
              </>
            )}
            . Still showing the last filter.
          </span>
        </p>
      )}
      {offers.length > 0 && filter.mistake === null && (
        <div className="absolute top-full left-0 z-10 mt-1 w-105 max-w-full overflow-hidden rounded-3 border border-line-strong bg-raised shadow-2">
          <div id={listId} role="listbox" aria-label="Completions" tabIndex={-1} className="p-1">
            {offers.map((each, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard is in the field, which drives this list
              <div
                key={each.label}
                id={`${listId}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={each === offer}
                onPointerDown={(event) => event.preventDefault()}
                onClick={() => take(each)}
                className={`flex h-7 items-center gap-2 rounded-2 px-2 text-xs ${each === offer ? "bg-selected shadow-[inset_2px_0_var(--of-accent)]" : "hover:bg-hover"}`}
              >
                <span className="font-mono">{each.label}</span>
                <span className="text-muted">{each.kind}</span>
                <span className="min-w-0 flex-1 truncate text-muted">{each.about}</span>
                <span className="font-mono text-muted">{each.example}</span>
              </div>
            ))}
          </div>
          <footer className="flex gap-3 border-t border-line bg-header px-2.5 py-1.25 text-2xs text-muted">
            <span className="flex items-center gap-1">
              <KeyCaps value="Tab" /> take
            </span>
            <span className="flex items-center gap-1">
              <KeyCaps value="Enter" /> filter
            </span>
          </footer>
        </div>
      )}
    </div>
  );
}
