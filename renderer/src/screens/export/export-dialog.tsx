import { useEffect, useState } from "react";
import { startDialogWork } from "../../actions/dialog-work.ts";
import { copyText } from "../../actions/links.ts";
import { Button } from "../../parts/button.tsx";
import { CheckRow, RadioRow, Segmented } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field } from "../../parts/field.tsx";
import { Facts } from "../../parts/pane.tsx";
import { PathInput } from "../../parts/path-input.tsx";
import { Note } from "../../parts/states.tsx";
import { WorkLines } from "../../parts/work-lines.tsx";
import { useConnection } from "../../service/connection.ts";
import { forgetWork, stopWork, useLongWork } from "../../service/long-work.ts";
import type { ExportReport } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { bytes } from "../../words/numbers.ts";
import { isWholePath } from "../../words/paths.ts";
import { defaultTarget, type ExportFormat, type ExportSubject, estimators, formatOf, formats, targetName } from "./formats.ts";

const key = "export";

/** What was written, what is not in it and why. */
function Written({ report }: { readonly report: ExportReport }) {
  return (
    <div className="grid gap-2">
      <Note look="info">
        <b>
          {report.count} {report.unit} written, {bytes(report.bytes)}.
        </b>
        <span className="mt-1 flex items-center gap-2">
          <code className="min-w-0 break-all">{report.path}</code>
          <Button small onClick={() => void copyText(report.path, "Path")}>
            Copy path
          </Button>
        </span>
        {report.notes.map((note) => (
          <span key={note} className="mt-1 block">
            {note}
          </span>
        ))}
      </Note>
      {report.leftOut.length > 0 && (
        <Note look="plain">
          <b>Left out</b>
          <Facts labelWidth="3rem" rows={report.leftOut.map(({ reason, count }) => [`${count} ×`, reason] as const)} />
        </Note>
      )}
    </div>
  );
}

interface FormatsProps {
  readonly value: ExportFormat;
  readonly onChange: (format: ExportFormat) => void;
}

function Formats({ value, onChange }: FormatsProps) {
  return (
    <fieldset className="m-0 min-w-0 border-0 p-0">
      <legend className="mb-1 w-full border-b border-line-strong p-0 pb-1.25 text-xs font-strong">Format</legend>
      {formats.map((format) => (
        <RadioRow key={format.value} name="format" checked={format.value === value} onChoose={() => onChange(format.value)}>
          <span className="w-20 flex-none font-medium">{format.title}</span>
          <span className="min-w-0 flex-1 truncate text-muted" title={format.about}>
            {format.about}
          </span>
        </RadioRow>
      ))}
    </fieldset>
  );
}

/** Writes what was recorded as files that other tools read, on the machine of the service. */
export function ExportDialog({ subjects }: { readonly subjects: readonly [ExportSubject, ...ExportSubject[]] }) {
  const dataFolder = useConnection((state) => state.info?.dataFolder ?? "");
  const [id, setId] = useState(subjects[0].id);
  const subject = subjects.find((each) => each.id === id) ?? subjects[0];
  const [format, setFormat] = useState<ExportFormat>("html");
  const [typed, setTyped] = useState<string | null>(null);
  const [force, setForce] = useState(false);
  const [all, setAll] = useState(false);
  const [algorithm, setAlgorithm] = useState<string>("grpo");
  const work = useLongWork<ExportReport>(key);
  useEffect(() => forgetWork(key), []);
  const { rows } = formatOf(format);
  const path = typed ?? defaultTarget(dataFolder, subject, format);
  const mistake = isWholePath(path) ? null : "A whole path, for example /home/ada/exports/rows.parquet.";
  const running = work.status === "running";

  const write = async (): Promise<void> => {
    if (mistake !== null || running) return;
    await startDialogWork<ExportReport>({
      key,
      begin: (client, signal) => client.exports.write({ id: subject.id, format, path, force, algorithm, all }, { signal }),
      isShown: (open) => open.kind === "export",
      news: ({ count, unit, path: written }) => ({
        title: `${count} ${unit} written`,
        text: written,
        action: { verb: "Copy path", run: () => void copyText(written, "Path") },
      }),
    });
  };

  return (
    <Dialog
      title={`Export ${subjects[0].label}`}
      width="40rem"
      footer={
        <>
          <span className="text-2xs text-muted">Whole or not at all: a failed export leaves nothing behind.</span>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Close
          </Button>
          <Button look="primary" onClick={() => void write()} disabledBecause={running ? "Being written" : null}>
            Export
          </Button>
        </>
      }
    >
      <DialogForm onSubmit={() => void write()} gap="gap-3.5">
        {subjects.length > 1 && (
          <Field label="What">
            {() => <Segmented label="What" value={id} onChange={setId} options={subjects.map((each) => ({ value: each.id, label: each.about }))} />}
          </Field>
        )}
        <Formats value={format} onChange={setFormat} />
        {rows === "supervised" && (
          <CheckRow checked={all} onChange={setAll}>
            Failed rollouts too <span className="text-muted">without it: only those that succeeded</span>
          </CheckRow>
        )}
        {rows === "reward" && subject.kind !== "run" && (
          <Field label="Advantages" about="as this algorithm gives them">
            {(ids) => (
              <select {...ids} className="control w-52 flex-none" value={algorithm} onChange={(event) => setAlgorithm(event.target.value)}>
                {estimators.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        {rows === "reward" && subject.kind === "run" && (
          <p className="m-0 text-2xs text-muted">Rows carry the masks and advantages that the run's own updates used.</p>
        )}
        <Field label="Path" error={mistake}>
          {(ids) => (
            <PathInput {...ids} value={path} onPath={setTyped} choose="folder" within={(folder) => `${folder}/${targetName(subject, format)}`} />
          )}
        </Field>
        <CheckRow checked={force} onChange={setForce}>
          Replace what is there <span className="text-muted">a folder only when an export has written it</span>
        </CheckRow>
        <WorkLines work={work} onStop={() => stopWork(key)} done={null} inForm>
          {work.result !== null && <Written report={work.result} />}
        </WorkLines>
      </DialogForm>
    </Dialog>
  );
}
