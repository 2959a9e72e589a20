/** Tasks, Harnesses and Settings. */
import type { Locator } from "playwright-core";
import type { WorkbenchPage } from "./workbench-page.ts";

export class TasksPage {
  readonly workbench: WorkbenchPage;
  constructor(workbench: WorkbenchPage) {
    this.workbench = workbench;
  }
  get tasks(): Locator {
    return this.workbench.page.locator("[data-task]");
  }
  task(name: string): Locator {
    return this.workbench.page.locator(`[data-task="${name}"]`);
  }
  get bench(): Locator {
    return this.workbench.page.getByRole("region", { name: "Test bench" });
  }
  run(check: "validate" | "gold" | "empty" | "cheats"): Promise<void> {
    return this.bench.getByRole("button", { name: `Run ${check}` }).click();
  }
  runAll(): Promise<void> {
    return this.bench.getByRole("button", { name: "Run all" }).click();
  }
}

export class HarnessesPage {
  readonly workbench: WorkbenchPage;
  constructor(workbench: WorkbenchPage) {
    this.workbench = workbench;
  }
  harness(id: string): Locator {
    return this.workbench.page.locator(`[data-harness="${id}"]`);
  }
  get details(): Locator {
    return this.workbench.page.getByRole("region", { name: "Harness", exact: true });
  }
  install(): Promise<void> {
    return this.details.getByRole("button", { name: /^Install/ }).click();
  }
  probe(): Promise<void> {
    return this.details.getByRole("button", { name: /^Probe/ }).click();
  }
}

export class SettingsPage {
  readonly workbench: WorkbenchPage;
  constructor(workbench: WorkbenchPage) {
    this.workbench = workbench;
  }
  async theme(name: "System" | "Light" | "Dark"): Promise<void> {
    await this.workbench.page.getByRole("group", { name: "Theme" }).getByRole("button", { name }).click();
  }
  async density(name: "Compact" | "Regular" | "Comfortable"): Promise<void> {
    await this.workbench.page.getByRole("group", { name: "Density" }).getByRole("button", { name }).click();
  }
}
