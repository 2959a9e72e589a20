import { useState } from "react";
import { showExperiment } from "../../actions/first-run.ts";
import { Button } from "../../parts/button.tsx";
import { CheckRow, Segmented } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, NumberInput, TextInput } from "../../parts/field.tsx";
import { FailureNote } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { useQuery } from "../../service/use-query.ts";
import { doctorQuery, tasksQuery } from "../../service/views.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { count, plural } from "../../words/numbers.ts";
import { HarnessChoices, PolicyChoices, type SetField, TaskChoices } from "./choices.tsx";
import { checkPlan, type Plan, plannedRollouts, startingPlan } from "./plan.ts";

function toggled(set: ReadonlySet<string>, value: string, on: boolean): ReadonlySet<string> {
  const next = new Set(set);
  if (on) next.add(value);
  else next.delete(value);
  return next;
}

interface NewExperimentProps {
  readonly tasks?: readonly string[];
  readonly harnesses?: readonly string[];
}

/** Says what will run: tasks × harnesses × policies × k. Started as it opens, it works on a bare machine. */
export function NewExperiment({ tasks, harnesses }: NewExperimentProps) {
  const [plan, setPlan] = useState<Plan>({
    ...startingPlan,
    ...(tasks === undefined ? {} : { tasks: new Set(tasks) }),
    ...(harnesses === undefined ? {} : { harnesses: new Set(harnesses) }),
  });
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [starting, setStarting] = useState(false);
  const { value: allTasks = [] } = useQuery(tasksQuery);
  const { value: doctor = [] } = useQuery(doctorQuery);
  const docker = doctor.find((row) => /docker/i.test(row.name));
  const checked = checkPlan(plan);
  const errors = tried ? (checked.errors ?? {}) : {};
  const rollouts = plannedRollouts(plan, allTasks.filter((task) => task.starter && task.valid).length);
  const change = (part: Partial<Plan>): void => setPlan({ ...plan, ...part });
  const choose = (field: SetField, value: string, on: boolean): void =>
    setPlan((before) => ({ ...before, [field]: toggled(before[field], value, on) }));

  const start = async (): Promise<void> => {
    setTried(true);
    if (checked.spec === null || starting) return;
    setStarting(true);
    try {
      const { id } = await presentClient().experiments.start(checked.spec);
      closeOverlay();
      showExperiment(id);
    } catch (error) {
      setFailure(asFailure(error));
      setStarting(false);
    }
  };

  return (
    <Dialog
      title="New experiment"
      width="56rem"
      footer={
        <>
          <span className="text-xs text-muted tabular-nums">
            {rollouts === null ? "" : `${plural(rollouts, "rollout")} will run, ${count(Number(plan.concurrency) || null)} at once`}
          </span>
          <span className="flex-1" />
          <Button look="ghost" keyShown="Esc" onClick={closeOverlay}>
            Cancel
          </Button>
          <Button look="primary" keyShown="Mod+Enter" onClick={() => void start()} disabledBecause={starting ? "Being started" : null}>
            Start experiment
          </Button>
        </>
      }
    >
      <form
        className="grid gap-4 px-4.5 py-3.5"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void start();
        }}
      >
        {failure !== null && <FailureNote failure={failure} />}
        <div className="grid grid-cols-3 items-start gap-5 slim:grid-cols-1">
          <TaskChoices plan={plan} errors={errors} choose={choose} />
          <HarnessChoices plan={plan} errors={errors} choose={choose} />
          <PolicyChoices plan={plan} errors={errors} choose={choose} />
        </div>
        <div className="grid grid-cols-2 items-start gap-x-8 gap-y-2.5 border-t border-line pt-3.5 slim:grid-cols-1">
          <Field label="Name" error={errors.name ?? null}>
            {(ids) => (
              <TextInput {...ids} value={plan.name} placeholder="made from what runs" onChange={(event) => change({ name: event.target.value })} />
            )}
          </Field>
          <Field label="Sandbox" about={plan.sandbox === "docker" ? (docker?.detail ?? "") : "bubblewrap, no network"}>
            {() => (
              <Segmented
                label="Sandbox"
                value={plan.sandbox}
                onChange={(sandbox) => change({ sandbox })}
                options={[
                  { value: "local", label: "Local" },
                  {
                    value: "docker",
                    label: "Docker",
                    disabledBecause: docker !== undefined && docker.status === "missing" ? `${docker.detail}. ${docker.remedy ?? ""}` : null,
                  },
                ]}
              />
            )}
          </Field>
          <Field label="k" about="rollouts of each task: one group" error={errors.k ?? null}>
            {(ids) => <NumberInput {...ids} value={plan.k} onChange={(event) => change({ k: event.target.value })} />}
          </Field>
          <Field label="At once" about="rollouts that run at the same time" error={errors.concurrency ?? null}>
            {(ids) => <NumberInput {...ids} value={plan.concurrency} onChange={(event) => change({ concurrency: event.target.value })} />}
          </Field>
          <Field label="Seed" about="same seed, same sampling" error={errors.seed ?? null}>
            {(ids) => <NumberInput {...ids} value={plan.seed} onChange={(event) => change({ seed: event.target.value })} />}
          </Field>
          <CheckRow checked={plan.keepWorkspace} onChange={(keepWorkspace) => change({ keepWorkspace })}>
            Keep workspaces <span className="text-2xs text-muted">so that a changed verifier can grade them later</span>
          </CheckRow>
        </div>
      </form>
    </Dialog>
  );
}
