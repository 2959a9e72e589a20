import { useEffect, useState } from "react";
import { startDialogWork } from "../../actions/dialog-work.ts";
import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button } from "../../parts/button.tsx";
import { CopyLine } from "../../parts/copy-line.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field, TextInput } from "../../parts/field.tsx";
import { Facts } from "../../parts/pane.tsx";
import { PathInput } from "../../parts/path-input.tsx";
import { Note } from "../../parts/states.tsx";
import { WorkLines } from "../../parts/work-lines.tsx";
import { forgetWork, stopWork, useLongWork } from "../../service/long-work.ts";
import { invalidate } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { type ImportedPolicyView, trainingsQuery } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { openScreen } from "../../state/workspace.ts";
import { count } from "../../words/numbers.ts";
import { trainedPolicies } from "../../words/policies.ts";
import { isGguf, type WeightsForm, weightsInput, weightsMistakes } from "./weights-form.ts";

const key = "import-weights";

/** The form and the work behind it; what was begun goes on when the dialog is closed. */
export function useWeightsImport() {
  const [form, setForm] = useState<WeightsForm>({ path: "", name: "" });
  const [tried, setTried] = useState(false);
  const work = useLongWork<ImportedPolicyView>(key);
  useEffect(() => forgetWork(key), []);
  const mistakes = weightsMistakes(form);
  const begin = async (): Promise<void> => {
    setTried(true);
    if (Object.keys(mistakes).length > 0 || work.status === "running") return;
    await startDialogWork<ImportedPolicyView>({
      key,
      begin: (client, signal) => client.policies.import(weightsInput(form), { signal }),
      isShown: (open) => open.kind === "add-policy",
      news: ({ policy, folder }) => ({ title: `${policy} imported`, text: folder, action: { verb: "Show", run: () => openScreen("settings") } }),
    });
    invalidate("policies");
  };
  const change = (part: Partial<WeightsForm>): void => setForm((before) => ({ ...before, ...part }));
  return { form, change, begin, work, mistakes: tried ? mistakes : {}, running: work.status === "running" };
}

const sources = [
  ["GGUF file", "written once as a model folder of this workbench"],
  ["Model folder", "in the layout of Hugging Face; checked and used where it lies"],
  ["Families", "Llama, Qwen2, Qwen3"],
] as const;

/** What came in, and what it is called where a policy is chosen. */
function Imported({ model }: { readonly model: ImportedPolicyView }) {
  return (
    <div className="grid gap-2">
      <Note look="info">
        <b>The weights are ready.</b> {count(model.layers)} layers, a vocabulary of {count(model.vocabulary)}. It gives token ids and log-probs.
        <code className="mt-1 block break-all">{model.folder}</code>
      </Note>
      <CopyLine label="Name" value={model.policy} what="Name" />
    </div>
  );
}

/** Weights that this machine samples from: a file or folder comes in here; training runs offer theirs by themselves. */
export function ImportWeights({ form, change, begin, work, mistakes }: ReturnType<typeof useWeightsImport>) {
  return (
    <DialogForm onSubmit={() => void begin()} gap="gap-3">
      <Field label="Path" error={mistakes.path ?? null}>
        {(ids) => (
          <PathInput {...ids} value={form.path} onPath={(path) => change({ path })} choose="both" placeholder="/home/ada/models/qwen3-0.6b.gguf" />
        )}
      </Field>
      {isGguf(form.path) && (
        <Field label="Name" about="what it is called here" error={mistakes.name ?? null}>
          {(ids) => (
            <TextInput
              {...ids}
              className="w-60! flex-none"
              value={form.name}
              placeholder="from the name of the file"
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
      )}
      {work.status === "idle" && (
        <div className="rounded-2 bg-sunken px-3 py-2">
          <Facts labelWidth="6rem" rows={sources} />
        </div>
      )}
      {/* How far it is: the last line says it all. */}
      <WorkLines work={{ ...work, lines: work.lines.slice(-1) }} onStop={() => stopWork(key)} done={null} inForm>
        {work.result !== null && <Imported model={work.result} />}
      </WorkLines>
      {work.status === "idle" && <TrainedWeights />}
    </DialogForm>
  );
}

function TrainedWeights() {
  const { value: runs = [] } = useQuery(trainingsQuery);
  const trained = trainedPolicies(runs);
  return (
    <div className="grid gap-1.5 border-t border-line pt-3 text-xs leading-[1.0625rem]">
      <p className="m-0 text-secondary">
        <b className="text-fg">Training runs</b> stand in every list of policies by themselves, with what they have published.
      </p>
      {trained.length === 0 ? (
        <p className="m-0 flex items-center gap-2 text-muted">
          No run has published a step yet.
          <Button
            small
            onClick={() => {
              closeOverlay();
              runCommand(commandById("train.new"));
            }}
          >
            New training run…
          </Button>
        </p>
      ) : (
        <div className="grid max-h-[8.75rem] gap-1.5 overflow-auto">
          {trained.map((policy) => (
            <CopyLine key={policy.id} label={policy.about} value={policy.id} what="Name" />
          ))}
        </div>
      )}
    </div>
  );
}
