import { type ReactNode, useState } from "react";
import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Facts, Pane } from "../../parts/pane.tsx";
import { FailureNote, Note, Ready } from "../../parts/states.tsx";
import { presentClient, useConnection } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { useQuery } from "../../service/use-query.ts";
import { doctorQuery } from "../../service/views.ts";
import { type Appearance, useAppearance } from "../../state/appearance.ts";
import { bytes } from "../../words/numbers.ts";
import { Policies } from "./policies.tsx";

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
