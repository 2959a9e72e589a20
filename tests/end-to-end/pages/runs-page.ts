/** The Runs screen and, on an empty store, the first-run screen. */
import type { Locator } from "playwright-core";
import type { WorkbenchPage } from "./workbench-page.ts";

export class RunsPage {
  readonly workbench: WorkbenchPage;
  constructor(workbench: WorkbenchPage) {
    this.workbench = workbench;
  }

  private get page() {
    return this.workbench.page;
  }

  get firstRun(): Locator {
    return this.page.getByRole("heading", { name: "Two things to try first" });
  }
  /** Trains the starter policy. */
  runStarter(): Promise<void> {
    return this.page.getByRole("button", { name: "Run starter" }).click();
  }
  /** Every starter task once, with the scripted policy. */
  runStarterTasks(): Promise<void> {
    return this.workbench.command("Run the starter tasks once");
  }
  openRecording(): Promise<void> {
    return this.page.getByRole("button", { name: "Open recording" }).click();
  }

  get grid(): Locator {
    return this.page.getByRole("treegrid", { name: "Experiments, rollouts and calls" });
  }
  get experiments(): Locator {
    return this.grid.locator('[data-row^="e/"]');
  }
  get rollouts(): Locator {
    return this.grid.locator('[data-row^="r/"]');
  }
  get calls(): Locator {
    return this.grid.locator('[data-row^="c/"]');
  }
  /** The selected row. */
  get active(): Locator {
    return this.grid.locator('[data-row][aria-selected="true"]');
  }
  rollout(id: string): Locator {
    return this.grid.locator(`[data-row="r/${id}"]`);
  }
  experiment(id: string): Locator {
    return this.grid.locator(`[data-row="e/${id}"]`);
  }
  /** Rows whose outcome chip says this word. */
  withOutcome(word: string): Locator {
    return this.rollouts.filter({ has: this.page.locator(".chip", { hasText: word }) });
  }

  get filter(): Locator {
    return this.page.getByRole("combobox", { name: "Filter rollouts" });
  }
  async setFilter(text: string): Promise<void> {
    await this.filter.fill(text);
    await this.filter.press("Enter");
  }

  get details(): Locator {
    return this.page.getByRole("region", { name: "Details" });
  }

  /** Opens the form; it starts as it stands. */
  async newExperiment(): Promise<Locator> {
    await this.page.getByRole("button", { name: "New experiment" }).first().click();
    return this.workbench.dialog("New experiment");
  }
}
