import { type ReactNode, useState } from "react";
import { showExperiment } from "../../actions/first-run.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { CheckRow, Segmented } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, NumberInput, TextInput } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { FailureNote } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { useQuery } from "../../service/use-query.ts";
import { doctorQuery, harnessesQuery, policiesQuery, tasksQuery, trainingsQuery } from "../../service/views.ts";
import { desktop } from "../../state/desktop.ts";
import { closeOverlay } from "../../state/overlays.ts";
import { taskWords } from "../../words/names.ts";
import { count, plural } from "../../words/numbers.ts";
import { trainedPolicies } from "../../words/policies.ts";
import { checkPlan, type Plan, plannedRollouts, startingPlan } from "./plan.ts";

type SetField = "tasks" | "harnesses" | "policies";

function toggled(set: ReadonlySet<string>, value: string, on: boolean): ReadonlySet<string> {
  const next = new Set(set);
  if (on) next.add(value);
  else next.delete(value);
  return next;
}

interface ChoicesProps {
  readonly title: string;
  readonly error: string | undefined;
  readonly children: ReactNode;
  /** Below the list: it stays in sight when the list is long. */
  readonly below?: ReactNode;
}

/** A list of boxes with its heading; a mistake sits under it. */
function Choices({ title, error, children, below }: ChoicesProps) {
  return (
    <fieldset className="m-0 flex min-w-0 flex-col border-0 p-0">
      <legend className="float-left mb-1 w-full border-b border-line-strong p-0 pb-1.25 text-xs font-strong">{title}</legend>
      <div className="clear-left max-h-52 overflow-auto">{children}</div>
      {below}
      {error !== undefined && (
        <p className="m-0 mt-1 flex gap-1.5 text-xs" role="alert">
          <Icon name="fail" size={0.875} className="mt-px text-failed" />
          {error}
        </p>
      )}
    </fieldset>
  );
}

const about = (text: string): ReactNode => <span className="min-w-0 flex-1 truncate text-right text-2xs text-muted">{text}</span>;

interface AddLineProps {
  readonly label: string;
  readonly placeholder: string;
  readonly onAdd: (value: string) => void;
  /** Where the desktop shell can be asked for one. */
  readonly pick?: (() => Promise<string | null>) | undefined;
}

/** Adds what is not in a list: a task folder, the address of an endpoint. */
function AddLine({ label, placeholder, onAdd, pick }: AddLineProps) {
  const [text, setText] = useState("");
  const add = (): void => {
    if (text.trim() !== "") onAdd(text.trim());
    setText("");
  };
  return (
    <div className="mt-1.5 flex gap-1.5 px-1.5">
      <TextInput
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          add();
        }}
      />
      {pick !== undefined && (
        <IconButton
          glyph="folder"
          label="Choose a folder…"
          className="size-7!"
          onClick={() => void pick().then((path) => path !== null && onAdd(path))}
        />
      )}
      <Button onClick={add} disabledBecause={text.trim() === "" ? "Type something to add first" : null}>
        Add
      </Button>
    </div>
  );
}

interface ListProps {
  readonly plan: Plan;
  readonly errors: Partial<Record<string, string>>;
  readonly choose: (field: SetField, value: string, on: boolean) => void;
}

function TaskChoices({ plan, errors, choose }: ListProps) {
  const { value: tasks = [] } = useQuery(tasksQuery);
  const starters = tasks.filter((task) => task.starter);
  const known = new Set(tasks.map((task) => task.path));
  const all = plan.tasks.has("starter");
  return (
    <Choices
      title="Tasks"
      error={errors.tasks}
      below={
        <AddLine
          label="Folder of a task package"
          placeholder="/home/ada/tasks/my-task"
          onAdd={(path) => choose("tasks", path, true)}
          pick={desktop?.pickFolder}
        />
      }
    >
      <CheckRow checked={all} onChange={(on) => choose("tasks", "starter", on)}>
        All starter tasks {about(plural(starters.length, "task"))}
      </CheckRow>
      {tasks.map((task) => (
        <CheckRow
          key={task.path}
          checked={plan.tasks.has(task.path) || (all && task.starter)}
          disabledBecause={!task.valid ? "Has faults; see Tasks" : all && task.starter ? "Is one of the starter tasks" : null}
          onChange={(on) => choose("tasks", task.path, on)}
        >
          <span className="max-w-[70%] flex-none truncate">{taskWords(task.name)}</span> {about(task.family ?? "")}
        </CheckRow>
      ))}
      {[...plan.tasks]
        .filter((path) => path !== "starter" && !known.has(path))
        .map((path) => (
          <CheckRow key={path} checked onChange={() => choose("tasks", path, false)}>
            <span className="truncate font-mono">{path}</span>
          </CheckRow>
        ))}
    </Choices>
  );
}

function HarnessChoices({ plan, errors, choose }: ListProps) {
  const { value: harnesses = [] } = useQuery(harnessesQuery);
  return (
    <Choices title="Harnesses" error={errors.harnesses}>
      {harnesses.map((harness) => (
        <CheckRow key={harness.id} checked={plan.harnesses.has(harness.id)} onChange={(on) => choose("harnesses", harness.id, on)}>
          <span className="flex-none">{harness.id}</span>
          {about(harness.installed ? harness.version : `${harness.version}, installed on first use`)}
        </CheckRow>
      ))}
    </Choices>
  );
}

function PolicyChoices({ plan, errors, choose }: ListProps) {
  const { value: policies = [] } = useQuery(policiesQuery);
  const { value: runs = [] } = useQuery(trainingsQuery);
  const trained = trainedPolicies(runs);
  const known = new Set([...policies, ...trained].map((policy) => policy.id));
  return (
    <Choices
      title="Policies"
      error={errors.policies}
      below={
        <AddLine
          label="Address or name of a policy"
          placeholder="http://127.0.0.1:8000, training:RUN@best"
          onAdd={(id) => choose("policies", id, true)}
        />
      }
    >
      {policies.map((policy) => (
        <CheckRow key={policy.id} checked={plan.policies.has(policy.id)} onChange={(on) => choose("policies", policy.id, on)}>
          <span className="max-w-[60%] flex-none truncate">{policy.id}</span>
          {about(policy.capture ?? "not probed")}
        </CheckRow>
      ))}
      {trained.map((policy) => (
        <CheckRow key={policy.id} checked={plan.policies.has(policy.id)} onChange={(on) => choose("policies", policy.id, on)}>
          <span className="max-w-[60%] flex-none truncate" title={policy.id}>
            {policy.title}
          </span>
          {about(policy.about)}
        </CheckRow>
      ))}
      {[...plan.policies]
        .filter((id) => !known.has(id))
        .map((id) => (
          <CheckRow key={id} checked onChange={() => choose("policies", id, false)}>
            <span className="truncate font-mono">{id}</span>
          </CheckRow>
        ))}
    </Choices>
  );
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
            {rollouts === null ? "–" : `${plural(rollouts, "rollout")} will run, ${count(Number(plan.concurrency) || null)} at once`}
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
