/** Every command of the window, once. */
import { openBundledRecording, requestCheckAgain, runStarterTasks } from "../actions/first-run.ts";
import { copyPlaceLink } from "../actions/links.ts";
import { runStarter } from "../actions/training.ts";
import { useAppearance } from "../state/appearance.ts";
import { openOverlay } from "../state/overlays.ts";
import { closeTab, openCompare, openScreen, openTrain, stepTab, toggleDetails, togglePanel, useWorkspace } from "../state/workspace.ts";
import type { Command } from "./command.ts";
import { focusPane } from "./panes.ts";

const onRuns = "on the Runs screen";
const onRollout = "in an open rollout";
const onTokens = "in the token view";
const onTrain = "on the Train screen";
const onStep = "in an open step";
const onCompare = "on the Compare screen";

const everywhere: readonly Command[] = [
  {
    id: "palette.open",
    title: "Command palette",
    category: "Everywhere",
    keys: ["Mod+K"],
    glyph: "search",
    menu: "View",
    run: () => openOverlay({ kind: "palette", start: "" }),
  },
  {
    id: "palette.rollouts",
    title: "Open rollout…",
    category: "Everywhere",
    keys: ["Mod+P"],
    glyph: "runs",
    menu: "File",
    run: () => openOverlay({ kind: "palette", start: "r " }),
  },
  {
    id: "experiment.new",
    title: "New experiment…",
    category: "Everywhere",
    keys: ["Alt+N"],
    glyph: "plus",
    menu: "File",
    run: () => openOverlay({ kind: "new-experiment" }),
  },
  {
    id: "experiment.starter",
    title: "Run the starter experiment",
    category: "Everywhere",
    keys: [],
    glyph: "play",
    menu: "Run",
    run: () => void runStarter(),
  },
  {
    id: "experiment.starter-tasks",
    title: "Run the starter tasks once",
    category: "Everywhere",
    keys: [],
    glyph: "play",
    menu: "Run",
    run: () => void runStarterTasks(),
  },
  {
    id: "train.new",
    title: "New training run…",
    category: "Everywhere",
    keys: ["Alt+T"],
    glyph: "train",
    menu: "File",
    run: () => openOverlay({ kind: "new-training" }),
  },
  {
    id: "recording.open",
    title: "Open the bundled recording",
    category: "Everywhere",
    keys: [],
    glyph: "rec",
    menu: "File",
    run: () => void openBundledRecording(),
  },
  {
    id: "task.new",
    title: "New task…",
    category: "Everywhere",
    keys: [],
    glyph: "tasks",
    menu: "File",
    run: () => openOverlay({ kind: "new-task" }),
  },
  {
    id: "harness.new",
    title: "New harness…",
    category: "Everywhere",
    keys: [],
    glyph: "harness",
    menu: "File",
    run: () => openOverlay({ kind: "new-harness" }),
  },
  {
    id: "task.import",
    title: "Import a task…",
    category: "Everywhere",
    keys: [],
    glyph: "download",
    menu: "File",
    run: () => openOverlay({ kind: "import-task" }),
  },
  {
    id: "recordings.import",
    title: "Import recordings…",
    category: "Everywhere",
    keys: [],
    glyph: "download",
    menu: "File",
    run: () => openOverlay({ kind: "import" }),
  },
  {
    id: "place.export",
    title: "Export…",
    category: "Everywhere",
    keys: ["Mod+E"],
    glyph: "file",
    menu: "File",
    where: "on a row of Runs, in a rollout or on a training run",
  },
  {
    id: "attach.start",
    title: "Attach a program…",
    category: "Everywhere",
    keys: ["Alt+A"],
    glyph: "link",
    menu: "Run",
    run: () => openOverlay({ kind: "attach" }),
  },
  {
    id: "policy.add",
    title: "Add a policy…",
    category: "Everywhere",
    keys: [],
    glyph: "rec",
    menu: "File",
    run: () => openOverlay({ kind: "add-policy" }),
  },
  { id: "screen.runs", title: "Show runs", category: "Everywhere", keys: ["Alt+1"], glyph: "runs", menu: "View", run: () => openScreen("runs") },
  { id: "screen.tasks", title: "Show tasks", category: "Everywhere", keys: ["Alt+2"], glyph: "tasks", menu: "View", run: () => openScreen("tasks") },
  {
    id: "screen.harnesses",
    title: "Show harnesses",
    category: "Everywhere",
    keys: ["Alt+3"],
    glyph: "harness",
    menu: "View",
    run: () => openScreen("harnesses"),
  },
  {
    id: "screen.compare",
    title: "Show comparisons",
    category: "Everywhere",
    keys: ["Alt+4"],
    glyph: "compare",
    menu: "View",
    run: () => openCompare(),
  },
  { id: "screen.train", title: "Show training", category: "Everywhere", keys: ["Alt+5"], glyph: "train", menu: "View", run: () => openTrain() },
  {
    id: "screen.settings",
    title: "Show settings",
    category: "Everywhere",
    keys: ["Mod+,"],
    glyph: "settings",
    menu: "View",
    run: () => openScreen("settings"),
  },
  { id: "panel.toggle", title: "Bottom panel", category: "Everywhere", keys: ["Mod+J"], glyph: "bottom", menu: "View", run: () => togglePanel() },
  { id: "details.toggle", title: "Details pane", category: "Everywhere", keys: ["Mod+I"], glyph: "side", menu: "View", run: toggleDetails },
  {
    id: "place.link",
    title: "Copy link",
    category: "Everywhere",
    keys: ["c"],
    glyph: "link",
    menu: "Run",
    run: () => void copyPlaceLink(),
    when: () => (/^(run\/|train$|compare$)/.test(useWorkspace.getState().active) ? null : "in a rollout, a training run or a comparison"),
  },
  { id: "find", title: "Find in this view", category: "Everywhere", keys: ["/"], glyph: "filter" },
  { id: "find.next", title: "Next match", category: "Everywhere", keys: ["n"], where: "after a find" },
  { id: "find.previous", title: "Previous match", category: "Everywhere", keys: ["N"], where: "after a find" },
  { id: "tab.next", title: "Next tab", category: "Everywhere", keys: ["Alt+PageDown", "Mod+Tab"], run: () => stepTab(1) },
  { id: "tab.previous", title: "Previous tab", category: "Everywhere", keys: ["Alt+PageUp", "Mod+Shift+Tab"], run: () => stepTab(-1) },
  {
    id: "tab.close",
    title: "Close tab",
    category: "Everywhere",
    keys: ["Alt+W"],
    glyph: "close",
    menu: "File",
    run: () => closeTab(useWorkspace.getState().active),
  },
  { id: "pane.next", title: "Next pane", category: "Everywhere", keys: ["F6"], run: () => focusPane(1) },
  { id: "pane.previous", title: "Previous pane", category: "Everywhere", keys: ["Shift+F6"], run: () => focusPane(-1) },
  { id: "theme.light", title: "Light theme", category: "Everywhere", keys: [], menu: "View", run: () => useAppearance.setState({ theme: "light" }) },
  { id: "theme.dark", title: "Dark theme", category: "Everywhere", keys: [], menu: "View", run: () => useAppearance.setState({ theme: "dark" }) },
  {
    id: "theme.system",
    title: "Theme of the system",
    category: "Everywhere",
    keys: [],
    menu: "View",
    run: () => useAppearance.setState({ theme: "system" }),
  },
  {
    id: "doctor.check",
    title: "Check this computer again",
    category: "Everywhere",
    keys: [],
    glyph: "refresh",
    menu: "Help",
    run: requestCheckAgain,
  },
  {
    id: "keys.show",
    title: "All keys",
    category: "Everywhere",
    keys: ["?"],
    glyph: "keyboard",
    menu: "Help",
    run: () => openOverlay({ kind: "keys" }),
  },
];

const runs: readonly Command[] = [
  { id: "runs.next", title: "Next row", category: "Runs", keys: ["j"], where: onRuns },
  { id: "runs.previous", title: "Previous row", category: "Runs", keys: ["k"], where: onRuns },
  { id: "runs.first", title: "First row", category: "Runs", keys: ["g"], where: onRuns },
  { id: "runs.last", title: "Last row", category: "Runs", keys: ["G"], where: onRuns },
  { id: "runs.open", title: "Open", category: "Runs", keys: ["o"], glyph: "runs", menu: "Run", where: onRuns },
  { id: "runs.cancel", title: "Cancel", category: "Runs", keys: ["x"], glyph: "stop", menu: "Run", where: "on a running rollout or experiment" },
  { id: "runs.remove", title: "Remove experiment…", category: "Runs", keys: [], glyph: "cancelled", menu: "Run", where: "on an ended experiment" },
  { id: "runs.regrade", title: "Regrade…", category: "Runs", keys: ["R"], glyph: "refresh", menu: "Run", where: "on an ended experiment or rollout" },
  { id: "runs.clear", title: "Clear filter", category: "Runs", keys: ["Esc"], where: onRuns },
];

const rollout: readonly Command[] = [
  { id: "calls.next", title: "Next call", category: "Rollout", keys: ["j"], where: onRollout },
  { id: "calls.previous", title: "Previous call", category: "Rollout", keys: ["k"], where: onRollout },
  { id: "calls.first", title: "First call", category: "Rollout", keys: ["g"], where: onRollout },
  { id: "calls.last", title: "Last call", category: "Rollout", keys: ["G"], where: onRollout },
  { id: "rollout.regrade", title: "Regrade the rollout…", category: "Rollout", keys: ["R"], glyph: "refresh", where: "in a rollout that has ended" },
  { id: "calls.correct", title: "Correct the answer…", category: "Rollout", keys: ["w"], glyph: "edit", where: "in an attached session" },
  { id: "rollout.grade", title: "Grade the session…", category: "Rollout", keys: ["y"], glyph: "ok", menu: "Run", where: "in an attached session" },
  { id: "rollout.previous", title: "Previous rollout", category: "Rollout", keys: ["["], where: onRollout },
  { id: "rollout.next", title: "Next rollout", category: "Rollout", keys: ["]"], where: onRollout },
  { id: "rollout.calls", title: "Calls", category: "Rollout", keys: ["1"], glyph: "runs", where: onRollout },
  { id: "rollout.tokens", title: "Token view", category: "Rollout", keys: ["t"], glyph: "token", menu: "Run", where: onRollout },
  { id: "rollout.artifacts", title: "Artifacts", category: "Rollout", keys: ["3"], glyph: "file", where: onRollout },
  { id: "rollout.verifier", title: "Verifier output", category: "Rollout", keys: ["4"], glyph: "ok", where: onRollout },
  { id: "rollout.logs", title: "Logs", category: "Rollout", keys: ["5"], glyph: "terminal", where: onRollout },
];

const tokens: readonly Command[] = [
  { id: "tokens.edge", title: "Next mask edge", category: "Tokens", keys: ["e"], glyph: "token", where: onTokens },
  { id: "tokens.surprise", title: "Next low probability", category: "Tokens", keys: ["p"], glyph: "token", where: onTokens },
  { id: "tokens.pin", title: "Pin the token card", category: "Tokens", keys: ["Enter"], where: onTokens },
];

const train: readonly Command[] = [
  { id: "train.next", title: "Next step", category: "Train", keys: ["]"], glyph: "right", where: onTrain },
  { id: "train.previous", title: "Previous step", category: "Train", keys: ["["], where: onTrain },
  { id: "train.last", title: "Last step", category: "Train", keys: ["G"], where: onTrain },
  { id: "train.close", title: "Close step", category: "Train", keys: ["Esc"], where: onStep },
  { id: "train.tokens", title: "Tokens as the step trained on them", category: "Train", keys: ["t"], glyph: "token", where: onStep },
  { id: "train.rollout", title: "Open rollout of the step", category: "Train", keys: ["o"], glyph: "rec", where: onStep },
  {
    id: "train.pause",
    title: "Pause or resume training",
    category: "Train",
    keys: ["p"],
    glyph: "pause",
    menu: "Run",
    where: "on a training run that has not ended",
  },
  {
    id: "train.checkpoint",
    title: "Checkpoint now",
    category: "Train",
    keys: ["s"],
    glyph: "download",
    menu: "Run",
    where: "on a running training run",
  },
  {
    id: "train.stop",
    title: "Stop training…",
    category: "Train",
    keys: ["Shift+F5"],
    glyph: "stop",
    menu: "Run",
    where: "on a running or paused training run",
  },
];

const compare: readonly Command[] = [
  { id: "compare.next", title: "Next task", category: "Compare", keys: ["j"], where: onCompare },
  { id: "compare.previous", title: "Previous task", category: "Compare", keys: ["k"], where: onCompare },
  { id: "compare.swap", title: "Swap A and B", category: "Compare", keys: ["x"], glyph: "compare", where: onCompare },
  { id: "compare.open", title: "Open both rollouts", category: "Compare", keys: ["o"], glyph: "rec", where: onCompare },
];

const tasks: readonly Command[] = [
  { id: "tasks.check", title: "Validate task", category: "Tasks", keys: ["v"], glyph: "tasks", where: "on the Tasks screen" },
  {
    id: "tasks.all",
    title: "Run all checks of the task",
    category: "Tasks",
    keys: ["Mod+Enter"],
    glyph: "play",
    menu: "Run",
    where: "on the Tasks screen",
  },
];

const harnesses: readonly Command[] = [
  { id: "harnesses.install", title: "Install harness", category: "Harnesses", keys: ["i"], glyph: "download", where: "on the Harnesses screen" },
  { id: "harnesses.probe", title: "Probe harness", category: "Harnesses", keys: ["p"], glyph: "harness", where: "on the Harnesses screen" },
];

export const commands: readonly Command[] = [...runs, ...rollout, ...tokens, ...train, ...compare, ...tasks, ...harnesses, ...everywhere];

export function commandById(id: string): Command {
  const found = commands.find((command) => command.id === id);
  if (found === undefined) throw new Error(`no command ${id}`);
  return found;
}
