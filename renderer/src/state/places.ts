/**
 * A place in the window as a link names it: `openforge://run/<id>/call/<n>?view=tokens&tok=3-9`, `openforge://train/<id>/step/<n>`,
 * `openforge://compare?with=<experiment>&a=<column>&b=<column>`, or a screen.
 */
const screenNames = ["runs", "tasks", "harnesses", "settings"] as const;
export type ScreenName = (typeof screenNames)[number];

export const rolloutViews = ["calls", "tokens", "artifacts", "verifier", "logs"] as const;
export type RolloutViewName = (typeof rolloutViews)[number];

/** The update that trained on a rollout. */
export interface StepName {
  readonly run: string;
  readonly step: number;
}

export interface RolloutPlace {
  readonly kind: "rollout";
  readonly id: string;
  readonly view: RolloutViewName;
  /** The open call by its number on the screen, from 1; null = the first. */
  readonly call: number | null;
  readonly chain: number;
  /** First and last token of the chain that the link points at. */
  readonly tokens: { readonly from: number; readonly to: number } | null;
  /** Shows the tokens as this step trained on them. */
  readonly trained: StepName | null;
}

export interface TrainPlace {
  readonly kind: "train";
  /** The training run; null = the newest. */
  readonly id: string | null;
  readonly step: number | null;
}

export interface ComparePlace {
  readonly kind: "compare";
  /** Experiments by id; none = the newest. */
  readonly experiments: readonly string[];
  /** Columns by their keys. */
  readonly a: string | null;
  readonly b: string | null;
}

export type Place = { readonly kind: "screen"; readonly screen: ScreenName } | RolloutPlace | TrainPlace | ComparePlace;

const scheme = "openforge://";

export function rolloutPlace(id: string, change: Partial<Omit<RolloutPlace, "kind" | "id">> = {}): RolloutPlace {
  return { kind: "rollout", id, view: "calls", call: null, chain: 0, tokens: null, trained: null, ...change };
}

/** The part after the scheme; the same text is the fragment of the address bar. */
export function placePath(place: Place): string {
  switch (place.kind) {
    case "screen":
      return place.screen;
    case "rollout":
      return rolloutPath(place);
    case "train":
      return `train${place.id === null ? "" : `/${encodeURIComponent(place.id)}`}${place.id === null || place.step === null ? "" : `/step/${place.step}`}`;
    case "compare":
      return withQuery("compare", [...place.experiments.map((id) => ["with", id] as const), ["a", place.a], ["b", place.b]]);
  }
}

function rolloutPath({ id, view, call, chain, tokens, trained }: RolloutPlace): string {
  return withQuery(`run/${encodeURIComponent(id)}${call === null ? "" : `/call/${call}`}`, [
    ["view", view === "calls" ? null : view],
    ["chain", chain === 0 ? null : String(chain)],
    ["tok", tokens === null ? null : `${tokens.from}-${tokens.to}`],
    ["step", trained === null ? null : `${trained.run}/${trained.step}`],
  ]);
}

function withQuery(path: string, entries: readonly (readonly [string, string | null])[]): string {
  const query = new URLSearchParams(entries.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
  return query.size === 0 ? path : `${path}?${query}`;
}

export const placeLink = (place: Place): string => scheme + placePath(place);

/** Reads a link or a fragment. Null when it names nothing that exists here; a link never starts anything. */
export function parsePlace(text: string): Place | null {
  const path = text.replace(/^#/, "").replace(/^\//, "");
  const [route = "", queryText = ""] = (path.startsWith(scheme) ? path.slice(scheme.length) : path).split("?");
  const query = new URLSearchParams(queryText);
  const screen = screenNames.find((name) => name === route);
  if (screen !== undefined) return { kind: "screen", screen };
  if (route === "compare") return { kind: "compare", experiments: query.getAll("with"), a: query.get("a"), b: query.get("b") };
  return parseTrain(route) ?? parseRollout(route, query);
}

function parseTrain(route: string): TrainPlace | null {
  const match = /^train(?:\/([^/]+)(?:\/step\/(\d+))?)?$/.exec(route);
  if (match === null) return null;
  return { kind: "train", id: match[1] === undefined ? null : decodeURIComponent(match[1]), step: match[2] === undefined ? null : Number(match[2]) };
}

function parseRollout(route: string, query: URLSearchParams): RolloutPlace | null {
  const match = /^run\/([^/]+)(?:\/call\/(\d+))?$/.exec(route);
  const id = match?.[1];
  if (id === undefined) return null;
  const range = /^(\d+)-(\d+)$/.exec(query.get("tok") ?? "");
  const trained = /^(.+)\/(\d+)$/.exec(query.get("step") ?? "");
  return rolloutPlace(decodeURIComponent(id), {
    view: rolloutViews.find((name) => name === query.get("view")) ?? (range === null ? "calls" : "tokens"),
    call: match?.[2] === undefined ? null : Number(match[2]),
    chain: Number(query.get("chain") ?? 0) || 0,
    tokens: range === null ? null : { from: Number(range[1]), to: Number(range[2]) },
    trained: trained?.[1] === undefined ? null : { run: trained[1], step: Number(trained[2]) },
  });
}
