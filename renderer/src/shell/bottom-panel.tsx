import { Button, IconButton } from "../parts/button.tsx";
import { PaneTabs } from "../parts/choice.tsx";
import { Icon } from "../parts/icon.tsx";
import { Pane, PaneHeader } from "../parts/pane.tsx";
import { Splitter, usePaneSize } from "../parts/splitter.tsx";
import { Boundary, Empty } from "../parts/states.tsx";
import { RolloutTexts } from "../screens/rollout/rollout-texts.tsx";
import { useQuery } from "../service/use-query.ts";
import { doctorQuery, tasksQuery } from "../service/views.ts";
import { useTaskSelection } from "../state/task-selection.ts";
import { openScreen, type PanelView, togglePanel, useWorkspace } from "../state/workspace.ts";
import { EventLog } from "./event-log.tsx";
import { type Problem, problemsOf } from "./problems.ts";

const height = { name: "panel", initial: 204, least: 96, most: 640 } as const;

function useProblems(): readonly Problem[] {
  const { value: tasks } = useQuery(tasksQuery);
  const { value: doctor } = useQuery(doctorQuery);
  return problemsOf(tasks ?? [], doctor ?? []);
}

function ProblemRow({ problem }: { readonly problem: Problem }) {
  return (
    <li className="flex min-h-6.5 items-center gap-2 border-b border-line px-3 text-xs hover:bg-hover">
      <Icon
        name={problem.severity === "error" ? "fail" : "warn"}
        size={0.875}
        className={problem.severity === "error" ? "text-failed" : "text-paused"}
      />
      <span className="sr-only">{problem.severity}</span>
      <span className="min-w-0 flex-1 truncate" title={problem.message}>
        {problem.message}
        {problem.remedy !== null && <span className="text-muted"> {problem.remedy}</span>}
      </span>
      {problem.task === null ? (
        <span className="text-muted">{problem.place}</span>
      ) : (
        <Button
          small
          look="ghost"
          onClick={() => {
            useTaskSelection.setState({ path: problem.task });
            openScreen("tasks");
          }}
        >
          {problem.place}
        </Button>
      )}
    </li>
  );
}

function Problems() {
  const problems = useProblems();
  if (problems.length === 0)
    return <Empty title="No problems" text="Faults in task packages and parts of this computer that work badly are listed here." />;
  return (
    <ul className="m-0 min-h-0 flex-1 list-none overflow-auto p-0">
      {problems.map((problem) => (
        <ProblemRow key={problem.key} problem={problem} />
      ))}
    </ul>
  );
}

function Content({ view }: { readonly view: PanelView }) {
  const rollout = useWorkspace((state) => state.selectedRollout);
  if (view === "problems") return <Problems />;
  if (view === "logs") return <EventLog />;
  if (rollout === null) return <Empty title="No rollout is selected" text="The output of its verifier is shown here." />;
  return <RolloutTexts rollout={rollout} kinds={["verifier-output"]} nothing="The verifier has written nothing." />;
}

/** Logs, verifier and problems, under every screen. Closed it is one line. */
export function BottomPanel() {
  const open = useWorkspace((state) => state.panelOpen);
  const view = useWorkspace((state) => state.panelView);
  const size = usePaneSize(height);
  const problems = useProblems();
  return (
    <>
      {open && <Splitter {...height} side="below" label="Height of the bottom panel" />}
      <Pane label="Bottom panel" className="flex-none border-t border-line-strong" style={open ? { height: `min(${size}px, 60%)` } : {}}>
        <PaneHeader className={open ? "" : "border-b-0"}>
          <PaneTabs<PanelView>
            label="Bottom panel"
            value={open ? view : ("" as PanelView)}
            onChange={togglePanel}
            tabs={[
              { value: "logs", label: "Logs" },
              { value: "verifier", label: "Verifier" },
              { value: "problems", label: "Problems", count: problems.length === 0 ? null : problems.length },
            ]}
          />
          <span className="flex-1" />
          <IconButton glyph={open ? "down" : "up"} label={open ? "Close panel" : "Open panel"} keyShown="Mod+J" onClick={() => togglePanel()} />
        </PaneHeader>
        {open && (
          <Boundary key={view}>
            <Content view={view} />
          </Boundary>
        )}
      </Pane>
    </>
  );
}
