import type { GlyphName } from "../parts/glyphs.tsx";
import { Icon } from "../parts/icon.tsx";
import { useActiveInSight } from "../parts/use-active-in-sight.ts";
import type { ScreenName } from "../state/places.ts";
import { activateTab, closeTab, keepTab, type Tab, useWorkspace } from "../state/workspace.ts";

const screenLook: Record<ScreenName, { readonly glyph: GlyphName; readonly title: string }> = {
  runs: { glyph: "runs", title: "Runs" },
  tasks: { glyph: "tasks", title: "Tasks" },
  harnesses: { glyph: "harness", title: "Harnesses" },
  settings: { glyph: "settings", title: "Settings" },
};

function lookOf({ place, title }: Tab): { readonly glyph: GlyphName; readonly title: string } {
  switch (place.kind) {
    case "screen":
      return screenLook[place.screen];
    case "train":
      return { glyph: "train", title: title ?? "Train" };
    case "compare":
      return { glyph: "compare", title: "Compare" };
    case "rollout":
      return { glyph: place.view === "tokens" ? "token" : "rec", title: title ?? place.id };
  }
}

function TabHandle({ tab, on }: { readonly tab: Tab; readonly on: boolean }) {
  const { glyph, title } = lookOf(tab);
  return (
    <div
      role="presentation"
      data-active={on}
      className={`relative flex items-center ${on || tab.place.kind !== "rollout" ? "flex-none" : "min-w-30"} border-r border-line text-xs ${
        on ? "-mb-px bg-surface text-fg before:absolute before:inset-x-0 before:top-0 before:h-0.5 before:bg-accent" : "text-secondary hover:bg-hover"
      }`}
    >
      <button
        type="button"
        role="tab"
        aria-selected={on}
        tabIndex={on ? 0 : -1}
        data-tab={tab.key}
        onClick={() => activateTab(tab.key)}
        onDoubleClick={() => keepTab(tab.key)}
        onAuxClick={(event) => event.button === 1 && closeTab(tab.key)}
        title={tab.preview ? `${title} – preview; a double click keeps it` : title}
        className="focus-inside flex h-full min-w-0 items-center gap-1.75 pr-1 pl-2.75"
      >
        <Icon name={glyph} size={0.875} />
        <span className={`max-w-60 truncate ${tab.preview ? "italic" : ""} ${on ? "" : "slim:max-w-22"}`}>{title}</span>
      </button>
      <button
        type="button"
        tabIndex={-1}
        // A tab list holds tabs alone; the keyboard closes with the command "Close tab".
        aria-hidden="true"
        title={`Close ${title}`}
        onClick={() => closeTab(tab.key)}
        className="mr-1.5 grid size-5 place-items-center rounded-1 opacity-75 hover:bg-pressed"
      >
        <Icon name="close" size={0.75} />
      </button>
    </div>
  );
}

/** Arrows move along the strip; the tab that gets the focus opens. */
function moveAlong(event: React.KeyboardEvent<HTMLDivElement>): void {
  const { tabs, active } = useWorkspace.getState();
  const index = tabs.findIndex((tab) => tab.key === active);
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  const next = tabs[(index + step + tabs.length) % tabs.length];
  if (step === 0 || next === undefined) return;
  event.preventDefault();
  activateTab(next.key);
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.key)}"]`)?.focus());
}

export function TabStrip() {
  const tabs = useWorkspace((state) => state.tabs);
  const active = useWorkspace((state) => state.active);
  const strip = useActiveInSight<HTMLDivElement>(active);
  return (
    <nav aria-label="Open places" className="min-w-0 border-b border-line bg-chrome">
      <div
        ref={strip}
        role="tablist"
        aria-label="Open places"
        tabIndex={-1}
        onKeyDown={moveAlong}
        className="flex h-full min-w-0 items-stretch overflow-x-auto overflow-y-hidden [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <TabHandle key={tab.key} tab={tab} on={tab.key === active} />
        ))}
      </div>
    </nav>
  );
}
