import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, type PointerEvent, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { advantageClass, advantageStep } from "../../../parts/advantage.ts";
import { Chip } from "../../../parts/chip.tsx";
import { count, decimal, position as positionWords } from "../../../words/numbers.ts";
import { heatStep, type PlacedSpan, tokenAt } from "./chain.ts";
import { type FlowRow, flowRows, rowOf, tokenLook } from "./layout.ts";
import { cardPlace, TokenCard } from "./token-card.tsx";
import { gapOf, gapStep, type Trained } from "./trained.ts";

export type ColourMode = "logprob" | "mask" | "advantage" | "gap";

const hoverDelay = 150;
const estimated = { head: 28, line: 25, fold: 25 } as const;

function lookOf(placed: PlacedSpan, offset: number, mode: ColourMode, trained: Trained | null): string {
  const { mask, kind, logprobs } = placed.span;
  const position = placed.start + offset;
  if (trained === null ? kind === "prompt" || mask === 0 : trained.mask(position) === 0) return "is-masked";
  const logprob = logprobs?.[offset] ?? null;
  if (trained !== null && mode === "advantage") return advantageClass(advantageStep(trained.advantage(position) ?? 0, trained.largest));
  if (trained !== null && mode === "gap") {
    const gap = gapOf(trained, position, logprob);
    return gap === null ? "is-sampled" : `heat-${gapStep(gap)}`;
  }
  if (mode === "mask" || logprob === null) return "is-sampled";
  return `heat-${heatStep(logprob)}`;
}

interface LineProps {
  readonly row: Extract<FlowRow, { kind: "line" }>;
  readonly mode: ColourMode;
  readonly trained: Trained | null;
  /** Position of the cursor when it is in this line, else −1. */
  readonly cursor: number;
}

const Line = memo(function Line({ row, mode, trained, cursor }: LineProps) {
  const { placed, from, to } = row;
  const tokens = [];
  for (let offset = from; offset < to; offset += 1) {
    const at = placed.start + offset;
    const look = tokenLook(placed.span.texts?.[offset] ?? null, placed.span.ids[offset] ?? 0);
    tokens.push(
      <span
        key={at}
        data-token={at}
        className={`token ${lookOf(placed, offset, mode, trained)} ${look.control ? "is-control" : ""} ${at === cursor ? "is-cursor" : ""}`}
      >
        {look.lead !== "" && <s>{look.lead}</s>}
        {look.text}
        {look.tail !== "" && <s>{look.tail}</s>}
      </span>,
    );
  }
  return <div className="token-line">{tokens}</div>;
});

function Head({ placed }: { readonly placed: PlacedSpan }) {
  const { span, start } = placed;
  const sampled = span.kind === "sampled";
  return (
    <div className="flex h-7 items-center gap-2 pr-4 pl-2.5 text-xs">
      <span className={`h-3.5 w-0.75 rounded-[2px] ${sampled ? "bg-sampled" : "hatch-line"}`} />
      <b>{sampled ? "assistant" : "prompt"}</b>
      <span className="text-muted">
        {sampled ? "sampled, " : ""}call {span.callIndex + 1}
      </span>
      <span className="flex-1" />
      {sampled && (span.mask === 1 ? <Chip tone="sampled">trained</Chip> : <Chip tone="masked">masked here</Chip>)}
      <span className="text-muted tabular-nums">{count(span.ids.length)} tok</span>
      <span className="w-28 text-right text-muted tabular-nums">
        {positionWords(start)} – {positionWords(start + Math.max(0, span.ids.length - 1))}
      </span>
    </div>
  );
}

export interface FlowHandle {
  readonly goTo: (position: number) => void;
}

interface TokenFlowProps {
  readonly spans: readonly PlacedSpan[];
  readonly total: number;
  readonly mode: ColourMode;
  /** What an update made of the tokens, when the view was opened from one. */
  readonly trained: Trained | null;
  readonly cursor: number;
  readonly onCursor: (position: number) => void;
  readonly ref: React.Ref<FlowHandle>;
}

/** Tokens as running text; only the lines in sight exist. One tab stop: arrows move the cursor, Enter pins its card. */
export function TokenFlow({ spans, total, mode, trained, cursor, onCursor, ref }: TokenFlowProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const [hovered, setHovered] = useState<number | null>(null);
  const [pinned, setPinned] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const rows = useMemo(() => flowRows(spans, opened), [spans, opened]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimated[rows[index]?.kind ?? "line"],
    overscan: 16,
  });
  const goTo = (to: number, align: "auto" | "center"): void => {
    const target = Math.max(0, Math.min(total - 1, to));
    const row = rowOf(rows, target);
    const hiding = rows[row];
    if (hiding?.kind === "fold") setOpened(new Set([...opened, hiding.placed.index]));
    onCursor(target);
    if (row !== -1) requestAnimationFrame(() => virtual.scrollToIndex(row, { align }));
  };
  useImperativeHandle(ref, () => ({ goTo: (to) => goTo(to, "center") }));
  useEffect(() => () => clearTimeout(timer.current), []);

  const onPointerOver = (event: PointerEvent<HTMLDivElement>): void => {
    const element = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-token]") : null;
    clearTimeout(timer.current);
    if (element === null) {
      setHovered(null);
      return;
    }
    const at = Number(element.dataset.token);
    timer.current = setTimeout(() => setHovered(at), hovered === null ? hoverDelay : 0);
  };
  const neighbourRow = (by: 1 | -1): number => {
    const current = rowOf(rows, cursor);
    const here = rows[current];
    for (let at = current + by; at >= 0 && at < rows.length; at += by) {
      const row = rows[at];
      if (row?.kind === "line" && here?.kind === "line")
        return row.placed.start + Math.min(row.to - 1, row.from + (cursor - here.placed.start - here.from));
    }
    return cursor;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moves = new Map<string, () => void>([
      ["ArrowRight", () => goTo(cursor + 1, "auto")],
      ["ArrowLeft", () => goTo(cursor - 1, "auto")],
      ["ArrowDown", () => goTo(neighbourRow(1), "auto")],
      ["ArrowUp", () => goTo(neighbourRow(-1), "auto")],
      ["Home", () => goTo(0, "auto")],
      ["End", () => goTo(total - 1, "auto")],
      ["Enter", () => setPinned(!pinned)],
      ["Escape", () => setPinned(false)],
    ]);
    const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves.get(event.key);
    if (move === undefined || (event.key === "Escape" && !pinned)) return;
    event.preventDefault();
    move();
  };

  const shown = hovered ?? (pinned ? cursor : null);
  const card = shown === null ? null : tokenAt(spans, shown);
  const element = shown === null ? null : (scroller.current?.querySelector(`[data-token="${shown}"]`) ?? null);
  const current = tokenAt(spans, cursor);
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a flow of tokens is no fieldset */}
      <div
        ref={scroller}
        role="group"
        aria-label="Tokens of the chain"
        data-pane-focus
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the cursor inside is moved by the keyboard
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerOver={onPointerOver}
        onPointerLeave={() => {
          clearTimeout(timer.current);
          setHovered(null);
        }}
        onScroll={() => setHovered(null)}
        onClick={(event) => {
          const token = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-token]") : null;
          if (token !== null) onCursor(Number(token.dataset.token));
        }}
        className="token-flow min-h-0 flex-1 overflow-auto pt-1 pb-4"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const holdsCursor = row.kind === "line" && cursor >= row.placed.start + row.from && cursor < row.placed.start + row.to;
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {row.kind === "head" && <Head placed={row.placed} />}
                {row.kind === "line" && <Line row={row} mode={mode} trained={trained} cursor={holdsCursor ? cursor : -1} />}
                {row.kind === "fold" && (
                  <div className="token-line">
                    <button type="button" className="token-fold" onClick={() => setOpened(new Set([...opened, row.placed.index]))}>
                      {count(row.to - row.from)} more masked tokens
                    </button>
                  </div>
                )}
              </div>
            );
          })}
        </div>
      </div>
      <span className="sr-only" aria-live="polite">
        {current !== null &&
          `Token ${current.position}, ${JSON.stringify(current.text ?? current.id)}, ${current.logprob === null ? "" : `log-probability ${decimal(current.logprob, 2)}, `}mask ${current.span.span.mask}`}
      </span>
      {card !== null && element !== null && (
        <TokenCard
          token={card}
          trained={trained}
          place={cardPlace(element.getBoundingClientRect(), { width: window.innerWidth, height: window.innerHeight })}
          pinned={pinned && hovered === null}
        />
      )}
    </>
  );
}
