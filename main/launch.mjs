#!/usr/bin/env node
// Entry of `npm start` and `npx openforge`: in a source checkout it first builds what is missing or older than its source.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampFile = join(root, "dist", "source-stamp.txt");
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

function build(stamp) {
  process.stderr.write("Building the workbench (once, about 10 seconds)…\n");
  const run = (...command) => execFileSync(process.execPath, command, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  run(join(root, "node_modules/rolldown/bin/cli.mjs"), "-c", "rolldown.config.ts");
  run(join(root, "node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn");
  writeFileSync(stampFile, stamp);
}

/** Two starts at once build once: the second waits for the first. */
function buildOnce(stamp) {
  const lock = join(root, "node_modules", ".openforge-build");
  for (let waited = 0; ; waited += 200) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (waited > 180_000) rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  try {
    if (!isCurrent(stamp)) build(stamp);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

if (existsSync(join(root, "main/cli.ts")) && process.env.OPENFORGE_SKIP_BUILD !== "1") {
  const stamp = sourceStamp();
  if (!isCurrent(stamp)) buildOnce(stamp);
}
await import(pathToFileURL(join(root, "dist/main/cli.js")).href);
