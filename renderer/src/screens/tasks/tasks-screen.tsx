import { useState } from "react";
import { copyText } from "../../actions/links.ts";
import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Chip } from "../../parts/chip.tsx";
import { PaneTabs } from "../../parts/choice.tsx";
import { TextInput } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Facts, Pane, PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { Splitter, usePaneSize } from "../../parts/splitter.tsx";
import { Boundary, Empty, Ready } from "../../parts/states.tsx";
import { WalkedList, walkedItem } from "../../parts/walked-list.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type TaskView, taskCheckQuery, tasksQuery } from "../../service/views.ts";
import { useTaskSelection } from "../../state/task-selection.ts";
import { TextView } from "../../text/text-view.tsx";
import { taskWords } from "../../words/names.ts";
import { FaultList } from "./faults.tsx";
import { TestBench } from "./test-bench.tsx";

const listSize = { name: "tasks", initial: 232, least: 216, most: 376 } as const;
const shortName = (task: TaskView): string => taskWords(task.name);

function TaskRow({ task, active, isStop }: { readonly task: TaskView; readonly active: boolean; readonly isStop: boolean }) {
  const errors = task.faults.filter((fault) => fault.severity === "error").length;
  return (
    <button
      type="button"
      aria-current={active}
      data-task={shortName(task)}
      {...walkedItem(isStop)}
      onClick={() => useTaskSelection.setState({ path: task.path })}
      className={`focus-inside flex h-6 w-full items-center gap-1.5 pr-2.5 pl-3 text-left text-xs ${active ? "bg-selected-idle" : "hover:bg-hover"}`}
    >
      <Icon name="folder" size={0.875} className="text-muted" />
      <span className="min-w-0 flex-1 truncate" title={task.path}>
        {shortName(task)}
      </span>
      {errors > 0 ? (
        <span className="text-2xs font-strong text-failed" title={`${errors} errors`}>
          {errors}
        </span>
      ) : (
        <Icon name="check" size={0.875} className="text-success" />
      )}
    </button>
  );
}

function TaskList({ tasks, open }: { readonly tasks: readonly TaskView[]; readonly open: TaskView | null }) {
  const [filter, setFilter] = useState("");
  const shown = tasks.filter((task) => `${task.name} ${task.family ?? ""}`.toLowerCase().includes(filter.toLowerCase()));
  const stop = open !== null && shown.includes(open) ? open : shown[0];
  const groups = [
    { name: "Starter tasks", tasks: shown.filter((task) => task.starter) },
    { name: "Your tasks", tasks: shown.filter((task) => !task.starter) },
  ];
  return (
    <>
      <PaneHeader>
        <PaneTitle>Tasks</PaneTitle>
        <span className="text-muted tabular-nums">{tasks.length}</span>
        <span className="flex-1" />
        <IconButton glyph="download" label="Import a task…" onClick={() => runCommand(commandById("task.import"))} />
        <IconButton glyph="plus" label="New task…" onClick={() => runCommand(commandById("task.new"))} />
      </PaneHeader>
      <div className="flex-none border-b border-line p-1.5">
        <TextInput
          aria-label="Filter tasks"
          placeholder="Filter by name or family"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      <WalkedList className="min-h-0 flex-1 overflow-auto pb-2" chooses>
        {groups.map(
          (group) =>
            group.tasks.length > 0 && (
              <section key={group.name}>
                <h3 className="m-0 px-3 pt-2 pb-0.75 text-2xs font-medium text-muted">{group.name}</h3>
                {group.tasks.map((task) => (
                  <TaskRow key={task.path} task={task} active={task === open} isStop={task === stop} />
                ))}
              </section>
            ),
        )}
        {shown.length === 0 && <p className="m-0 p-3 text-xs text-muted">No task has “{filter}” in its name.</p>}
      </WalkedList>
    </>
  );
}

function Faults({ faults }: { readonly faults: TaskView["faults"] }) {
  if (faults.length === 0) return <Empty title="No faults" text="Every file of the package is as it should be." />;
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <FaultList faults={faults} />
    </div>
  );
}

type TaskTab = "instruction" | "faults";

function OneTask({ task }: { readonly task: TaskView }) {
  const check = useQuery(taskCheckQuery(task.path));
  const faults = check.value?.faults ?? task.faults;
  const [chosen, setTab] = useState<TaskTab | null>(null);
  const tab: TaskTab = chosen ?? (faults.some((fault) => fault.severity === "error") ? "faults" : "instruction");
  return (
    <>
      <PaneHeader>
        <PaneTitle>{shortName(task)}</PaneTitle>
        {task.family !== null && (
          <span className="flex-none">
            <Chip tone="neutral">{task.family}</Chip>
          </span>
        )}
        <span className="flex-1" />
        <PaneTabs<TaskTab>
          label="Task"
          value={tab}
          onChange={setTab}
          tabs={[
            { value: "instruction", label: "Instruction" },
            { value: "faults", label: "Faults", count: faults.length },
          ]}
        />
      </PaneHeader>
      <div className="flex-none border-b border-line px-3 py-2.5">
        {task.description !== null && <p className="mt-0 mb-2 text-xs text-secondary">{task.description}</p>}
        <Facts
          labelWidth="5rem"
          rows={[
            [
              "Folder",
              <span key="folder" className="flex items-center gap-1">
                <code className="min-w-0 truncate" title={task.path}>
                  {task.path}
                </code>
                <IconButton glyph="link" label="Copy path" className="-my-1" onClick={() => void copyText(task.path, "Path")} />
              </span>,
            ],
            [
              "Digest",
              task.digest === null ? null : (
                <code key="digest" className="block truncate" title={task.digest}>
                  {task.digest}
                </code>
              ),
            ],
            ["Network", task.network],
          ]}
        />
      </div>
      {tab === "faults" ? <Faults faults={faults} /> : <TextView text={task.instruction} label="Instruction" />}
    </>
  );
}

/** Task packages on disk: what they ask, what is wrong with them, and the bench that tests them. */
export function TasksScreen() {
  const state = useQuery(tasksQuery);
  const path = useTaskSelection((selection) => selection.path);
  const size = usePaneSize(listSize);
  return (
    <Ready state={state} reading="Reading the task packages">
      {(tasks) => {
        const open = tasks.find((task) => task.path === path) ?? tasks[0] ?? null;
        return (
          <div className="flex min-h-0 flex-1">
            <h1 className="sr-only">Tasks</h1>
            <Pane label="Task list" className="flex-none slim:w-44!" style={{ width: size }}>
              <TaskList tasks={tasks} open={open} />
            </Pane>
            <Splitter {...listSize} side="left" label="Width of the task list" />
            {open === null ? (
              <Empty title="No tasks" text="A task is a folder with task.toml, an instruction and a verifier.">
                <Button onClick={() => runCommand(commandById("task.new"))}>New task…</Button>
                <Button look="ghost" onClick={() => runCommand(commandById("task.import"))}>
                  Import a task…
                </Button>
              </Empty>
            ) : (
              <div className="flex min-w-0 flex-1 slim:flex-col slim:overflow-auto">
                <Pane label="Task" className="min-w-64 flex-1 border-l border-line slim:min-h-60">
                  <Boundary key={open.path}>
                    <OneTask task={open} />
                  </Boundary>
                </Pane>
                <Pane label="Test bench" className="w-94 flex-none border-l border-line narrow:w-84 slim:w-full">
                  <Boundary key={open.path}>
                    <TestBench task={open} />
                  </Boundary>
                </Pane>
              </div>
            )}
          </div>
        );
      }}
    </Ready>
  );
}
