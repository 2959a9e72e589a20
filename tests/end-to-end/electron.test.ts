/** The desktop shell on a virtual display: it starts the service, shows it, and survives its restart. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { _electron, type ElectronApplication } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { starterTaskNames } from "../contract/task-packages.ts";
import { temporaryData } from "./openforge.ts";
import { DialogsPage } from "./pages/dialogs-page.ts";
import { RunsPage } from "./pages/runs-page.ts";
import { WorkbenchPage } from "./pages/workbench-page.ts";

const shots = "test-results/desktop";
const display = ":97";

function electronBinary(): string | null {
  const given = process.env.ELECTRON_OVERRIDE_DIST_PATH;
  const folder = given ?? join(dirname(createRequire(import.meta.url).resolve("electron/package.json")), "dist");
  const binary = join(folder, "electron");
  return existsSync(binary) ? binary : null;
}

const binary = electronBinary();
const canDisplay = process.platform === "linux" && spawnSync("which", ["Xvfb"]).status === 0;

describe.skipIf(binary === null || !canDisplay)("the desktop app", () => {
  const data = temporaryData();
  const appArguments = ["--no-sandbox", "--disable-gpu", ".", `--user-data-dir=${join(data.path, "window")}`, `--data=${data.path}`];
  const appEnvironment = () => ({ ...definedEnvironment(), DISPLAY: display, OPENFORGE_NODE: process.execPath });
  let screen: ChildProcess;
  let app: ElectronApplication | undefined;
  let workbench: WorkbenchPage;

  beforeAll(async () => {
    mkdirSync(shots, { recursive: true });
    screen = spawn("Xvfb", [display, "-screen", "0", "1440x900x24", "-nolisten", "tcp"], { stdio: "ignore" });
    await vi.waitUntil(() => existsSync(`/tmp/.X11-unix/X${display.slice(1)}`), { timeout: 10_000 });
    app = await _electron.launch({ executablePath: binary ?? "", args: [...appArguments], env: appEnvironment() });
    workbench = new WorkbenchPage(await app.firstWindow());
    await workbench.page.waitForURL(/^http:\/\/127\.0\.0\.1/, { timeout: 30_000 });
    await workbench.ready();
  });

  afterAll(async () => {
    await app?.close();
    screen.kill();
    data.remove();
  });

  test("opens at the first-run screen and runs the starter tasks by one command", async () => {
    const runs = new RunsPage(workbench);
    await runs.firstRun.waitFor();
    await workbench.screenshot(`${shots}/first-run.png`);
    await runs.runStarterTasks();
    await runs
      .withOutcome("succeeded")
      .nth(starterTaskNames.length - 1)
      .waitFor({ timeout: 120_000 });
    await workbench.screenshot(`${shots}/runs.png`);
    expect(workbench.complaints).toEqual([]);
  });

  test("opens the place that a link from another program names, in the window that is there", async () => {
    const second = spawn(binary ?? "", [...appArguments, "openforge://train"], { env: appEnvironment(), stdio: "ignore" });
    await workbench.tab("Train").waitFor({ timeout: 30_000 });
    await vi.waitUntil(() => second.exitCode !== null, { timeout: 10_000 });
    await workbench.screenshot(`${shots}/link.png`);
    await workbench.show("Runs");
  });

  test("asks the system for the file to import, and imports it", async () => {
    const file = resolve("tests/fixtures/gguf/tiny-llama.gguf");
    // The system's own dialog cannot be driven: its answer is given in its place.
    await app?.evaluate(({ dialog }, path) => {
      dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [path] });
    }, file);
    await workbench.command("Import policy weights");
    const dialogs = new DialogsPage(workbench);
    await dialogs.button("Choose a file…").click();
    await expect.poll(() => dialogs.field("Path").inputValue()).toBe(file);
    await dialogs.button("Import").click();
    await dialogs.open.getByText("The weights are ready.").waitFor({ timeout: 60_000 });
    await workbench.screenshot(`${shots}/import-weights.png`);
    await dialogs.button("Done").click();
  });

  test("shows the same runs again after the service was killed", async () => {
    const service = spawnSync("pgrep", ["-f", `serve --data ${data.path}`], { encoding: "utf8" })
      .stdout.trim()
      .split("\n")[0];
    process.kill(Number(service), "SIGKILL");
    await workbench.page.waitForURL(/^data:/, { timeout: 10_000 });
    await workbench.page.waitForURL(/^http:\/\/127\.0\.0\.1/, { timeout: 30_000 });
    // The kill may have come before the last change of tabs was kept.
    await workbench.show("Runs");
    await new RunsPage(workbench).experiments.first().waitFor({ timeout: 30_000 });
    await workbench.screenshot(`${shots}/after-restart.png`);
  });
});

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
