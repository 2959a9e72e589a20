/**
 * The window alone, on a stand-in service with invented data: first run, runs, one rollout, palette, experiments, catalogues; by
 * pointer and by keyboard, with screenshots in test-results/window/. What the real service does in it is tested elsewhere.
 */
import { describe, expect, it } from "vitest";
import { HarnessesPage, SettingsPage, TasksPage } from "./pages/catalogue-pages.ts";
import { RolloutPage } from "./pages/rollout-page.ts";
import { RunsPage } from "./pages/runs-page.ts";
import { hasBrowser, shots, windowBed } from "./window-bed.ts";

describe.skipIf(!hasBrowser)("the window", () => {
  const bed = windowBed();

  it("begins on an empty store with two things to try", async () => {
    for (const scheme of ["light", "dark"] as const) {
      const page = await bed.open(["--empty"], { scheme });
      await new RunsPage(page).firstRun.waitFor();
      await page.page.getByText("Local sandbox", { exact: true }).waitFor();
      await page.screenshot(`${shots}/first-${scheme}.png`);
    }
  });

  it("shows runs by the keyboard alone: expand, move, open a call, read tokens", async () => {
    const page = await bed.open();
    const runs = new RunsPage(page);
    await runs.rollouts.first().waitFor();
    await runs.grid.focus();
    // Past the last row in sight and back: the active row is never out of it.
    for (const key of ["G", "ArrowUp", "g"]) {
      await page.press(key);
      await expect.poll(() => page.isInSight(runs.active, runs.grid)).toBe(true);
    }
    for (const key of ["j", "j", "j", "j", "j", "j", "ArrowRight", "ArrowDown"]) await page.press(key);
    await runs.calls.first().waitFor();
    await page.screenshot(`${shots}/runs-light.png`);
    await page.press("Enter");
    const rollout = new RolloutPage(page);
    await rollout.request.getByRole("tab", { name: "Messages" }).waitFor();
    for (const key of ["j", "j", "j"]) await page.press(key);
    await rollout.response.getByText("calls bash").waitFor();
    await page.screenshot(`${shots}/rollout-light.png`);
    expect(await rollout.calls.locator("xpath=self::*[@aria-selected='true']").getAttribute("data-call")).toBe("4");

    await page.press("t");
    await rollout.tokens.first().waitFor();
    expect(await rollout.maskedTokens.count()).toBeGreaterThan(10);
    await page.press("e");
    const edge = await rollout.cursor.getAttribute("data-token");
    await page.press("e");
    expect(await rollout.cursor.getAttribute("data-token")).not.toBe(edge);
    await rollout.cursor.hover();
    await rollout.tokenCard.waitFor();
    await page.screenshot(`${shots}/tokens-light.png`);
    await page.press("4");
    await rollout.text.getByText("test_rows_match").waitFor();
  });

  it("filters, says what is wrong, keeps the rows until it is right", async () => {
    const page = await bed.open();
    const runs = new RunsPage(page);
    await runs.rollouts.first().waitFor();
    const all = await runs.rollouts.count();
    await page.press("/");
    await page.page.keyboard.type("reward>high");
    await page.page.getByRole("alert").getByText("needs a number").waitFor();
    expect(await runs.rollouts.count()).toBe(all);
    await runs.setFilter('outcome:failed reward:0 -harness:codex "verifier"');
    await expect.poll(() => runs.rollouts.count()).toBeGreaterThan(0);
    expect(await runs.withOutcome("succeeded").count()).toBe(0);
    await runs.setFilter("task=nothing");
    await page.page.getByText("No rollout matches").waitFor();
    await page.page.getByRole("button", { name: "Clear filter" }).click();
    await expect.poll(() => runs.rollouts.count()).toBe(all);
    const reward = runs.grid.getByRole("columnheader", { name: "Reward" });
    for (const order of ["descending", "ascending"]) {
      await page.command("Sort runs by reward");
      await expect.poll(() => reward.getAttribute("aria-sort")).toBe(order);
    }
  });

  it("has every command in the palette and every key on one page", async () => {
    const page = await bed.open();
    await new RunsPage(page).rollouts.first().waitFor();
    await new RunsPage(page).grid.focus();
    await page.press("?");
    const keys = page.dialog("Keys");
    await keys.getByRole("textbox", { name: "Filter by name or key" }).fill("palette");
    await keys.getByText("Command palette").waitFor();
    expect(await keys.getByText("Next row").count()).toBe(0);
    await keys.getByRole("button", { name: "Close" }).click();
    await keys.waitFor({ state: "detached" });
    expect(await page.page.evaluate("document.activeElement.getAttribute('role')")).toBe("treegrid");
    await page.command("Dark theme");
    await expect.poll(() => page.page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    await page.press("Control+K");
    await page.page.getByRole("combobox", { name: "Search rollouts, tasks and commands" }).fill("r-8c3c");
    await page.page
      .getByRole("option", { name: /r-8c3c/ })
      .first()
      .waitFor();
    await page.press("Enter");
    await new RolloutPage(page).calls.first().waitFor();
    await page.tab(/r-8c3c/).waitFor();
  });

  it("starts an experiment; a mistake sits under its field", async () => {
    const page = await bed.open();
    const form = await new RunsPage(page).newExperiment();
    await form.getByText("6 rollouts will run").waitFor();
    await form.getByLabel("k", { exact: true }).fill("eight");
    await form.getByRole("button", { name: "Start experiment" }).click();
    await form.getByText("k is a whole number from 1, for example 8.").waitFor();
    await page.screenshot(`${shots}/new-experiment-light.png`);
    await form.getByLabel("k", { exact: true }).fill("4");
    await form.getByRole("textbox", { name: "Folder of a task package" }).fill("/nowhere");
    await form.getByRole("textbox", { name: "Folder of a task package" }).press("Enter");
    await form.getByRole("button", { name: "Start experiment" }).click();
    await form.getByText("There is no task package at /nowhere.").waitFor();
    await form.getByText("/nowhere", { exact: true }).click();
    await form.getByRole("button", { name: "Start experiment" }).click();
    await form.waitFor({ state: "detached" });
  });

  it("tests a task, probes a harness, changes the theme", async () => {
    const page = await bed.open([], { scheme: "dark" });
    await page.show("Tasks");
    const tasks = new TasksPage(page);
    // The list is one tab stop: arrows walk it, and what they reach is open.
    await tasks.task("csv-dedupe-stable").click();
    for (const [key, name] of [
      ["End", "my-first-task"],
      ["Home", "csv-dedupe-stable"],
    ] as const) {
      await page.press(key);
      await expect.poll(() => tasks.task(name).getAttribute("aria-current")).toBe("true");
    }
    await tasks.runAll();
    await tasks.bench.getByText("1 scored").waitFor();
    await page.screenshot(`${shots}/tasks-dark.png`);
    await tasks.task("my-first-task").click();
    await page.page.getByText("task.toml:12").first().waitFor();
    await page.show("Harnesses");
    const harnesses = new HarnessesPage(page);
    await harnesses.harness("codex").click();
    await harnesses.probe();
    await harnesses.details.getByText("A call arrived").waitFor();
    await page.screenshot(`${shots}/harnesses-dark.png`);
    await page.show("Settings");
    await new SettingsPage(page).theme("Light");
    expect(await page.page.evaluate("document.documentElement.dataset.theme")).toBe("light");
    await page.screenshot(`${shots}/settings-light.png`);
  });
});
