/** The Compare screen. */
import type { Locator } from "playwright-core";
import type { WorkbenchPage } from "./workbench-page.ts";

export class ComparePage {
  readonly workbench: WorkbenchPage;
  constructor(workbench: WorkbenchPage) {
    this.workbench = workbench;
  }

  private get page() {
    return this.workbench.page;
  }

  get grid(): Locator {
    return this.page.getByRole("region", { name: "Harness by task" });
  }
  get paired(): Locator {
    return this.page.getByRole("region", { name: "Paired", exact: true });
  }
  async choose(label: "Experiment" | "beside" | "A" | "B", option: string): Promise<void> {
    await this.page.getByRole("combobox", { name: label, exact: true }).selectOption({ label: option });
  }
  get tasks(): Locator {
    return this.page.locator("[data-compare-task]");
  }
  get pairs(): Locator {
    return this.page.locator("[data-pair]");
  }
  list(name: "Only A" | "Only B" | "Both" | "Neither"): Locator {
    return this.paired.getByRole("group", { name: "Pairs by who succeeded" }).getByRole("button", { name });
  }
  get transfer(): Locator {
    return this.page.getByRole("region", { name: /^Transfer/ });
  }
}
