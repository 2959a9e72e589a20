/** A place in the window as a link names it: `openforge://run/<id>/call/<n>?view=tokens&tok=3-9`, or a screen. */
const screenNames = ["runs", "tasks", "harnesses", "settings"] as const;
export type ScreenName = (typeof screenNames)[number];

export const rolloutViews = ["calls", "tokens", "artifacts", "verifier", "logs"] as const;
export type RolloutViewName = (typeof rolloutViews)[number];

export interface RolloutPlace {
  readonly kind: "rollout";
  readonly id: string;
  readonly view: RolloutViewName;
  /** The open call by its number on the screen, from 1; null = the first. */
  readonly call: number | null;
  readonly chain: number;
  /** First and last token of the chain that the link points at. */
  readonly tokens: { readonly from: number; readonly to: number } | null;
}
export type Place = { readonly kind: "screen"; readonly screen: ScreenName } | RolloutPlace;

const scheme = "openforge://";

export function rolloutPlace(id: string, change: Partial<Omit<RolloutPlace, "kind" | "id">> = {}): RolloutPlace {
  return { kind: "rollout", id, view: "calls", call: null, chain: 0, tokens: null, ...change };
}

/** The part after the scheme; the same text is the fragment of the address bar. */
export function placePath(place: Place): string {
  if (place.kind === "screen") return place.screen;
  const query = new URLSearchParams();
  if (place.view !== "calls") query.set("view", place.view);
  if (place.chain !== 0) query.set("chain", String(place.chain));
  if (place.tokens !== null) query.set("tok", `${place.tokens.from}-${place.tokens.to}`);
  const call = place.call === null ? "" : `/call/${place.call}`;
  const text = query.toString();
  return `run/${encodeURIComponent(place.id)}${call}${text === "" ? "" : `?${text}`}`;
}

export const placeLink = (place: Place): string => scheme + placePath(place);

/** Reads a link or a fragment. Null when it names nothing that exists here; a link never starts anything. */
export function parsePlace(text: string): Place | null {
  const path = text.replace(/^#/, "").replace(/^\//, "");
  const [route = "", queryText = ""] = (path.startsWith(scheme) ? path.slice(scheme.length) : path).split("?");
  const screen = screenNames.find((name) => name === route);
  if (screen !== undefined) return { kind: "screen", screen };
  const match = /^run\/([^/]+)(?:\/call\/(\d+))?$/.exec(route);
  const id = match?.[1];
  if (id === undefined) return null;
  const query = new URLSearchParams(queryText);
  const range = /^(\d+)-(\d+)$/.exec(query.get("tok") ?? "");
  return rolloutPlace(decodeURIComponent(id), {
    view: rolloutViews.find((name) => name === query.get("view")) ?? (range === null ? "calls" : "tokens"),
    call: match?.[2] === undefined ? null : Number(match[2]),
    chain: Number(query.get("chain") ?? 0) || 0,
    tokens: range === null ? null : { from: Number(range[1]), to: Number(range[2]) },
  });
}
