/** Commands of one screen each: the screen lends its handler while it is mounted. */
import { sortColumns } from "../screens/runs/rows.ts";
import type { Command } from "./command.ts";

const onRuns = "on the Runs screen";
const onRollout = "in an open rollout";
const onTokens = "in the token view";
const onTrain = "on the Train screen";
const onStep = "in an open step";
const onCompare = "on the Compare screen";

const runs: readonly Command[] = [
  { id: "runs.next", title: "Next row", category: "Runs", keys: ["j"], where: onRuns },
  { id: "runs.previous", title: "Previous row", category: "Runs", keys: ["k"], where: onRuns },
  { id: "runs.first", title: "First row", category: "Runs", keys: ["g"], where: onRuns },
  { id: "runs.last", title: "Last row", category: "Runs", keys: ["G"], where: onRuns },
  { id: "runs.open", title: "Open", category: "Runs", keys: ["o"], glyph: "runs", menu: "Run", where: onRuns },
  { id: "runs.cancel", title: "Cancel", category: "Runs", keys: ["x"], glyph: "stop", menu: "Run", where: "on a running rollout or experiment" },
  { id: "runs.remove", title: "Remove experiment…", category: "Runs", keys: [], glyph: "cancelled", menu: "Run", where: "on an ended experiment" },
  { id: "runs.regrade", title: "Regrade…", category: "Runs", keys: ["R"], glyph: "refresh", menu: "Run", where: "on an ended experiment or rollout" },
  ...sortColumns.map((column) => ({
    id: `runs.sort.${column}`,
    title: `Sort runs by ${column}`,
    category: "Runs" as const,
    keys: [],
    where: onRuns,
  })),
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

export const ofScreens: readonly Command[] = [...runs, ...rollout, ...tokens, ...train, ...compare, ...tasks, ...harnesses];
