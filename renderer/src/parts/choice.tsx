import { Tabs } from "@base-ui/react/tabs";
import { Toggle } from "@base-ui/react/toggle";
import { ToggleGroup } from "@base-ui/react/toggle-group";
import type { ReactNode } from "react";
import { count } from "../words/numbers.ts";

interface Option<V extends string> {
  readonly value: V;
  readonly label: string;
  readonly disabledBecause?: string | null;
}

interface SegmentedProps<V extends string> {
  readonly label: string;
  readonly value: V;
  readonly options: readonly Option<V>[];
  readonly onChange: (value: V) => void;
  readonly small?: boolean;
}

/** One of a few, all visible. */
export function Segmented<V extends string>({ label, value, options, onChange, small = false }: SegmentedProps<V>) {
  return (
    <ToggleGroup
      aria-label={label}
      value={[value]}
      onValueChange={([next]) => {
        const chosen = options.find((option) => option.value === next);
        if (chosen !== undefined) onChange(chosen.value);
      }}
      className={`inline-flex flex-none justify-self-start overflow-hidden rounded-2 border border-line-strong bg-raised ${small ? "h-control-small" : "h-control"}`}
    >
      {options.map((option) => (
        <Toggle
          key={option.value}
          value={option.value}
          disabled={(option.disabledBecause ?? null) !== null}
          title={option.disabledBecause ?? undefined}
          className={`focus-inside border-r border-line text-secondary last:border-r-0 hover:bg-hover disabled:text-disabled disabled:hover:bg-transparent data-[pressed]:bg-selected data-[pressed]:font-strong data-[pressed]:text-accent ${small ? "px-2 text-2xs" : "px-2.5 text-xs"}`}
        >
          {option.label}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}

interface PaneTabsProps<V extends string> {
  readonly label: string;
  readonly value: V;
  readonly tabs: readonly { readonly value: V; readonly label: string; readonly count?: number | null }[];
  readonly onChange: (value: V) => void;
}

/** Tabs inside a pane header: the active one has its line below. */
export function PaneTabs<V extends string>({ label, value, tabs, onChange }: PaneTabsProps<V>) {
  return (
    <Tabs.Root value={value} onValueChange={(next: V) => onChange(next)} className="flex self-stretch">
      <Tabs.List aria-label={label} className="flex gap-0.5" activateOnFocus>
        {tabs.map((tab) => (
          <Tabs.Tab
            key={tab.value}
            value={tab.value}
            className="focus-inside flex items-center gap-1.25 border-y-2 border-transparent px-2 text-xs text-secondary hover:text-fg data-[active]:border-b-accent data-[active]:font-strong data-[active]:text-fg"
          >
            {tab.label}
            {tab.count !== undefined && tab.count !== null && (
              <span className="text-2xs font-normal text-muted tabular-nums">{count(tab.count)}</span>
            )}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs.Root>
  );
}

interface CheckRowProps {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children: ReactNode;
  readonly disabledBecause?: string | null;
}

/** A box with its words; the whole row is the target. */
export function CheckRow({ checked, onChange, children, disabledBecause = null }: CheckRowProps) {
  return (
    <label
      className={`flex h-6.5 items-center gap-2 rounded-2 px-1.5 text-xs ${disabledBecause === null ? "hover:bg-hover" : "text-disabled"}`}
      title={disabledBecause ?? undefined}
    >
      <input
        type="checkbox"
        className="checkbox"
        checked={checked}
        disabled={disabledBecause !== null}
        onChange={(event) => onChange(event.target.checked)}
      />
      {children}
    </label>
  );
}

interface RadioRowProps {
  /** Of the group. */
  readonly name: string;
  readonly checked: boolean;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}

/** One of several with its words; the whole row is the target. */
export function RadioRow({ name, checked, onChoose, children }: RadioRowProps) {
  return (
    <label className={`flex h-6.5 items-center gap-2 rounded-2 px-1.5 text-xs ${checked ? "bg-selected" : "hover:bg-hover"}`}>
      <input type="radio" className="checkbox radio" name={name} checked={checked} onChange={onChoose} />
      {children}
    </label>
  );
}
