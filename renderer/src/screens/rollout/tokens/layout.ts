/** Rows of the token flow, for a virtual list: a head a span, lines that end at a newline, folds over long masked text. Pure. */
import type { PlacedSpan } from "./chain.ts";

export type FlowRow =
  | { readonly kind: "head"; readonly placed: PlacedSpan }
  /** Tokens `from`…`to`−1 of a span, by offset inside it. */
  | { readonly kind: "line"; readonly placed: PlacedSpan; readonly from: number; readonly to: number }
  | { readonly kind: "fold"; readonly placed: PlacedSpan; readonly from: number; readonly to: number };

/** A row with more tokens than this is cut, so that measuring one stays cheap. */
const longestLine = 120;
/** Masked spans longer than this open folded: their two ends stay. */
const foldAbove = 160;
const keptAtStart = 48;
const keptAtEnd = 24;

/** What a token looks like: newlines and leading spaces are seen. */
export interface TokenLook {
  /** Drawn muted before the text. */
  readonly lead: string;
  readonly text: string;
  readonly tail: string;
  /** A control token: boxed. */
  readonly control: boolean;
}

const controlPattern = /^<[|/]?[\w|:.-]+\|?>$|^\[[A-Z_/]+\]$/;

export function tokenLook(text: string | null, id: number): TokenLook {
  if (text === null) return { lead: "", text: String(id), tail: "", control: false };
  if (text === "") return { lead: "", text: `⟨${id}⟩`, tail: "", control: false };
  if (controlPattern.test(text)) return { lead: "", text, tail: "", control: true };
  const match = /^( *)([^\n]*?)(\n[\s\S]*)?$/.exec(text);
  const lead = "·".repeat(match?.[1]?.length ?? 0);
  const tail = (match?.[3] ?? "").replaceAll("\n", "↵").replaceAll(" ", "·");
  return { lead, text: (match?.[2] ?? text).replaceAll("\t", "⇥"), tail, control: false };
}

const endsLine = (text: string | undefined): boolean => text?.includes("\n") === true;

function linesOf(placed: PlacedSpan, from: number, to: number): FlowRow[] {
  const { texts } = placed.span;
  const rows: FlowRow[] = [];
  let begin = from;
  for (let at = from; at < to; at += 1) {
    if (endsLine(texts?.[at]) || at - begin + 1 >= longestLine || at === to - 1) {
      rows.push({ kind: "line", placed, from: begin, to: at + 1 });
      begin = at + 1;
    }
  }
  return rows;
}

/** `opened`: indexes of spans that a person unfolded. */
export function flowRows(spans: readonly PlacedSpan[], opened: ReadonlySet<number>): readonly FlowRow[] {
  return spans.flatMap((placed): readonly FlowRow[] => {
    const { ids, mask } = placed.span;
    const head: FlowRow = { kind: "head", placed };
    if (mask === 1 || ids.length <= foldAbove || opened.has(placed.index)) return [head, ...linesOf(placed, 0, ids.length)];
    const to = ids.length - keptAtEnd;
    return [head, ...linesOf(placed, 0, keptAtStart), { kind: "fold", placed, from: keptAtStart, to }, ...linesOf(placed, to, ids.length)];
  });
}

/** The row that shows a position, or the fold that hides it. */
export function rowOf(rows: readonly FlowRow[], position: number): number {
  return rows.findIndex((row) => row.kind !== "head" && position >= row.placed.start + row.from && position < row.placed.start + row.to);
}
