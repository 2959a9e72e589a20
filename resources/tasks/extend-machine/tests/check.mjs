// Compares the machine with our own on random definitions and courses of events. The module runs in another process without rights, so
// that it can touch neither this check nor the reward; it never sees what is expected of it.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { expected } from "./reference.mjs";

const pick = (list) => list[randomInt(list.length)];
const events = ["go", "stop", "tick", "constructor", "reset"];
const keys = ["visits", "coins", "toString"];
const some = (make) => Array.from({ length: randomInt(1, 4) }, make);

function randomTransition(names) {
  const target = randomInt(60) === 0 ? pick(["nowhere", "*", "valueOf"]) : pick(names);
  if (randomInt(3) === 0) return target;
  return {
    ...(randomInt(5) === 0 ? {} : { target }),
    ...(randomInt(2) === 0 ? { when: { key: pick(keys), ...(randomInt(2) === 0 ? { atLeast: randomInt(3) } : {}), ...(randomInt(2) === 0 ? { below: randomInt(1, 4) } : {}) } } : {}),
    ...(randomInt(2) === 0 ? { add: Object.fromEntries(some(() => [pick(keys), randomInt(-1, 3)])) } : {}),
  };
}

function randomDefinition() {
  const names = ["idle", "busy", "hasOwnProperty", "done"].slice(0, randomInt(1, 5));
  const table = () => Object.fromEntries(some(() => [pick(events), randomInt(2) === 0 ? some(() => randomTransition(names)) : randomTransition(names)]));
  const states = Object.fromEntries(names.map((name) => [name, randomInt(8) === 0 ? {} : { on: table() }]));
  return {
    initial: randomInt(20) === 0 ? "nowhere" : pick(names),
    ...(randomInt(3) === 0 ? {} : { context: Object.fromEntries(some(() => [pick(keys), randomInt(3)])) }),
    states: { ...states, ...(randomInt(2) === 0 ? { "*": { on: table() } } : {}) },
  };
}

const randomActions = () => Array.from({ length: randomInt(5, 20) }, () => [pick(["send", "send", "send", "can", "undo"]), pick([...events, "unknown"])]);
const cases = Array.from({ length: 70 }, () => ({ definition: randomDefinition(), actions: randomActions() }));

const [major] = process.versions.node.split(".").map(Number);
const permission = major >= 23 ? "--permission" : "--experimental-permission";
const argument = JSON.stringify(cases);
const result = spawnSync(process.execPath, [permission, "--allow-fs-read=/app/*", "--allow-fs-read=/tests/runner/*", "/tests/runner/run.mjs", argument], {
  cwd: "/tests/runner",
  env: { PATH: "/nonexistent", HOME: "/nonexistent" },
  timeout: 30_000,
  killSignal: "SIGKILL",
  maxBuffer: 20_000_000,
  encoding: "utf8",
});

let answers = [];
try {
  answers = JSON.parse(result.stdout.trim().split("\n").at(-1) ?? "");
} catch {
  console.log("the module gave no answers", result.stderr?.slice(0, 500) ?? String(result.error));
}
let wrong = 0;
cases.forEach((one, index) => {
  if (JSON.stringify(answers[index]) === JSON.stringify(expected(one))) return;
  wrong += 1;
  if (wrong <= 3) console.log(`wrong for ${JSON.stringify(one)}`);
});
process.exit(wrong === 0 ? 0 : 1);
