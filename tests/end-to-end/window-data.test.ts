/**
 * What goes in and out of the window, on the stand-in service: exports, imports, attached programs with grades and corrections, stored
 * files, steps, policies. Each by pointer or keyboard, with screenshots in test-results/window/ and the rules of accessibility.
 */
import { mkdirSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type StandIn, startStandIn } from "../stand-ins/workbench-service/start.ts";
import { HarnessesPage } from "./pages/catalogue-pages.ts";
import { DialogsPage } from "./pages/dialogs-page.ts";
import { RolloutPage } from "./pages/rollout-page.ts";
import { RunsPage } from "./pages/runs-page.ts";
import { launchBrowser, WorkbenchPage } from "./pages/workbench-page.ts";
import { hasBrowser, shots } from "./window-bed.ts";

describe.skipIf(!hasBrowser)("data in and out of the window", () => {
  let browser: Browser;
  let service: StandIn;
  let page: WorkbenchPage;
  let runs: RunsPage;
  let dialogs: DialogsPage;
  let schemes = 0;

  beforeAll(async () => {
    mkdirSync(shots, { recursive: true });
    browser = await launchBrowser();
    service = await startStandIn();
  });
  afterAll(async () => {
    await browser.close();
    service.stop();
  });
  // Light and dark by turns: each look is looked at.
  beforeEach(async () => {
    schemes += 1;
    page = await WorkbenchPage.open(browser, service.url, { width: 1280, height: 800, scheme: schemes % 2 === 0 ? "dark" : "light" });
    runs = new RunsPage(page);
    dialogs = new DialogsPage(page);
    // The window opens where the one before was left.
    await page.show("Runs");
    await runs.rollouts.first().waitFor();
  });
  afterEach(async () => {
    await page.close();
    expect(page.complaints).toEqual([]);
  });

  async function look(name: string): Promise<void> {
    await page.screenshot(`${shots}/${name}.png`);
    expect(await page.accessibilityFaults()).toEqual([]);
  }

  it("exports a rollout by the keyboard: format, place, progress, what was left out", async () => {
    await runs.rollouts.nth(7).click();
    await page.press("Control+E");
    await dialogs.format("verl, RL").check();
    expect(await dialogs.field("Path").inputValue()).toMatch(/\/exports\/r-[0-9a-f]+-rl\.parquet$/);
    await dialogs.field("Path").fill("rows.parquet");
    await dialogs.open.getByText("A whole path, for example").waitFor();
    await dialogs.field("Path").fill("/tmp/rows.parquet");
    await dialogs.button("Export").click();
    await dialogs.open.getByText("2 rows written").waitFor();
    await dialogs.open.getByText("no reward").waitFor();
    await look("export");
  });

  it("imports recordings and tasks, and says by line what is wrong with them and what this machine lacks", async () => {
    await page.command("Import recordings");
    await dialogs.button("Import").click();
    await dialogs.open.getByText("A whole path, for example").waitFor();
    await dialogs.field("Path").fill("/home/ada/jobs/1");
    await dialogs.button("Import").click();
    await dialogs.open.getByText("6 rollouts, 12 calls.").waitFor();
    await look("import-recordings");
    await dialogs.button("Show in Runs").waitFor();
    await page.press("Escape");
    await page.command("Import a task");
    await dialogs.field("From").fill("/home/ada/faulty");
    await dialogs.button("Import task").click();
    await dialogs.open.getByText("was not copied").waitFor();
    await dialogs.field("From").fill("/home/ada/task.tar.gz");
    await dialogs.button("Import task").click();
    await dialogs.open.getByText("task.toml:7").waitFor();
    await dialogs.open.getByText("Docker cannot be used here").waitFor();
    await look("import-task");
  });

  it("opens an address for a program and tells its key once", async () => {
    await page.press("Alt+A");
    await dialogs.button("Open an address").click();
    await dialogs.open.getByText("A name for what is recorded").waitFor();
    await dialogs.field("Name").fill("my-agent");
    await dialogs.button("Open an address").click();
    await dialogs.open.getByText("The key is told once.").waitFor();
    await dialogs.open.getByRole("button", { name: "Anthropic" }).click();
    await dialogs.open.getByText("export ANTHROPIC_AUTH_TOKEN=ofk-").first().waitFor();
    await look("attached");
    await dialogs.button("Show in Runs").click();
    await runs.details.getByText("3 sessions, 31 calls so far.").waitFor();
    await expect.poll(() => page.isInSight(runs.experiment("e-5"), runs.grid)).toBe(true);
    await look("open-address");
  });

  it("grades a session and corrects an answer of it", async () => {
    await runs.experiment("e-5").click();
    await page.press("ArrowRight");
    await runs.rollout("e-5-0").dblclick();
    const rollout = new RolloutPage(page);
    await rollout.response.getByText("Correct…").waitFor();
    await page.press("w");
    await dialogs.correction.getByLabel("What it should have answered").fill("sqlite3 data/app.db .recover");
    await dialogs.correction.getByRole("button", { name: "Keep correction" }).click();
    await dialogs.correction.getByText("corrected by a person").waitFor();
    await rollout.call(1).getByText("corrected").waitFor();
    await look("corrected");
    await page.press("y");
    await dialogs.open.getByRole("button", { name: "Failed" }).click();
    await dialogs.field("Category").selectOption("tool-misuse");
    await dialogs.button("Grade").click();
    await page.page.getByRole("button", { name: "Grade again…" }).waitFor();
    await page.page.locator("main .chip", { hasText: "tool-misuse" }).first().waitFor();
  });

  it("shows stored pictures and texts, saves what it cannot show, and lists the rewards of steps", async () => {
    await runs.rollouts.filter({ hasText: "ledger-balance" }).filter({ hasText: "succeeded" }).first().dblclick();
    const rollout = new RolloutPage(page);
    await rollout.view("Artifacts");
    await page.page.getByRole("button", { name: /rows\.svg/ }).click();
    await page.page.getByRole("img", { name: "artifacts/plots/rows.svg" }).waitFor();
    await look("artifacts");
    await page.page.getByRole("button", { name: /new\.db/ }).click();
    const download = page.page.waitForEvent("download");
    await page.page.getByRole("main").getByRole("button", { name: "Save file" }).last().click();
    expect((await download).suggestedFilename()).toBe("new.db");
    await rollout.view("Verifier");
    await dialogs.step("migrate").getByText("0.80 is wanted").waitFor();
    await dialogs.step("report").getByText("not begun").waitFor();
    await look("steps");
    await dialogs.step("migrate").getByRole("button", { name: "4–7" }).click();
    await rollout.calls.first().waitFor();
  });

  it("keeps policies of every kind, with what they give and cost", async () => {
    await page.show("Settings");
    await dialogs.policy("teacher").getByText("7.08").waitFor();
    await dialogs.policy("gateway").getByRole("button", { name: "Probe" }).click();
    await dialogs.policy("gateway").getByText("Start it, or correct its address.").waitFor();
    await look("policies");
    await dialogs.policy("teacher").getByRole("button", { name: "Change…" }).click();
    expect(await dialogs.field("Price of a million output tokens").inputValue()).toBe("15");
    await dialogs.field("Price of a million output tokens").fill("lots");
    await dialogs.button("Save and probe").click();
    await dialogs.open.getByText("A number, for example 3 or 0.25.").waitFor();
    await look("change-policy");
    await page.press("Escape");
    await page.press("Alt+N");
    await page.dialog("New experiment").getByText("best step").first().waitFor();
  });

  it("imports policy weights: what is wrong under its field or in a sentence, progress, the name it has here", async () => {
    await page.command("Import policy weights");
    await dialogs.field("Path").fill("weights.gguf");
    await dialogs.button("Import").click();
    await dialogs.open.getByText("A whole path, for example").waitFor();
    await dialogs.field("Path").fill("/home/ada/models/broken.gguf");
    await page.press("Enter");
    await dialogs.open.getByText("broken.gguf holds a gpt2 model").waitFor();
    await dialogs.field("Path").fill("/home/ada/models/qwen3-0.6b.gguf");
    await dialogs.field("Name").fill("qwen3");
    await dialogs.button("Import").click();
    await dialogs.open.getByText("310 of 310 weights").waitFor();
    await dialogs.open.getByText("embedded:qwen3", { exact: true }).waitFor();
    await look("import-weights");
    await dialogs.button("Done").click();
  });

  it("says how long work ended when its dialog was closed meanwhile, also that it failed", async () => {
    for (const [file, said] of [
      ["qwen3.gguf", "embedded:/home/ada/qwen3.gguf imported"],
      ["broken.gguf", "broken.gguf holds a gpt2 model"],
    ] as const) {
      await page.command("Import policy weights");
      await dialogs.field("Path").fill(`/home/ada/${file}`);
      await dialogs.button("Import").click();
      await dialogs.open.getByText("Running").waitFor();
      await page.press("Escape");
      await dialogs.open.waitFor({ state: "detached" });
      await page.toasts.getByText(said).waitFor();
    }
  });

  it("tells of a harness what it needs, lacks and was last seen to do", async () => {
    await page.show("Harnesses");
    const harnesses = new HarnessesPage(page);
    await harnesses.details.getByText("yes, token for token").waitFor();
    await harnesses.harness("react").focus();
    await page.press("ArrowDown");
    await harnesses.details.getByText("306 MB").waitFor();
    await look("catalogue");
    await page.command("New harness");
    await dialogs.field("Id").fill("my-agent");
    await dialogs.button("Write manifest").click();
    await dialogs.open.getByText("The manifest is written.").waitFor();
  });
});
