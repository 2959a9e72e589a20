/** The first start of a checkout, where something is not as it should be: a sentence and exit code 3, never a stack trace. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";

let root = "";
const lock = (): string => join(root, "node_modules", ".openforge-build");

/** A checkout in small: its build tools are scripts that are given here. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "openforge-launch-"));
  for (const folder of ["electron", "engine", "main", "renderer"]) mkdirSync(join(root, folder));
  for (const file of ["package.json", "rolldown.config.ts", "vite.config.ts", "main/cli.ts"]) writeFileSync(join(root, file), "{}");
  cpSync("main/launch.mjs", join(root, "main", "launch.mjs"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function install(rolldown: string): void {
  const tools = { "rolldown/bin/cli.mjs": rolldown, "vite/bin/vite.js": "" };
  for (const [path, script] of Object.entries(tools)) {
    mkdirSync(join(root, "node_modules", path, ".."), { recursive: true });
    writeFileSync(join(root, "node_modules", path), script);
  }
  mkdirSync(join(root, "dist", "main"), { recursive: true });
  writeFileSync(join(root, "dist", "main", "cli.js"), "console.log('started');");
}

function launch(): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const { OPENFORGE_SKIP_BUILD: _skip, ...env } = process.env;
  return spawnSync(process.execPath, [join(root, "main", "launch.mjs")], { env, encoding: "utf8", timeout: 20_000 });
}

test("without its packages it names npm ci", () => {
  expect(launch()).toMatchObject({
    status: 3,
    stderr: `The packages of the workbench are not installed.\n  Run \`npm ci\` in ${root} first.\n`,
  });
});

test("a source that does not compile ends the start, and the next one tries again", () => {
  install("console.error('no such module'); process.exit(1);");
  const failed = launch();
  expect(failed.status).toBe(3);
  expect(failed.stderr).toMatch(/no such module\nThe workbench could not be built; the lines above say why\./);
  expect(existsSync(lock())).toBe(false);
  install("");
  expect(launch()).toMatchObject({ status: 0, stdout: "started\n" });
});

test("a start that was killed while it built keeps nobody waiting", async () => {
  install("setTimeout(() => {}, 60_000);");
  const { OPENFORGE_SKIP_BUILD: _skip, ...env } = process.env;
  const killed = spawn(process.execPath, [join(root, "main", "launch.mjs")], { env, detached: true, stdio: "ignore" });
  while (!existsSync(lock())) await pause(20);
  if (killed.pid !== undefined) process.kill(-killed.pid, "SIGKILL");
  await new Promise((resolve) => killed.once("exit", resolve));
  expect(existsSync(lock())).toBe(true);
  install("");
  expect(launch()).toMatchObject({ status: 0, stdout: "started\n" });
});
