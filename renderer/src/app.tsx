import { useEffect } from "react";
import { useKeys } from "./commands/use-keys.ts";
import { HintDelay } from "./parts/hint.tsx";
import { Boundary, Failed, Loading } from "./parts/states.tsx";
import { AttachDialog } from "./screens/attach/attach-dialog.tsx";
import { GradeDialog } from "./screens/attach/grade-dialog.tsx";
import { CompareScreen } from "./screens/compare/compare-screen.tsx";
import { ExportDialog } from "./screens/export/export-dialog.tsx";
import { HarnessesScreen } from "./screens/harnesses/harnesses-screen.tsx";
import { NewHarness } from "./screens/harnesses/new-harness.tsx";
import { ImportRecordings } from "./screens/import/import-recordings.tsx";
import { NewExperiment } from "./screens/new-experiment/new-experiment.tsx";
import { NewTraining } from "./screens/new-training/new-training.tsx";
import { RegradeDialog } from "./screens/regrade/regrade-dialog.tsx";
import { RolloutScreen } from "./screens/rollout/rollout-screen.tsx";
import { RunsScreen } from "./screens/runs/runs-screen.tsx";
import { AddPolicy } from "./screens/settings/add-policy.tsx";
import { SettingsScreen } from "./screens/settings/settings-screen.tsx";
import { ImportTask } from "./screens/tasks/import-task.tsx";
import { NewTask } from "./screens/tasks/new-task.tsx";
import { TasksScreen } from "./screens/tasks/tasks-screen.tsx";
import { TrainScreen } from "./screens/train/train-screen.tsx";
import { useConnection } from "./service/connection.ts";
import { useQuery } from "./service/use-query.ts";
import { experimentsQuery } from "./service/views.ts";
import { ActivityBar } from "./shell/activity-bar.tsx";
import { BottomPanel } from "./shell/bottom-panel.tsx";
import { KeysDialog } from "./shell/keys-dialog.tsx";
import { Palette } from "./shell/palette.tsx";
import { Question } from "./shell/question.tsx";
import { StatusBar } from "./shell/status-bar.tsx";
import { TabStrip } from "./shell/tab-strip.tsx";
import { TitleBar } from "./shell/title-bar.tsx";
import { Toasts } from "./shell/toasts.tsx";
import { useOverlay } from "./state/overlays.ts";
import type { Place } from "./state/places.ts";
import { activePlace, useWorkspace } from "./state/workspace.ts";

function Screen({ place }: { readonly place: Place }) {
  if (place.kind === "rollout") return <RolloutScreen key={place.id} place={place} />;
  if (place.kind === "train") return <TrainScreen place={place} />;
  if (place.kind === "compare") return <CompareScreen place={place} />;
  switch (place.screen) {
    case "runs":
      return <RunsScreen />;
    case "tasks":
      return <TasksScreen />;
    case "harnesses":
      return <HarnessesScreen />;
    case "settings":
      return <SettingsScreen />;
  }
}

function Overlays() {
  const open = useOverlay((state) => state.open);
  if (open === null) return null;
  switch (open.kind) {
    case "palette":
      return <Palette start={open.start} />;
    case "keys":
      return <KeysDialog />;
    case "question":
      return <Question {...open} />;
    case "new-experiment":
      return <NewExperiment {...open} />;
    case "new-training":
      return <NewTraining />;
    case "new-task":
      return <NewTask />;
    case "new-harness":
      return <NewHarness />;
    case "import-task":
      return <ImportTask />;
    case "import":
      return <ImportRecordings />;
    case "export":
      return <ExportDialog {...open} />;
    case "regrade":
      return <RegradeDialog {...open} />;
    case "attach":
      return <AttachDialog />;
    case "grade":
      return <GradeDialog {...open} />;
    case "add-policy":
      return <AddPolicy {...open} />;
  }
}

function Main() {
  const status = useConnection((state) => state.status);
  const place = useWorkspace(activePlace);
  const active = useWorkspace((state) => state.active);
  const known = useConnection((state) => state.info !== null);
  const { value: experiments } = useQuery(experimentsQuery);
  // The first-run screen stands alone: there is nothing yet to log or to verify.
  const firstRun = experiments?.length === 0 && active === "runs";
  if (status === "refused")
    return (
      <Failed
        failure={{
          message: "This page has no valid token.",
          remedy: "Open the address that the service printed when it started; it ends in #token=…. A service that was started again has a new one.",
        }}
      />
    );
  if (!known) return <Loading what="Connecting to the service" />;
  return (
    <>
      <div className="flex min-h-0 flex-1 flex-col" role="tabpanel">
        <Boundary key={active}>
          <Screen place={place} />
        </Boundary>
      </div>
      {!firstRun && <BottomPanel />}
    </>
  );
}

export function App() {
  useKeys();
  useEffect(() => {
    document.title = "OpenForge Workbench";
  }, []);
  return (
    <HintDelay delay={400}>
      <div className="app-frame">
        <TitleBar />
        <ActivityBar />
        <TabStrip />
        <main className="flex min-h-0 min-w-0 flex-col overflow-hidden bg-surface">
          <Main />
        </main>
        <StatusBar />
      </div>
      <Toasts />
      <Overlays />
    </HintDelay>
  );
}
