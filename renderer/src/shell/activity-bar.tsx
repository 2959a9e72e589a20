import { runCommand } from "../commands/handlers.ts";
import { commandById } from "../commands/table.ts";
import type { GlyphName } from "../parts/glyphs.tsx";
import { Hint } from "../parts/hint.tsx";
import { Icon } from "../parts/icon.tsx";
import type { ScreenName } from "../state/places.ts";
import { activePlace, useWorkspace } from "../state/workspace.ts";

type Name = ScreenName | "compare" | "train";

const items: readonly { readonly screen: Name; readonly glyph: GlyphName; readonly label: string }[] = [
  { screen: "runs", glyph: "runs", label: "Runs" },
  { screen: "tasks", glyph: "tasks", label: "Tasks" },
  { screen: "harnesses", glyph: "harness", label: "Harnesses" },
  { screen: "compare", glyph: "compare", label: "Compare" },
  { screen: "train", glyph: "train", label: "Train" },
];

function Item({ screen, glyph, label, on }: { readonly screen: Name; readonly glyph: GlyphName; readonly label: string; readonly on: boolean }) {
  const command = commandById(`screen.${screen}`);
  return (
    <Hint text={label} {...(command.keys[0] === undefined ? {} : { keyShown: command.keys[0] })}>
      <button
        type="button"
        aria-current={on ? "page" : undefined}
        onClick={() => runCommand(command)}
        className={`focus-inside relative flex flex-col items-center gap-0.75 rounded-2 pt-1.75 pb-1.5 text-3xs font-medium ${
          on
            ? "bg-selected-idle text-fg before:absolute before:inset-y-2 before:-left-1 before:w-0.5 before:rounded-r-[2px] before:bg-accent"
            : "text-secondary hover:bg-hover"
        }`}
      >
        <Icon name={glyph} size={1.125} weight={1.25} />
        <span className="slim:sr-only">{label}</span>
      </button>
    </Hint>
  );
}

/** The screens that exist. */
export function ActivityBar() {
  const place = useWorkspace(activePlace);
  const current: Name = place.kind === "screen" ? place.screen : place.kind === "rollout" ? "runs" : place.kind;
  return (
    <nav
      data-pane
      tabIndex={-1}
      aria-label="Screens"
      className="focus-inside row-span-2 flex flex-col gap-0.5 border-r border-line bg-chrome px-1 py-1.5"
    >
      {items.map((item) => (
        <Item key={item.screen} {...item} on={current === item.screen} />
      ))}
      <span className="flex-1" />
      <Item screen="settings" glyph="settings" label="Settings" on={current === "settings"} />
    </nav>
  );
}
