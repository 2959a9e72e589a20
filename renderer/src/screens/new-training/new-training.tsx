import { useEffect, useState } from "react";
import { showTraining } from "../../actions/training.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { PathInput } from "../../parts/path-input.tsx";
import { FailureNote, Note } from "../../parts/states.tsx";
import { presentClient, useConnection } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { useQuery } from "../../service/use-query.ts";
import { type TrainingCheck, trainingsQuery } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { activePlace, useWorkspace } from "../../state/workspace.ts";
import { plural } from "../../words/numbers.ts";
import { RunFileEditor } from "./run-file-editor.tsx";
import { readSeeds } from "./seeds.ts";

const checkAfter = 400;

/** What a person begins with when there is no run to begin from. */
const firstFile = `name: my-run
base: starter
tasks:
  train: { starter: { count: 200, seed: 1 } }
  heldOut: { starter: { count: 40, seed: 2 } }
harnesses: [react]
stages:
  - kind: rl
    algorithm: grpo
    steps: 40
    tasks: 8
    group: 8
    rate: 0.0003
evaluation: { every: 20 }
`;

/** The file of the run that is open in Train: a new run is mostly an old one with a change. */
function useStartingFile(): string {
  const { value: runs = [] } = useQuery(trainingsQuery);
  const place = useWorkspace(activePlace);
  const open = place.kind === "train" ? (runs.find(({ id }) => id === place.id) ?? runs[0]) : undefined;
  return open?.file ?? firstFile;
}

/** The check of the text as it stands, a moment after the last key; the last answer stays until the next is there. */
function useCheck(yaml: string, folder: string): { readonly check: TrainingCheck | null; readonly failure: Failure | null } {
  const [answer, setAnswer] = useState<{ readonly check: TrainingCheck | null; readonly failure: Failure | null }>({ check: null, failure: null });
  useEffect(() => {
    const request = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const check = await presentClient().training.check({ yaml, folder }, { signal: request.signal });
        if (!request.signal.aborted) setAnswer({ check, failure: null });
      } catch (error) {
        if (!request.signal.aborted) setAnswer({ check: null, failure: asFailure(error) });
      }
    }, checkAfter);
    return () => {
      clearTimeout(timer);
      request.abort();
    };
  }, [yaml, folder]);
  return answer;
}

function Summary({ check, failure }: { readonly check: TrainingCheck | null; readonly failure: Failure | null }) {
  if (failure !== null) return <FailureNote failure={failure} />;
  if (check === null) return <p className="m-0 text-2xs text-muted">Checking the file…</p>;
  if (!check.valid) return <Note look="warn">{plural(check.faults.length, "fault")} to correct before it can start.</Note>;
  return (
    <Note look="info">
      {check.summary.map((line) => (
        <span key={line} className="block">
          {line}
        </span>
      ))}
    </Note>
  );
}

/** A training run is a text file: paste it, open it, correct it where the check points, start it once a seed. */
export function NewTraining() {
  const starting = useStartingFile();
  const [written, setWritten] = useState<string | null>(null);
  const yaml = written ?? starting;
  const dataFolder = useConnection((state) => state.info?.dataFolder ?? "/");
  const [folderText, setFolder] = useState("");
  const folder = folderText.trim() === "" ? dataFolder : folderText.trim();
  const [seedsText, setSeeds] = useState("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const { check, failure: checkFailure } = useCheck(yaml, folder);
  const seeds = readSeeds(seedsText);

  const openFile = (): void => {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".yaml,.yml,text/yaml";
    input.addEventListener("change", () => {
      const file = input.files?.[0];
      if (file !== undefined) void file.text().then(setWritten);
    });
    input.click();
  };
  const start = async (): Promise<void> => {
    if (!seeds.ok || check?.valid !== true) return;
    setBusy(true);
    setFailure(null);
    try {
      const client = presentClient();
      let id: string | null = null;
      for (const seed of seeds.seeds.length === 0 ? [undefined] : seeds.seeds) {
        const started = await client.training.start({ yaml, folder, ...(seed === undefined ? {} : { seed }) });
        id ??= started.id;
      }
      closeOverlay();
      if (id !== null) showTraining(id);
    } catch (error) {
      setFailure(asFailure(error));
    } finally {
      setBusy(false);
    }
  };

  const count = seeds.ok ? Math.max(1, seeds.seeds.length) : 1;
  return (
    <Dialog
      title="New training run"
      width="46rem"
      aside={
        <Button small glyph="folder" className="ml-auto" onClick={openFile}>
          Open a run file…
        </Button>
      }
      footer={
        <>
          <span className="text-2xs text-muted">{count > 1 ? `${count} runs will start, one a seed` : "One run will start"}</span>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Cancel
          </Button>
          <Button
            look="primary"
            glyph="play"
            disabledBecause={busy ? "It is being started" : check?.valid === true ? null : "The file has faults, or is still being checked"}
            onClick={() => void start()}
          >
            Start training
          </Button>
        </>
      }
    >
      <div className="grid gap-3 px-4.5 py-3.5">
        {failure !== null && <FailureNote failure={failure} />}
        <RunFileEditor value={yaml} onChange={setWritten} faults={check?.faults ?? []} />
        <Summary check={check} failure={checkFailure} />
        <div className="grid grid-cols-2 gap-4 slim:grid-cols-1">
          <Field label="Folder" stacked about="Paths in the file begin here.">
            {(ids) => <PathInput {...ids} value={folderText} onPath={setFolder} choose="folder" placeholder={dataFolder} />}
          </Field>
          <Field label="Seeds" stacked error={seeds.ok ? null : seeds.mistake} about="One run each; empty: the file's.">
            {(ids) => <TextInput {...ids} value={seedsText} placeholder="1, 2, 3" onChange={(event) => setSeeds(event.target.value)} />}
          </Field>
        </div>
      </div>
    </Dialog>
  );
}
