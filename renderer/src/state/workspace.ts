/** What is open in the window: tabs, panels and their sizes, the selected rollout. Kept by the service, so that every start finds it. */
import { z } from "zod";
import { create } from "zustand";
import { useMedia } from "../parts/use-media.ts";
import { type ComparePlace, type Place, parsePlace, placePath, type RolloutPlace, type ScreenName, type TrainPlace } from "./places.ts";

export interface Tab {
  /** Screen name, `train`, `compare`, or `run/<id>`. */
  readonly key: string;
  readonly place: Place;
  /** A preview tab is replaced by the next preview. */
  readonly preview: boolean;
  /** What its title says, when it is a rollout. */
  readonly title: string | null;
}

const panelViews = ["logs", "verifier", "problems"] as const;
export type PanelView = (typeof panelViews)[number];

interface Layout {
  readonly panelOpen: boolean;
  readonly panelView: PanelView;
  readonly detailsOpen: boolean;
  /** Sizes of panes in px at 100 %, by name; a missing one has its default. */
  readonly sizes: Readonly<Record<string, number>>;
}

interface Workspace extends Layout {
  readonly tabs: readonly Tab[];
  readonly active: string;
  /** The rollout that details, logs and verifier speak of. */
  readonly selectedRollout: string | null;
  /** In a narrow window details lie over the centre; they are not open there until asked for. */
  readonly detailsOver: boolean;
}

const narrowWindow = "(max-width: 1200px)";

const runsTab: Tab = { key: "runs", place: { kind: "screen", screen: "runs" }, preview: false, title: null };

export const useWorkspace = create<Workspace>(() => ({
  tabs: [runsTab],
  active: "runs",
  selectedRollout: null,
  detailsOver: false,
  panelOpen: false,
  panelView: "logs",
  detailsOpen: true,
  sizes: {},
}));

function keyOf(place: Place): string {
  if (place.kind === "screen") return place.screen;
  return place.kind === "rollout" ? `run/${place.id}` : place.kind;
}

interface OpenOptions {
  readonly preview?: boolean;
  readonly title?: string | null;
}

/** The tabs after a place was opened: its own tab, the preview tab, or a new one at the end. */
export function tabsWith(tabs: readonly Tab[], place: Place, options: OpenOptions = {}): readonly Tab[] {
  const key = keyOf(place);
  const preview = options.preview ?? false;
  const known = tabs.find((tab) => tab.key === key);
  const tab: Tab = { key, place, preview: preview && (known?.preview ?? true), title: options.title ?? known?.title ?? null };
  if (known !== undefined) return tabs.map((each) => (each.key === key ? tab : each));
  const replaced = preview ? tabs.findIndex((each) => each.preview) : -1;
  return replaced === -1 ? [...tabs, tab] : tabs.map((each, index) => (index === replaced ? tab : each));
}

export function openPlace(place: Place, options: OpenOptions = {}): void {
  useWorkspace.setState((state) => ({
    tabs: tabsWith(state.tabs, place, options),
    active: keyOf(place),
    ...(place.kind === "rollout" ? { selectedRollout: place.id } : {}),
  }));
}

export const openScreen = (screen: ScreenName): void => openPlace({ kind: "screen", screen });

const trainPlace: TrainPlace = { kind: "train", id: null, step: null };
const comparePlace: ComparePlace = { kind: "compare", experiments: [], a: null, b: null };

/** Opens Train where it was, or where the change says; the tab is named by its run. */
export function openTrain(change: Partial<Omit<TrainPlace, "kind">> = {}, title?: string): void {
  const open = useWorkspace.getState().tabs.find((tab) => tab.place.kind === "train")?.place;
  openPlace({ ...(open?.kind === "train" ? open : trainPlace), ...change }, title === undefined ? {} : { title });
}

export function openCompare(change: Partial<Omit<ComparePlace, "kind">> = {}): void {
  const open = useWorkspace.getState().tabs.find((tab) => tab.place.kind === "compare")?.place;
  openPlace({ ...(open?.kind === "compare" ? open : comparePlace), ...change });
}

export function activateTab(key: string): void {
  useWorkspace.setState((state) => {
    const tab = state.tabs.find((each) => each.key === key);
    return { active: key, ...(tab?.place.kind === "rollout" ? { selectedRollout: tab.place.id } : {}) };
  });
}

export function keepTab(key: string): void {
  useWorkspace.setState((state) => ({ tabs: state.tabs.map((tab) => (tab.key === key ? { ...tab, preview: false } : tab)) }));
}

/** Closes a tab; its right neighbour, else its left one, becomes active. The last tab gives way to Runs. */
export function closeTab(key: string): void {
  useWorkspace.setState((state) => {
    const index = state.tabs.findIndex((tab) => tab.key === key);
    const left = state.tabs.filter((tab) => tab.key !== key);
    const tabs = left.length === 0 ? [runsTab] : left;
    const next = tabs[Math.min(index, tabs.length - 1)] ?? runsTab;
    return { tabs, active: state.active === key ? next.key : state.active };
  });
}

export function stepTab(by: 1 | -1): void {
  const { tabs, active } = useWorkspace.getState();
  const index = tabs.findIndex((tab) => tab.key === active);
  const next = tabs[(index + by + tabs.length) % tabs.length];
  if (next !== undefined) activateTab(next.key);
}

/** Moves inside an open rollout: another call, view or chain. */
export function changeRolloutPlace(id: string, change: Partial<Omit<RolloutPlace, "kind" | "id">>): void {
  useWorkspace.setState((state) => ({
    tabs: state.tabs.map((tab) => (tab.place.kind === "rollout" && tab.place.id === id ? { ...tab, place: { ...tab.place, ...change } } : tab)),
  }));
}

export function titleTab(key: string, title: string): void {
  useWorkspace.setState((state) =>
    state.tabs.some((tab) => tab.key === key && tab.title !== title)
      ? { tabs: state.tabs.map((tab) => (tab.key === key ? { ...tab, title } : tab)) }
      : state,
  );
}

export const selectRollout = (id: string | null): void => useWorkspace.setState({ selectedRollout: id });
export const activePlace = (state: Workspace): Place => state.tabs.find((tab) => tab.key === state.active)?.place ?? runsTab.place;

export function togglePanel(view?: PanelView): void {
  useWorkspace.setState((state) => ({
    panelOpen: view === undefined ? !state.panelOpen : true,
    panelView: view ?? state.panelView,
  }));
}

export function toggleDetails(): void {
  useWorkspace.setState((state) => (matchMedia(narrowWindow).matches ? { detailsOver: !state.detailsOver } : { detailsOpen: !state.detailsOpen }));
}

export function useDetailsShown(): boolean {
  const narrow = useMedia(narrowWindow);
  return useWorkspace((state) => (narrow ? state.detailsOver : state.detailsOpen));
}

export function setSize(name: string, size: number | null): void {
  useWorkspace.setState((state) => {
    const { [name]: _, ...rest } = state.sizes;
    return { sizes: size === null ? rest : { ...rest, [name]: size } };
  });
}

/** What is written down between starts. Tabs as links: a place that no longer exists is dropped on reading. */
export function workspaceJson(state: Workspace): string {
  const { panelOpen, panelView, detailsOpen, sizes, active } = state;
  const tabs = state.tabs.map((tab) => ({ place: placePath(tab.place), title: tab.title, preview: tab.preview }));
  return JSON.stringify({ panelOpen, panelView, detailsOpen, sizes, active, tabs });
}

const storedTab = z.object({ place: z.string(), title: z.string().nullable().catch(null), preview: z.boolean().catch(false) });
const storedWorkspace = z.object({
  panelOpen: z.boolean().catch(false),
  panelView: z.enum(panelViews).catch("logs"),
  detailsOpen: z.boolean().catch(true),
  sizes: z.record(z.string(), z.number()).catch({}),
  active: z.string().catch(""),
  tabs: z.array(storedTab).catch([]),
});

function restoredTab({ place: path, title, preview }: z.infer<typeof storedTab>): Tab[] {
  const place = parsePlace(path);
  return place === null ? [] : [{ key: keyOf(place), place, preview, title }];
}

/** Puts back what was written. Anything unreadable keeps its default. */
export function restoreWorkspace(json: string): void {
  const { tabs: stored, active, ...layout } = storedWorkspace.parse(JSON.parse(json));
  const tabs = stored.flatMap(restoredTab);
  useWorkspace.setState((state) => ({
    ...layout,
    tabs: tabs.length === 0 ? state.tabs : tabs,
    active: tabs.some((tab) => tab.key === active) ? active : (tabs[0]?.key ?? state.active),
  }));
}
