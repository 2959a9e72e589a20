/** Training and comparisons in the window, on a stand-in service: curves, steps, tokens as they were trained, run files, pairs. */
import { describe, expect, it } from "vitest";
import { ComparePage } from "./pages/compare-page.ts";
import { RunsPage } from "./pages/runs-page.ts";
import { TrainPage } from "./pages/train-page.ts";
import { hasBrowser, shots, windowBed } from "./window-bed.ts";

describe.skipIf(!hasBrowser)("training and comparisons in the window", () => {
  const bed = windowBed();

  it("begins with the starter experiment by one click, live, and pauses it", async () => {
    const page = await bed.open(["--empty"]);
    const runs = new RunsPage(page);
    await runs.firstRun.waitFor();
    await runs.runStarter();
    const train = new TrainPage(page);
    await train.title.getByText("starter experiment").waitFor();
    await train.toolbar.getByText("step 3 of 40").waitFor();
    await page.statusBar.getByText(/step \d+ of 40/).waitFor();
    await train.act("Pause").click();
    await train.act("Resume").waitFor();
    await train.toolbar.getByText(/paused at step/).waitFor();
  });

  it("walks by keyboard from curves to a step, its rollouts and their tokens as they were trained", async () => {
    const page = await bed.open();
    await page.press("Alt+5");
    const train = new TrainPage(page);
    await train.run("t-7a12").click();
    await train.runPane.getByText("+0.3").first().waitFor();
    await train.runPane.getByRole("listitem").filter({ hasText: "engine" }).getByText("86\u00a0%").waitFor();
    await page.screenshot(`${shots}/train-run-light.png`);
    expect(await train.tiles.count()).toBe(9);
    await train.chart("Policy loss").waitFor();
    await page.page.getByRole("button", { name: "spike at step 96" }).click();
    await train.stepPane.getByText("carry 71 % of the loss").waitFor();
    await train.stepPane.getByText("sandboxes alone").waitFor();
    await page.screenshot(`${shots}/train-step-light.png`);
    await train.steps.focus();
    await page.press("ArrowRight");
    await train.stepPane.getByText("Step 97").waitFor();
    expect(await train.steps.getAttribute("aria-valuetext")).toMatch(/^step 97, mean reward 0\.\d\d$/);
    expect(await train.squares.count()).toBe(128);
    await train.squares.first().focus();
    await page.press("ArrowRight");
    await page.press("ArrowLeft");
    await page.press("t");
    await page.page.getByText("As step 97 trained on it").waitFor();
    await page.page.locator('.token[class*="delta-"]').first().waitFor();
    await page.page.getByRole("group", { name: "Colour" }).getByRole("button", { name: "Gap" }).click();
    await page.page.locator(".token.heat-1, .token.heat-2").first().waitFor();
    await page.screenshot(`${shots}/trained-tokens-light.png`);
    await page.page.getByRole("button", { name: "Show step 97" }).click();
    await train.stepPane.getByText("Step 97").waitFor();
    await page.press("Escape");
    await train.runPane.waitFor();
  });

  it("draws what is chosen, and says how a failed run can go on", async () => {
    const page = await bed.open();
    await page.show("Train");
    const train = new TrainPage(page);
    await train.run("t-5c01").click();
    await train.runPane.getByText("the loss is not a finite number").waitFor();
    expect(await train.act("Resume").count()).toBe(1);
    await train.configuration("sweep07, grpo").check();
    await expect.poll(() => train.chart("Divergence").getAttribute("aria-label")).toMatch(/ppo two updates .*sweep07, grpo \d/);
    await train.configuration("sweep07, grpo").uncheck();
    await expect.poll(() => train.chart("Divergence").getAttribute("aria-label")).not.toMatch(/sweep07/);
  });

  it("checks a run file as it is written, leads to its faults, starts it", async () => {
    const page = await bed.open();
    const train = new TrainPage(page);
    await page.show("Train");
    await train.title.waitFor();
    const form = await train.newRun();
    const text = form.getByRole("textbox", { name: "Run file" });
    await form.getByText("About 1.1 GB of memory").waitFor();
    await text.fill((await text.inputValue()).replace("steps: 200", "steps: many"));
    await form.getByRole("button", { name: /^line 11/ }).click();
    await page.screenshot(`${shots}/new-training-light.png`);
    await text.fill((await text.inputValue()).replace("steps: many", "steps: 40"));
    await form.getByLabel("Seeds").fill("one");
    await form.getByText("Whole numbers with commas").waitFor();
    await form.getByLabel("Seeds").fill("1, 2");
    await form.getByText("2 runs will start").waitFor();
    await form.getByText("About 1.1 GB of memory").waitFor();
    await form.getByRole("button", { name: "Start training" }).click();
    await form.waitFor({ state: "detached" });
    await train.run("t-new2").waitFor();
  });

  it("compares by task and in pairs, opens both rollouts, and refuses to rank too little", async () => {
    const page = await bed.open([], { scheme: "dark" });
    await page.show("Compare");
    const compare = new ComparePage(page);
    await compare.choose("Experiment", "codex 0.170 against 0.171");
    await compare.paired.getByText("B is worse").waitFor();
    expect(await compare.tasks.count()).toBe(9);
    await compare.tasks.first().click();
    const flipped = await compare.pairs.count();
    await page.press("j");
    await compare.list("Only A").click();
    await expect.poll(() => compare.pairs.count()).toBeGreaterThan(0);
    expect(flipped).toBeGreaterThan(0);
    await page.screenshot(`${shots}/compare-dark.png`);
    await compare.transfer.getByText("as it came").waitFor();
    await page.press("x");
    await compare.paired.getByText("B is better").waitFor();
    await compare.choose("Experiment", "starter experiment");
    await compare.choose("beside", "harness sweep 06");
    await compare.paired.getByText("too few to rank").waitFor();
    await compare.choose("Experiment", "harness sweep 07");
    await compare.paired.getByRole("button", { name: /^Open both/ }).click();
    await expect.poll(() => page.tab(/^r-/).count()).toBe(2);
  });
});
