/** What an experiment is made of: tasks, harnesses and policies, each a list of boxes. */
import { type ReactNode, useState } from "react";
import { Button, IconButton } from "../../parts/button.tsx";
import { CheckRow } from "../../parts/choice.tsx";
import { TextInput } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useQuery } from "../../service/use-query.ts";
import { harnessesQuery, policiesQuery, tasksQuery, trainingsQuery } from "../../service/views.ts";
import { desktop } from "../../state/desktop.ts";
import { taskWords } from "../../words/names.ts";
import { plural } from "../../words/numbers.ts";
import { trainedPolicies } from "../../words/policies.ts";
import type { Plan } from "./plan.ts";

export type SetField = "tasks" | "harnesses" | "policies";

interface ChoicesProps {
  readonly title: string;
  /** How many are chosen: the list may show others only. */
  readonly chosen: number;
  readonly error: string | undefined;
  readonly children: ReactNode;
  /** Below the list: it stays in sight when the list is long. */
  readonly below?: ReactNode;
}

/** A list of boxes with its heading; a mistake sits under it. */
function Choices({ title, chosen, error, children, below }: ChoicesProps) {
  return (
    <fieldset className="m-0 flex min-w-0 flex-col border-0 p-0">
      <legend className="float-left mb-1 w-full border-b border-line-strong p-0 pb-1.25 text-xs font-strong">
        {title} <span className="font-normal text-muted tabular-nums">{chosen} chosen</span>
      </legend>
      {/* Half a row stays in sight where there are more. */}
      <div className="clear-left max-h-[13.75rem] overflow-auto">{children}</div>
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

export function TaskChoices({ plan, errors, choose }: ListProps) {
  const { value: tasks = [] } = useQuery(tasksQuery);
  const starters = tasks.filter((task) => task.starter);
  const known = new Set(tasks.map((task) => task.path));
  const all = plan.tasks.has("starter");
  return (
    <Choices
      title="Tasks"
      chosen={plan.tasks.size + (all ? starters.length - 1 : 0)}
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

export function HarnessChoices({ plan, errors, choose }: ListProps) {
  const { value: harnesses = [] } = useQuery(harnessesQuery);
  // What the form opens with stands first, and stays there.
  const [first] = useState(plan.harnesses);
  return (
    <Choices title="Harnesses" chosen={plan.harnesses.size} error={errors.harnesses}>
      {[...harnesses]
        .sort((left, right) => Number(first.has(right.id)) - Number(first.has(left.id)))
        .map((harness) => (
          <CheckRow key={harness.id} checked={plan.harnesses.has(harness.id)} onChange={(on) => choose("harnesses", harness.id, on)}>
            <span className="flex-none">{harness.id}</span>
            {about(harness.installed ? harness.version : `${harness.version}, installed on first use`)}
          </CheckRow>
        ))}
    </Choices>
  );
}

export function PolicyChoices({ plan, errors, choose }: ListProps) {
  const { value: policies = [] } = useQuery(policiesQuery);
  const { value: runs = [] } = useQuery(trainingsQuery);
  const trained = trainedPolicies(runs);
  const known = new Set([...policies, ...trained].map((policy) => policy.id));
  return (
    <Choices
      title="Policies"
      chosen={plan.policies.size}
      error={errors.policies}
      below={<AddLine label="Address or name of a policy" placeholder="address, or training:RUN@best" onAdd={(id) => choose("policies", id, true)} />}
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
