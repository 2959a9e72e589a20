// Compares the module with our own on fixed and random calls. The module runs in another process without rights, so that it can
// touch neither this check nor the reward; it never sees what is expected of it.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";

const units = [
  ["d", 86400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
];

function parse(text) {
  const match = /^\s*(?:(\d+)\s*d)?\s*(?:(\d+)\s*h)?\s*(?:(\d+)\s*m)?\s*(?:(\d+)\s*s)?\s*$/i.exec(text);
  if (match === null || text.trim() === "") return { range: true };
  return { value: units.reduce((sum, [, seconds], index) => sum + Number(match[index + 1] ?? 0) * seconds, 0) };
}

function format(seconds) {
  if (!Number.isInteger(seconds) || seconds < 0) return { range: true };
  let rest = seconds;
  const parts = [];
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return { value: parts.length > 0 ? parts.join(" ") : "0s" };
}

function randomText() {
  const parts = units.filter(() => randomInt(2) === 1).map(([unit]) => {
    const letter = randomInt(3) === 0 ? unit.toUpperCase() : unit;
    return `${randomInt(400)}${" ".repeat(randomInt(2))}${letter}${" ".repeat(randomInt(3))}`;
  });
  if (parts.length > 1 && randomInt(6) === 0) parts.reverse();
  return `${" ".repeat(randomInt(2))}${parts.join("")}`;
}

const fixed = ["", " ", "5", "h", "1h1h", "1m 1h", "1.5h", "-1s", "1h x", "+3m", "1e3s", "0s", "1 d", "00h", "10M", "٣s", "1h,5s", "7D2H"];
const numbers = [0, 1, 59, 60, 61, 3599, 3600, 86399, 86400, 90061, 1.5, -1, "NaN", 1e9];
const calls = [
  ...[...fixed, ...Array.from({ length: 60 }, randomText)].map((text) => ["parseDuration", text]),
  ...[...numbers, ...Array.from({ length: 60 }, () => randomInt(1_000_000))].map((seconds) => ["formatDuration", seconds]),
];

const [major] = process.versions.node.split(".").map(Number);
const permission = major >= 23 ? "--permission" : "--experimental-permission";
const result = spawnSync(process.execPath, [permission, "--allow-fs-read=/app/*", "--allow-fs-read=/tests/runner/*", "/tests/runner/run.mjs", JSON.stringify(calls)], {
  cwd: "/tests/runner",
  env: { PATH: "/nonexistent", HOME: "/nonexistent" },
  timeout: 30_000,
  killSignal: "SIGKILL",
  maxBuffer: 1_000_000,
  encoding: "utf8",
});

let answers = [];
try {
  answers = JSON.parse(result.stdout.trim().split("\n").at(-1) ?? "");
} catch {
  console.log("the module gave no answers", result.stderr.slice(0, 500));
}
let wrong = 0;
calls.forEach(([name, argument], index) => {
  const wanted = name === "parseDuration" ? parse(argument) : format(argument === "NaN" ? Number.NaN : argument);
  if (JSON.stringify(answers[index]) === JSON.stringify(wanted)) return;
  wrong += 1;
  if (wrong <= 5) console.log(`${name}(${JSON.stringify(argument)}) is wrong`);
});
process.exit(wrong === 0 ? 0 : 1);
