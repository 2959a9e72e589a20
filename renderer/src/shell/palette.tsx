import { Dialog } from "@base-ui/react/dialog";
import { type KeyboardEvent, type ReactNode, useId, useMemo, useRef, useState } from "react";
import { obstacle, runCommand } from "../commands/handlers.ts";
import { coveredRanges, ranked } from "../commands/palette-search.ts";
import { commands } from "../commands/table.ts";
import { OutcomeChip } from "../parts/chip.tsx";
import type { GlyphName } from "../parts/glyphs.tsx";
import { Icon } from "../parts/icon.tsx";
import { KeyCaps } from "../parts/key-caps.tsx";
import { useQueries, useQuery } from "../service/use-query.ts";
import { experimentsQuery, rolloutsQuery, tasksQuery } from "../service/views.ts";
import { closeOverlay } from "../state/overlays.ts";
import { rolloutPlace } from "../state/places.ts";
import { useTaskSelection } from "../state/task-selection.ts";
import { openPlace, openScreen } from "../state/workspace.ts";
import { rolloutTitle, taskWords } from "../words/names.ts";
import { reward } from "../words/numbers.ts";

interface Item {
  readonly key: string;
  readonly group: "Commands" | "Rollouts" | "Tasks";
  readonly glyph: GlyphName;
  readonly title: string;
  readonly about: string;
  readonly disabled: boolean;
  readonly end: ReactNode;
  readonly run: () => void;
}

const kinds = [
  { name: "All", prefix: "" },
  { name: "Commands", prefix: ">" },
  { name: "Rollouts", prefix: "r " },
  { name: "Tasks", prefix: "t " },
] as const;
type Kind = (typeof kinds)[number];

const shownPerGroup = 8;

function useCommandItems(): readonly Item[] {
  return useMemo(
    () =>
      commands
        .filter((command) => command.id !== "palette.open")
        .map((command): Item => {
          const reason = obstacle(command);
          const [key] = command.keys;
          return {
            key: command.id,
            group: "Commands",
            glyph: command.glyph ?? "right",
            title: command.title,
            about: reason === null ? "" : reason,
            disabled: reason !== null,
            end: key === undefined ? null : <KeyCaps value={key} />,
            run: () => runCommand(command),
          };
        })
        .sort((left, right) => Number(left.disabled) - Number(right.disabled)),
    [],
  );
}

function useRolloutItems(): readonly Item[] {
  const { value: experiments = [] } = useQuery(experimentsQuery);
  const lists = useQueries(experiments.map((experiment) => rolloutsQuery(experiment.id)));
  return useMemo(
    () =>
      [...lists.values()]
        .flatMap((list) => list.value ?? [])
        .map((rollout) => ({
          key: rollout.id,
          group: "Rollouts",
          glyph: "rec",
          title: `${rollout.id} ${taskWords(rollout.task)}`,
          about: `${rollout.harness}, reward ${reward(rollout.reward)}`,
          disabled: false,
          end: <OutcomeChip rollout={rollout} />,
          run: () => openPlace(rolloutPlace(rollout.id), { title: rolloutTitle(rollout) }),
        })),
    [lists],
  );
}

function useTaskItems(): readonly Item[] {
  const { value: tasks = [] } = useQuery(tasksQuery);
  return useMemo(
    () =>
      tasks.map((task) => ({
        key: task.path,
        group: "Tasks",
        glyph: "tasks",
        title: taskWords(task.name),
        about: task.family ?? task.path,
        disabled: false,
        end: null,
        run: () => {
          useTaskSelection.setState({ path: task.path });
          openScreen("tasks");
        },
      })),
    [tasks],
  );
}

function Marked({ text, query }: { readonly text: string; readonly query: string }) {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [from, to] of coveredRanges(text, query)) {
    parts.push(text.slice(at, from));
    parts.push(
      <mark key={from} className="bg-transparent font-strong text-inherit underline decoration-accent decoration-2 underline-offset-3">
        {text.slice(from, to)}
      </mark>,
    );
    at = to;
  }
  return (
    <>
      {parts}
      {text.slice(at)}
    </>
  );
}

/** One field for commands, rollouts and tasks. The keyboard stays in the field; the list follows. */
export function Palette({ start }: { readonly start: string }) {
  const [text, setText] = useState(start);
  const [current, setCurrent] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const listId = useId();
  const kind: Kind = kinds.find((each) => each.prefix !== "" && text.startsWith(each.prefix)) ?? kinds[0];
  const query = text.slice(kind.prefix.length).trim();
  const groups = [useCommandItems(), useRolloutItems(), useTaskItems()];
  const most = kind.name === "All" ? shownPerGroup : 60;
  const items = groups.flatMap((group) => (kind.name === "All" || group[0]?.group === kind.name ? ranked(group, query, most) : []));
  const active = items[Math.min(current, items.length - 1)];

  const take = (item: Item | undefined): void => {
    if (item === undefined || item.disabled) return;
    closeOverlay();
    // After the dialog has given the focus back: what runs may open another one.
    setTimeout(item.run, 0);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter") take(active);
    if (step === 0 || items.length === 0) return;
    event.preventDefault();
    const next = (current + step + items.length) % items.length;
    setCurrent(next);
    document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: "nearest" });
  };
  const change = (value: string): void => {
    setText(value);
    setCurrent(0);
  };

  return (
    <Dialog.Root open onOpenChange={(open) => !open && closeOverlay()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-20 bg-scrim" />
        <Dialog.Popup
          initialFocus={field}
          aria-label="Command palette"
          className="fixed top-21 left-1/2 z-30 flex max-h-[calc(100vh-7rem)] w-180 max-w-[calc(100vw-3rem)] -translate-x-1/2 flex-col overflow-hidden rounded-4 border border-line-strong bg-raised shadow-3 outline-none"
        >
          <div className="flex h-12 flex-none items-center gap-2.5 border-b border-line px-3.5">
            <Icon name="search" className="text-muted" />
            <input
              ref={field}
              role="combobox"
              aria-expanded
              aria-controls={listId}
              aria-activedescendant={active === undefined ? undefined : `${listId}-${items.indexOf(active)}`}
              aria-label="Search rollouts, tasks and commands"
              value={text}
              onChange={(event) => change(event.target.value)}
              onKeyDown={onKeyDown}
              className="min-w-0 flex-1 bg-transparent text-[0.9375rem] focus-visible:outline-none"
            />
            <span className="text-2xs text-muted tabular-nums">{items.length} results</span>
            <KeyCaps value="Esc" />
          </div>
          <div className="flex flex-none gap-1 border-b border-line px-2.5 py-1.75 text-xs text-secondary">
            {kinds.map((each) => (
              <button
                key={each.name}
                type="button"
                tabIndex={-1}
                onClick={() => {
                  change(each.prefix + query);
                  field.current?.focus();
                }}
                className={`flex items-center gap-1.5 rounded-2 px-2 py-0.5 ${each === kind ? "bg-selected-idle font-medium text-fg" : "hover:bg-hover"}`}
              >
                {each.name}
                {each.prefix !== "" && <KeyCaps value={each.prefix.trim()} />}
              </button>
            ))}
          </div>
          <div id={listId} role="listbox" aria-label="Results" tabIndex={-1} className="min-h-0 flex-1 overflow-auto px-1.5 pt-1 pb-1.5">
            {items.map((item, index) => (
              <div key={`${item.group}/${item.key}`}>
                {items[index - 1]?.group !== item.group && <div className="px-2 pt-2 pb-0.75 text-2xs font-medium text-muted">{item.group}</div>}
                {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard is in the field, which drives this list */}
                <div
                  id={`${listId}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={item === active}
                  aria-disabled={item.disabled}
                  onPointerMove={() => setCurrent(index)}
                  onClick={() => take(item)}
                  className={`flex h-7.5 items-center gap-2.25 rounded-2 px-2 text-xs ${item.disabled ? "text-disabled" : ""} ${item === active ? "bg-selected shadow-[inset_2px_0_var(--of-accent)]" : ""}`}
                >
                  <Icon name={item.glyph} size={0.875} className={item.disabled ? "" : item === active ? "text-accent" : "text-muted"} />
                  <span className="max-w-[60%] flex-none truncate">
                    <Marked text={item.title} query={item.disabled ? "" : query} />
                  </span>
                  <span className={`min-w-0 flex-1 truncate ${item.disabled ? "" : "text-muted"}`}>{item.about}</span>
                  {item.end}
                </div>
              </div>
            ))}
            {items.length === 0 && <p className="m-0 p-3 text-xs text-muted">Nothing has all of these words.</p>}
          </div>
          <footer className="flex flex-none gap-4 border-t border-line bg-header px-3.5 py-2 text-2xs text-muted">
            <span className="flex items-center gap-1">
              <KeyCaps value="Up" />
              <KeyCaps value="Down" /> choose
            </span>
            <span className="flex items-center gap-1">
              <KeyCaps value="Enter" /> run
            </span>
          </footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
