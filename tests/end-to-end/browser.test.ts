/** The workbench as a newcomer meets it in a browser: real service, real sandboxes, empty data folder. Screenshots in test-results/real/. */
import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { starterTaskNames } from "../contract/task-packages.ts";
import { type Running, start, temporaryData } from "./openforge.ts";
import { HarnessesPage, TasksPage } from "./pages/catalogue-pages.ts";
import { DialogsPage } from "./pages/dialogs-page.ts";
import { RolloutPage } from "./pages/rollout-page.ts";
import { RunsPage } from "./pages/runs-page.ts";
import { TrainPage } from "./pages/train-page.ts";
import { launchBrowser, WorkbenchPage } from "./pages/workbench-page.ts";

const shots = "test-results/real";
const hasBrowser = existsSync(process.env.CHROMIUM ?? "/usr/bin/chromium");

describe.skipIf(!hasBrowser)("the workbench in a browser", () => {
  const data = temporaryData();
  let browser: Browser;
  let service: Running;
  let workbench: WorkbenchPage;
  let runs: RunsPage;

  beforeAll(async () => {
    mkdirSync(shots, { recursive: true });
    browser = await launchBrowser();
    service = start(["serve"], data.path);
    const [, url] = await service.waitFor(/^Workbench at (\S+)$/m);
    workbench = await WorkbenchPage.open(browser, url ?? "", { scheme: "dark" });
    runs = new RunsPage(workbench);
  });

  afterAll(async () => {
    await browser.close();
    service.process.kill("SIGTERM");
    await service.ended;
    data.remove();
    expect(workbench.complaints).toEqual([]);
  });

  test("an empty data folder shows the first-run screen; one command runs the starter tasks to their end", async () => {
    await runs.firstRun.waitFor();
    await workbench.screenshot(`${shots}/first-run.png`);
    await runs.runStarterTasks();
    await runs
      .withOutcome("succeeded")
      .nth(starterTaskNames.length - 1)
      .waitFor({ timeout: 120_000 });
    expect(await runs.rollouts.count()).toBe(starterTaskNames.length);
    await workbench.screenshot(`${shots}/runs.png`);
  });

  test("a rollout opens with its calls, its tokens, its artifacts and what the verifier said", async () => {
    await runs.rollouts.first().dblclick();
    const rollout = new RolloutPage(workbench);
    await rollout.calls.first().waitFor();
    expect(await rollout.calls.count()).toBeGreaterThan(1);
    await rollout.call(2).click();
    await rollout.response.getByText(/calls/).first().waitFor();
    await workbench.screenshot(`${shots}/rollout-calls.png`);
    await rollout.requestTab("Raw");
    await rollout.request.getByText("messages").first().waitFor();
    await workbench.screenshot(`${shots}/rollout-raw.png`);
    await rollout.view("Tokens");
    await rollout.tokens.first().waitFor();
    expect(await rollout.maskedTokens.count()).toBeGreaterThan(0);
    await workbench.screenshot(`${shots}/rollout-tokens.png`);
    for (const view of ["Artifacts", "Verifier", "Logs"] as const) {
      await rollout.view(view);
      await workbench.screenshot(`${shots}/rollout-${view.toLowerCase()}.png`);
    }
  });

  test("the catalogues list what ships, and a task's checks run from its bench", async () => {
    await workbench.show("Tasks");
    const tasks = new TasksPage(workbench);
    await tasks.tasks.nth(5).waitFor();
    await tasks.tasks.first().click();
    await tasks.run("empty");
    await tasks.bench.locator(".chip", { hasText: "0.00" }).waitFor({ timeout: 60_000 });
    await workbench.screenshot(`${shots}/tasks.png`);
    await workbench.show("Harnesses");
    await new HarnessesPage(workbench).harness("codex").waitFor();
    await workbench.screenshot(`${shots}/harnesses.png`);
  });

  test("the form starts an experiment with defaults that work here", async () => {
    await workbench.show("Runs");
    const before = await runs.experiments.count();
    const form = await runs.newExperiment();
    await workbench.screenshot(`${shots}/new-experiment.png`);
    await form.getByRole("button", { name: /^(Start|Run)/ }).click();
    await form.waitFor({ state: "detached" });
    await expect.poll(() => runs.experiments.count(), { timeout: 30_000 }).toBe(before + 1);
  });

  test("one command trains the starter policy, says what it does, and is stopped by another", async () => {
    await workbench.command("Run the starter experiment");
    const train = new TrainPage(workbench);
    await train.toolbar.getByText(/^step \d+ of \d+$/).waitFor({ timeout: 120_000 });
    await train.toolbar.getByText(/^evaluating \d+ of \d+$/).waitFor({ timeout: 120_000 });
    await workbench.screenshot(`${shots}/train.png`);
    await train.act("Stop").click();
    await workbench.page.getByRole("button", { name: "Stop training" }).click();
    await train.toolbar.getByText(/^cancelled at step/).waitFor({ timeout: 120_000 });
  });

  test("policy weights come in from a file, and stand among the policies", async () => {
    const dialogs = new DialogsPage(workbench);
    await workbench.command("Import policy weights");
    await dialogs.field("Path").fill(resolve("tests/fixtures/gguf/tiny-llama.gguf"));
    await dialogs.button("Import").click();
    await dialogs.open.getByText("The weights are ready.").waitFor({ timeout: 60_000 });
    await workbench.screenshot(`${shots}/import-weights.png`);
    await dialogs.button("Done").click();
    await workbench.show("Settings");
    await dialogs.policy("embedded:tiny-llama").getByText("ids+logprobs").waitFor();
  });

  test("the bundled recording opens, and says that nothing is executed", async () => {
    const page = workbench.page;
    await workbench.command("Open the bundled recording");
    const rollout = new RolloutPage(workbench);
    await rollout.call(9).waitFor({ timeout: 30_000 });
    await rollout.call(9).click();
    await page.waitForTimeout(300);
    await workbench.screenshot(`${shots}/recording-call-9.png`);
  });
});
