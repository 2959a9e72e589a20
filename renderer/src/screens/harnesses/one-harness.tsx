import { useState } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Facts, PaneHeader, PaneTitle, Section } from "../../parts/pane.tsx";
import { Note } from "../../parts/states.tsx";
import { WorkLines } from "../../parts/work-lines.tsx";
import { startWork, stopWork, useLongWork } from "../../service/long-work.ts";
import { invalidate } from "../../service/queries.ts";
import type { HarnessView } from "../../service/views.ts";
import { openOverlay } from "../../state/overlays.ts";
import { mcpWords, needRows, prefixWords, sourceWords } from "../../words/harnesses.ts";
import { count } from "../../words/numbers.ts";
import { moment, seconds } from "../../words/times.ts";

function Install({ harness }: { readonly harness: HarnessView }) {
  const key = `install:${harness.id}`;
  const work = useLongWork<HarnessView>(key);
  const install = async (): Promise<void> => {
    await startWork(key, (client, signal) => client.harnesses.install({ id: harness.id }, { signal }));
    invalidate("harnesses");
  };
  useCommands({ "harnesses.install": () => void install() });
  return (
    <Section title="Install" aside={harness.installed ? "installed" : "not installed"}>
      <p className="mt-0 mb-2 text-xs text-secondary">
        {harness.name} {harness.version} {sourceWords(harness.install)}, into a cache of its own; nothing else on this computer changes.
      </p>
      <Button
        glyph="download"
        keyShown="i"
        onClick={() => void install()}
        disabledBecause={work.status === "running" ? "Being installed" : null}
        look={harness.installed ? "plain" : "primary"}
      >
        {harness.installed ? "Install again" : "Install"}
      </Button>
      <WorkLines work={work} onStop={() => stopWork(key)} done={`${harness.name} is installed.`} />
    </Section>
  );
}

const extendsWords = { true: "yes, token for token", false: "no", null: "only one call came" } as const;

/** What was seen the last time: sentence, capture, growth, and where. */
function LastProbe({ harness }: { readonly harness: HarnessView }) {
  const probe = harness.lastProbe;
  if (probe === null) return null;
  const other = probe.version !== null && probe.version !== harness.version;
  return (
    <div className="mb-2.5 grid gap-2">
      <Note look={probe.ok ? "plain" : "bad"}>{probe.detail}</Note>
      {other && (
        <Note look="warn">
          It was probed at {probe.version}; the manifest names {harness.version} now. Probe it again.
        </Note>
      )}
      <Facts
        rows={[
          ["Captured", probe.capture],
          ["Extends", extendsWords[`${probe.extends}`]],
          ["Where", [probe.sandbox, probe.machine].filter((part) => part !== null).join(", ") || null],
          ["Took", probe.seconds === null ? null : seconds(probe.seconds)],
        ]}
      />
    </div>
  );
}

/** Install and probe run on when another harness is looked at; their lines stay. */
function Probe({ harness }: { readonly harness: HarnessView }) {
  const [sandbox, setSandbox] = useState<"local" | "docker">("local");
  const key = `probe:${harness.id}`;
  const work = useLongWork<HarnessView>(key);
  const probe = async (): Promise<void> => {
    await startWork(key, (client, signal) => client.harnesses.probe({ id: harness.id, sandbox }, { signal }));
    invalidate("harnesses");
  };
  useCommands({ "harnesses.probe": () => void probe() });
  return (
    <Section title="Capture check" aside={harness.lastProbe === null ? "never" : moment(harness.lastProbe.at)}>
      {harness.lastProbe === null && (
        <p className="mt-0 mb-2 text-xs text-secondary">Starts the harness in a sandbox and looks whether a call arrives at the proxy.</p>
      )}
      <LastProbe harness={harness} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          glyph="harness"
          keyShown="p"
          onClick={() => void probe()}
          disabledBecause={work.status === "running" ? "Being probed" : null}
          look={harness.installed ? "primary" : "plain"}
        >
          {harness.lastProbe === null ? "Probe" : "Probe again"}
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
      <WorkLines work={work} onStop={() => stopWork(key)} done={null} />
    </Section>
  );
}

const lackRows = ({ lacks }: HarnessView): readonly (readonly [string, string])[] => Object.entries(lacks).map(([what, why]) => [`No ${what}`, why]);

/** All that is known of a harness, and what can be done with it. */
export function OneHarness({ harness }: { readonly harness: HarnessView }) {
  return (
    <>
      <PaneHeader>
        <PaneTitle>{harness.name}</PaneTitle>
        <span className="text-muted">{harness.version}</span>
        <span className="flex-1" />
        {harness.homepage !== null && (
          <a href={harness.homepage} target="_blank" rel="noreferrer" className="truncate pr-1.5 text-link hover:underline" title={harness.homepage}>
            {new URL(harness.homepage).host}
          </a>
        )}
      </PaneHeader>
      <div className="min-h-0 flex-1 overflow-auto">
        {harness.fault !== null && (
          <Section>
            <Note look="bad">
              <b>Its manifest cannot be used.</b> {harness.fault}
            </Note>
          </Section>
        )}
        <Section>
          {harness.summary !== "" && <p className="mt-0 mb-3 text-xs leading-[1.0625rem]">{harness.summary}</p>}
          <Facts
            rows={[
              ["Licence", harness.licence],
              ["Dialects", harness.dialects.length === 0 ? null : harness.dialects.join(", ")],
              ["Extends", prefixWords[harness.prefix]],
              ["Runs as", harness.resident ? "one process for many rollouts" : "one process a rollout"],
              ["Tools of tasks", `MCP: ${mcpWords(harness)}; skills: ${harness.skills ? "yes" : "no"}`],
              ...lackRows(harness),
              ["Window", `${count(harness.contextWindow)} tokens, ${count(harness.maxTokens)} an answer`],
            ]}
          />
        </Section>
        <Section title="Needs">
          <Facts rows={needRows(harness)} />
        </Section>
        <Install harness={harness} />
        <Probe harness={harness} />
        <Section title="Run it">
          <Button glyph="plus" onClick={() => openOverlay({ kind: "new-experiment", harnesses: [harness.id] })}>
            New experiment with {harness.id}…
          </Button>
        </Section>
      </div>
    </>
  );
}
