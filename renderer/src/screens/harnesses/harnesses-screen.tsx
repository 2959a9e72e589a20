import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Chip } from "../../parts/chip.tsx";
import { Pane, PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { Boundary, Empty, Ready } from "../../parts/states.tsx";
import { WalkedList, walkedItem } from "../../parts/walked-list.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type HarnessView, harnessesQuery } from "../../service/views.ts";
import { useHarnessSelection } from "../../state/harness-selection.ts";
import { prefixShort, prefixWords, runtimeWords } from "../../words/harnesses.ts";
import { OneHarness } from "./one-harness.tsx";

function ProbeChip({ harness }: { readonly harness: HarnessView }) {
  if (harness.fault !== null)
    return (
      <Chip tone="failed" glyph="fail">
        manifest faulty
      </Chip>
    );
  if (harness.lastProbe !== null)
    return harness.lastProbe.ok ? (
      <Chip tone="success" glyph="ok" cause={harness.lastProbe.capture}>
        call arrives
      </Chip>
    ) : (
      <Chip tone="infra" glyph="infra" cause={harness.lastProbe.detail}>
        no call
      </Chip>
    );
  return (
    <Chip tone="neutral" glyph="queued">
      {harness.installed ? "not probed" : "not installed"}
    </Chip>
  );
}

const columns =
  "grid grid-cols-[minmax(11.5rem,1.4fr)_4.5rem_minmax(4.5rem,0.6fr)_minmax(4.5rem,0.6fr)_minmax(4.5rem,1fr)_6.25rem_minmax(8rem,1fr)] items-center gap-2 px-3 narrow:grid-cols-[minmax(8rem,1fr)_5rem_7rem_10rem] slim:grid-cols-[minmax(8rem,1fr)_9rem]";

/** A licence's name; who ships it, and how, is in the details. */
const licenceName = (licence: string): string => licence.split(/[;(]/)[0]?.trim() ?? licence;

function Row({ harness, active, onChoose }: { readonly harness: HarnessView; readonly active: boolean; readonly onChoose: () => void }) {
  return (
    <button
      type="button"
      aria-current={active}
      data-harness={harness.id}
      {...walkedItem(active)}
      onClick={onChoose}
      className={`focus-inside ${columns} h-row w-full border-b border-line text-left text-xs ${active ? "bg-selected-idle" : "hover:bg-hover"}`}
    >
      <span className="flex min-w-0 items-center gap-2">
        <b className="max-w-[70%] flex-none truncate font-medium" title={harness.name}>
          {harness.name}
        </b>
        {harness.id !== harness.name && <span className="truncate text-muted">{harness.id}</span>}
      </span>
      <span className="truncate tabular-nums slim:hidden">{harness.version}</span>
      <span className="truncate narrow:hidden" title={harness.licence}>
        {licenceName(harness.licence)}
      </span>
      <span className="truncate slim:hidden" title={harness.dialects.join(", ")}>
        {harness.dialects.join(", ")}
      </span>
      <span className="truncate text-secondary narrow:hidden" title={runtimeWords(harness.needs)}>
        {runtimeWords(harness.needs)}
      </span>
      <span className="truncate text-secondary narrow:hidden" title={prefixWords[harness.prefix]}>
        {prefixShort[harness.prefix]}
      </span>
      <span className="flex min-w-0">
        <ProbeChip harness={harness} />
      </span>
    </button>
  );
}

interface CatalogueProps {
  readonly harnesses: readonly HarnessView[];
  readonly open: HarnessView;
  readonly onChoose: (id: string) => void;
}

function Catalogue({ harnesses, open, onChoose }: CatalogueProps) {
  return (
    <Pane label="Harnesses" className="flex-1">
      <PaneHeader>
        <PaneTitle>Harnesses</PaneTitle>
        <span className="text-muted tabular-nums">{harnesses.length}</span>
        <span className="flex-1" />
        <IconButton glyph="plus" label="New harness…" onClick={() => runCommand(commandById("harness.new"))} />
      </PaneHeader>
      <div className={`${columns} h-row-header flex-none border-b border-line bg-header text-2xs font-medium text-muted`}>
        <span>Harness</span>
        <span className="slim:hidden">Version</span>
        <span className="narrow:hidden">Licence</span>
        <span className="slim:hidden">Dialects</span>
        <span className="narrow:hidden">Needs</span>
        <span className="narrow:hidden" title="Whether each request begins with the one before and its answer, token for token">
          Extends
        </span>
        <span>Capture check</span>
      </div>
      <WalkedList className="min-h-0 flex-1 overflow-auto" chooses>
        {harnesses.map((harness) => (
          <Row key={harness.id} harness={harness} active={harness === open} onChoose={() => onChoose(harness.id)} />
        ))}
      </WalkedList>
    </Pane>
  );
}

/** The catalogue: what runs unmodified here, and whether its calls arrive. */
export function HarnessesScreen() {
  const state = useQuery(harnessesQuery);
  const chosen = useHarnessSelection(({ id }) => id);
  return (
    <Ready state={state} reading="Reading the catalogue">
      {(harnesses) => {
        const open = harnesses.find((harness) => harness.id === chosen) ?? harnesses[0];
        if (open === undefined)
          return (
            <Empty title="No harness manifests" text="A manifest (YAML) makes a harness; no code is needed.">
              <Button onClick={() => runCommand(commandById("harness.new"))}>New harness…</Button>
            </Empty>
          );
        return (
          <div className="flex min-h-0 flex-1">
            <h1 className="sr-only">Harnesses</h1>
            <Catalogue harnesses={harnesses} open={open} onChoose={(id) => useHarnessSelection.setState({ id })} />
            <Pane label="Harness" className="w-94 flex-none border-l border-line narrow:w-84 slim:w-72">
              <Boundary key={open.id}>
                <OneHarness harness={open} />
              </Boundary>
            </Pane>
          </div>
        );
      }}
    </Ready>
  );
}
