#!/usr/bin/env node
// Entry of `npm start` and `npx openforge`: in a source checkout it first builds what is missing or older than its source.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampFile = join(root, "dist", "source-stamp.txt");
const lock = join(root, "node_modules", ".openforge-build");
const sources = ["electron", "engine", "main", "renderer", "package.json", "rolldown.config.ts", "vite.config.ts"];

/** Newest change and number of source files: both change when a file is edited, added or removed. */
function sourceStamp() {
  let newest = 0;
  let count = 0;
  const visit = (path) => {
    const status = statSync(path);
    if (status.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    else if (!path.includes(".test.")) {
      newest = Math.max(newest, status.mtimeMs);
      count += 1;
    }
  };
  for (const source of sources) visit(join(root, source));
  return `${Math.round(newest)} ${count}`;
}

function isCurrent(stamp) {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
}

/** False when it does not compile; the tool has said why. */
function build(stamp) {
  process.stderr.write("Building the workbench (once, about 10 seconds)…\n");
  const run = (...command) => spawnSync(process.execPath, command, { cwd: root, stdio: ["ignore", "ignore", "inherit"] }).status === 0;
  const built =
    run(join(root, "node_modules/rolldown/bin/cli.mjs"), "-c", "rolldown.config.ts") &&
    run(join(root, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn");
  if (built) writeFileSync(stampFile, stamp);
  return built;
}

/** What happened and what to do, as everywhere; exit code 3: this machine lacks something. */
function giveUp(sentence, remedy) {
  process.stderr.write(`${sentence}\n  ${remedy}\n`);
  process.exit(3);
}

/** Two starts at once build once: the second waits for the first, unless that was killed. */
function buildOnce(stamp) {
  for (let told = false; !takeLock(); told = true) {
    if (!told) process.stderr.write("Another start is building the workbench; waiting for it…\n");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
  let built = true;
  try {
    if (!isCurrent(stamp)) built = build(stamp);
  } finally {
    rmSync(lock, { force: true });
  }
  if (!built) giveUp("The workbench could not be built; the lines above say why.", "Run `npm ci` again; a source that was changed must compile.");
}

/** The lock names the process that holds it: one that was killed in the middle keeps nobody waiting. */
function takeLock() {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "ENOENT") giveUp("The packages of the workbench are not installed.", `Run \`npm ci\` in ${root} first.`);
    if (error.code !== "EEXIST") giveUp(`The workbench cannot be built: ${error.message}.`, `Build it as the user who owns ${root}.`);
  }
  if (!isHeld()) rmSync(lock, { recursive: true, force: true });
  return false;
}

function isHeld() {
  try {
    // Written a moment after it is made; 0 would ask for our own group.
    process.kill(Number(readFileSync(lock, "utf8")) || process.pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) giveUp(`This is Node ${process.versions.node}.`, "The workbench needs Node 20.19 or newer.");
if (existsSync(join(root, "main/cli.ts")) && process.env.OPENFORGE_SKIP_BUILD !== "1") {
  const stamp = sourceStamp();
  if (!isCurrent(stamp)) buildOnce(stamp);
}
await import(pathToFileURL(join(root, "dist/main/cli.js")).href);
