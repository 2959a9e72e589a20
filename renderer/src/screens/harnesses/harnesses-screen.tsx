import { useState } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Button } from "../../parts/button.tsx";
import { Chip } from "../../parts/chip.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Facts, Pane, PaneHeader, PaneTitle, Section } from "../../parts/pane.tsx";
import { Boundary, Empty, Ready } from "../../parts/states.tsx";
import { WorkLines } from "../../parts/work-lines.tsx";
import { startWork, stopWork, useLongWork } from "../../service/long-work.ts";
import { invalidate } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { type HarnessView, harnessesQuery } from "../../service/views.ts";
import { openOverlay } from "../../state/overlays.ts";
import { moment } from "../../words/times.ts";

const prefixWords: Record<HarnessView["prefix"], string> = {
  exact: "each request begins with the one before",
  "after-normalising": "each request begins with the one before, after normalising",
  no: "requests do not grow from each other",
};

/** Where an installation comes from, by the manifest's word for it. */
const sourceWords: Readonly<Record<string, string>> = {
  bundled: "ships with the workbench and is copied",
  npm: "is fetched from npm",
  pip: "is fetched from PyPI",
  cargo: "is built from crates.io",
};

function ProbeChip({ harness }: { readonly harness: HarnessView }) {
  if (!harness.installed)
    return (
      <Chip tone="neutral" glyph="queued">
        not installed
      </Chip>
    );
  if (harness.lastProbe === null)
    return (
      <Chip tone="neutral" glyph="queued">
        not probed
      </Chip>
    );
  return harness.lastProbe.ok ? (
    <Chip tone="success" glyph="ok">
      call arrives
    </Chip>
  ) : (
    <Chip tone="infra" glyph="infra" cause={harness.lastProbe.detail}>
      no call
    </Chip>
  );
}

const columns =
  "grid grid-cols-[minmax(10rem,1.2fr)_6rem_7rem_8rem_9rem_12rem] items-center gap-2 px-3 narrow:grid-cols-[minmax(8rem,1fr)_6rem_8rem_10rem] slim:grid-cols-[minmax(8rem,1fr)_10rem]";

function Row({ harness, active, onChoose }: { readonly harness: HarnessView; readonly active: boolean; readonly onChoose: () => void }) {
  return (
    <button
      type="button"
      aria-current={active}
      data-harness={harness.id}
      onClick={onChoose}
      className={`focus-inside ${columns} h-row w-full border-b border-line text-left text-xs ${active ? "bg-selected-idle" : "hover:bg-hover"}`}
    >
      <span className="flex min-w-0 items-center gap-2">
        <b className="font-medium">{harness.name}</b>
        <span className="truncate text-muted">{harness.id}</span>
      </span>
      <span className="tabular-nums slim:hidden">{harness.version}</span>
      <span className="truncate narrow:hidden">{harness.licence}</span>
      <span className="truncate slim:hidden">{harness.dialects.join(", ")}</span>
      <span className="truncate text-secondary narrow:hidden">{harness.prefix}</span>
      <span className="flex min-w-0">
        <ProbeChip harness={harness} />
      </span>
    </button>
  );
}

/** Install and probe run on when another harness is looked at; their lines stay. */
function Bench({ harness }: { readonly harness: HarnessView }) {
  const [sandbox, setSandbox] = useState<"local" | "docker">("local");
  const installKey = `install:${harness.id}`;
  const probeKey = `probe:${harness.id}`;
  const installing = useLongWork<HarnessView>(installKey);
  const probing = useLongWork<HarnessView>(probeKey);
  const install = async (): Promise<void> => {
    await startWork(installKey, (client, signal) => client.harnesses.install({ id: harness.id }, { signal }));
    invalidate("harnesses");
  };
  const probe = async (): Promise<void> => {
    await startWork(probeKey, (client, signal) => client.harnesses.probe({ id: harness.id, sandbox }, { signal }));
    invalidate("harnesses");
  };
  useCommands({ "harnesses.install": () => void install(), "harnesses.probe": () => void probe() });
  return (
    <>
      <Section title="Install" aside={harness.installed ? "installed" : "not installed"}>
        <p className="mt-0 mb-2 text-xs text-secondary">
          {harness.name} {harness.version} {sourceWords[harness.install] ?? `comes by ${harness.install}`}, into a cache of its own; nothing else on
          this computer changes.
        </p>
        <Button
          glyph="download"
          keyShown="i"
          onClick={() => void install()}
          disabledBecause={installing.status === "running" ? "Being installed" : null}
          look={harness.installed ? "plain" : "primary"}
        >
          {harness.installed ? "Install again" : "Install"}
        </Button>
        <WorkLines work={installing} onStop={() => stopWork(installKey)} done={`${harness.name} is installed.`} />
      </Section>
      <Section title="Capture check" aside={harness.lastProbe === null ? "never" : moment(harness.lastProbe.at)}>
        <p className="mt-0 mb-2 text-xs text-secondary">
          Starts the harness in a sandbox and looks whether a call arrives at the proxy.
          {harness.lastProbe !== null && (
            <>
              {" "}
              Last time: <b>{harness.lastProbe.detail}</b>
              {harness.lastProbe.capture === null ? "" : `, ${harness.lastProbe.capture}`}.
            </>
          )}
        </p>
        <div className="flex flex-wrap items-center gap-2">
          <Button
            glyph="harness"
            keyShown="p"
            onClick={() => void probe()}
            disabledBecause={probing.status === "running" ? "Being probed" : null}
            look={harness.installed ? "primary" : "plain"}
          >
            Probe
          </Button>
          <Segmented
            label="Sandbox"
            value={sandbox}
            onChange={setSandbox}
            options={[
              { value: "local", label: "Local" },
              { value: "docker", label: "Docker" },
            ]}
          />
        </div>
        <WorkLines
          work={probing}
          onStop={() => stopWork(probeKey)}
          done={probing.result?.lastProbe?.detail ?? null}
          failed={probing.result?.lastProbe?.ok === false}
        />
      </Section>
      <Section title="Run it">
        <Button glyph="plus" onClick={() => openOverlay({ kind: "new-experiment", harnesses: [harness.id] })}>
          New experiment with {harness.id}…
        </Button>
      </Section>
    </>
  );
}

function OneHarness({ harness }: { readonly harness: HarnessView }) {
  return (
    <>
      <PaneHeader>
        <PaneTitle>{harness.name}</PaneTitle>
        <span className="text-muted">{harness.version}</span>
      </PaneHeader>
      <div className="min-h-0 flex-1 overflow-auto">
        <Section>
          <p className="mt-0 mb-3 text-xs leading-[1.0625rem]">{harness.summary}</p>
          <Facts
            rows={[
              ["Licence", harness.licence],
              ["Dialects", harness.dialects.length === 0 ? null : harness.dialects.join(", ")],
              ["Prefix", prefixWords[harness.prefix]],
              ["Runs as", harness.resident ? "resident: one process for many rollouts" : "one process a rollout"],
            ]}
          />
        </Section>
        <Bench harness={harness} />
      </div>
    </>
  );
}

/** The catalogue: what runs unmodified here, and whether its calls arrive. */
export function HarnessesScreen() {
  const state = useQuery(harnessesQuery);
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Ready state={state} reading="Reading the catalogue">
      {(harnesses) => {
        const open = harnesses.find((harness) => harness.id === chosen) ?? harnesses[0];
        if (open === undefined)
          return <Empty title="No harness manifests" text="A manifest (YAML) in resources/harnesses or in the data folder makes a harness." />;
        return (
          <div className="flex min-h-0 flex-1">
            <h1 className="sr-only">Harnesses</h1>
            <Pane label="Harnesses" className="flex-1">
              <div className={`${columns} h-row-header flex-none border-b border-line bg-header text-2xs font-medium text-muted`}>
                <span>Harness</span>
                <span className="slim:hidden">Version</span>
                <span className="narrow:hidden">Licence</span>
                <span className="slim:hidden">Dialects</span>
                <span className="narrow:hidden">Prefix</span>
                <span>Capture check</span>
              </div>
              <div className="min-h-0 flex-1 overflow-auto">
                {harnesses.map((harness) => (
                  <Row key={harness.id} harness={harness} active={harness === open} onChoose={() => setChosen(harness.id)} />
                ))}
              </div>
            </Pane>
            <Pane label="Harness" className="w-94 flex-none border-l border-line slim:w-72">
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
