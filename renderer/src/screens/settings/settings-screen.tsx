import { type ReactNode, useState } from "react";
import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Facts, Pane } from "../../parts/pane.tsx";
import { FailureNote, Note, Ready } from "../../parts/states.tsx";
import { presentClient, useConnection } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { doctorQuery, type PolicyView, policiesQuery } from "../../service/views.ts";
import { type Appearance, useAppearance } from "../../state/appearance.ts";
import { notifyFailure } from "../../state/notices.ts";
import { openOverlay } from "../../state/overlays.ts";
import { bytes } from "../../words/numbers.ts";

function Part({ title, about, children }: { readonly title: string; readonly about?: ReactNode; readonly children: ReactNode }) {
  return (
    <section className="mb-7">
      <h2 className="m-0 flex items-baseline gap-2 border-b border-line-strong pb-1.25 text-sm font-strong">
        {title}
        {about !== undefined && <span className="text-2xs font-normal text-muted">{about}</span>}
      </h2>
      <div className="pt-2.5">{children}</div>
    </section>
  );
}

const line = "grid grid-cols-[6rem_auto] items-center justify-start gap-x-2.5 gap-y-2 text-xs";

function Looks() {
  const { theme, contrast, density } = useAppearance();
  const set = (change: Partial<Appearance>): void => useAppearance.setState(change);
  return (
    <div className={line}>
      <span className="text-secondary">Theme</span>
      <Segmented
        label="Theme"
        value={theme}
        onChange={(next) => set({ theme: next })}
        options={[
          { value: "system", label: "System" },
          { value: "light", label: "Light" },
          { value: "dark", label: "Dark" },
        ]}
      />
      <span className="text-secondary">Contrast</span>
      <Segmented
        label="Contrast"
        value={contrast}
        onChange={(next) => set({ contrast: next })}
        options={[
          { value: "system", label: "System" },
          { value: "normal", label: "Normal" },
          { value: "more", label: "High" },
        ]}
      />
      <span className="text-secondary">Density</span>
      <Segmented
        label="Density"
        value={density}
        onChange={(next) => set({ density: next })}
        options={[
          { value: "compact", label: "Compact" },
          { value: "regular", label: "Regular" },
          { value: "comfortable", label: "Comfortable" },
        ]}
      />
    </div>
  );
}

function PolicyRow({ policy }: { readonly policy: PolicyView }) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ readonly failure: Failure } | { readonly lost: readonly string[] } | null>(null);
  const probe = async (): Promise<void> => {
    setBusy(true);
    try {
      const { lost } = await presentClient().policies.probe({ id: policy.id });
      setSaid({ lost });
      invalidate("policies");
    } catch (error) {
      setSaid({ failure: asFailure(error) });
    }
    setBusy(false);
  };
  const remove = (): void =>
    openOverlay({
      kind: "question",
      title: `Remove ${policy.id}`,
      text: "The endpoint leaves the list. Rollouts that it answered stay as they are.",
      verb: "Remove endpoint",
      run: () =>
        void presentClient()
          .policies.remove({ id: policy.id })
          .then(() => invalidate("policies"))
          .catch(notifyFailure),
    });
  return (
    <div className="border-b border-line">
      <div className="group grid h-8 grid-cols-[minmax(8rem,1fr)_9rem_minmax(10rem,1.4fr)_7rem_10.5rem] items-center gap-2 text-xs slim:grid-cols-[minmax(0,1fr)_7rem_10.5rem]">
        <b className="truncate font-medium">{policy.id}</b>
        <span className="text-secondary slim:hidden">{policy.kind}</span>
        <code className="truncate text-muted slim:hidden" title={policy.address}>
          {policy.address}
        </code>
        <span className={policy.capture === null ? "text-muted" : ""}>{policy.capture ?? "not probed"}</span>
        <span className="flex justify-end gap-1.5">
          <Button small onClick={() => void probe()} disabledBecause={busy ? "Being probed" : null}>
            Probe
          </Button>
          <Button small look="ghost" onClick={remove} disabledBecause={policy.builtIn ? "Comes with the workbench" : null}>
            Remove…
          </Button>
        </span>
      </div>
      {said !== null && (
        <div className="pb-2">
          {"failure" in said ? (
            <FailureNote failure={said.failure} />
          ) : said.lost.length === 0 ? (
            <Note look="plain">It answers, and gives {policy.capture ?? "nothing"}.</Note>
          ) : (
            <Note look="warn">It answers. On the way lost: {said.lost.join(", ")}.</Note>
          )}
        </div>
      )}
    </div>
  );
}

function Policies() {
  const state = useQuery(policiesQuery);
  return (
    <Ready state={state} reading="Reading the endpoints">
      {(policies) => (
        <>
          {policies.map((policy) => (
            <PolicyRow key={policy.id} policy={policy} />
          ))}
          <div className="mt-2.5">
            <Button small onClick={() => runCommand(commandById("policy.add"))}>
              Add an endpoint…
            </Button>
          </div>
        </>
      )}
    </Ready>
  );
}

const inks = { ready: "text-success", degraded: "text-paused", missing: "text-muted" } as const;

function Computer() {
  const state = useQuery(doctorQuery);
  return (
    <>
      <Ready state={state} reading="Looking at this computer">
        {(rows) => (
          <div>
            {rows.map((row) => (
              <div key={row.name} className="grid grid-cols-[9rem_5rem_minmax(0,1fr)] gap-2 border-b border-line py-1.5 text-xs">
                <b className="font-medium">{row.name}</b>
                <span className={inks[row.status]}>{row.status}</span>
                <span className="text-secondary">
                  {row.detail}
                  {row.remedy !== null && <span className="block text-2xs text-muted">{row.remedy}</span>}
                </span>
              </div>
            ))}
          </div>
        )}
      </Ready>
      <div className="mt-2.5">
        <Button small look="ghost" glyph="refresh" onClick={() => runCommand(commandById("doctor.check"))}>
          Check again
        </Button>
      </div>
    </>
  );
}

function StoreCheck() {
  const [result, setResult] = useState<string | Failure | null>(null);
  const check = async (): Promise<void> => {
    setResult("Every record is read; this can take a while.");
    try {
      const problems = await presentClient().system.checkStore();
      setResult(
        problems.length === 0
          ? "The store is whole."
          : problems.map((problem) => `${problem.where}: ${problem.message}${problem.repaired ? " (repaired)" : ""}`).join("\n"),
      );
    } catch (error) {
      setResult(asFailure(error));
    }
  };
  return (
    <div className="mt-3 grid gap-2">
      <span>
        <Button small onClick={() => void check()}>
          Check the store
        </Button>
      </span>
      {typeof result === "string" && (
        <Note look="plain">
          <span className="whitespace-pre-wrap">{result}</span>
        </Note>
      )}
      {result !== null && typeof result === "object" && <FailureNote failure={result} />}
    </div>
  );
}

export function SettingsScreen() {
  const info = useConnection((state) => state.info);
  return (
    <Pane label="Settings" className="flex-1">
      <div className="min-h-0 flex-1 overflow-auto">
        <div className="mx-auto w-full max-w-[54rem] px-6 pt-5 pb-4">
          <h1 className="mt-0 mb-4 text-lg font-strong tracking-[-0.011em]">Settings</h1>
          <Part title="Appearance">
            <Looks />
          </Part>
          <Part title="Policies" about="what answers model calls">
            <Policies />
          </Part>
          <Part title="This computer">
            <Computer />
          </Part>
          <Part title="Store">
            {info !== null && (
              <Facts
                labelWidth="8rem"
                rows={[
                  [
                    "Data folder",
                    <code key="folder" className="break-all">
                      {info.dataFolder}
                    </code>,
                  ],
                  ["Database", bytes(info.databaseBytes)],
                  ["Recordings", bytes(info.packBytes)],
                  ["Proxy", info.proxyAddress],
                  ["Version", `${info.version}, Node ${info.node.replace(/^v/, "")}, ${info.platform}`],
                ]}
              />
            )}
            <StoreCheck />
          </Part>
        </div>
      </div>
    </Pane>
  );
}
