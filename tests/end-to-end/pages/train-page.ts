/** The Train screen, a step of it, and the form for a new run. */
import type { Locator } from "playwright-core";
import type { WorkbenchPage } from "./workbench-page.ts";

export class TrainPage {
  readonly workbench: WorkbenchPage;
  constructor(workbench: WorkbenchPage) {
    this.workbench = workbench;
  }

  private get page() {
    return this.workbench.page;
  }

  get toolbar(): Locator {
    return this.page.getByRole("toolbar", { name: "Training run" });
  }
  get title(): Locator {
    return this.toolbar.getByRole("heading");
  }
  act(verb: "Pause" | "Resume" | "Checkpoint now" | "Stop"): Locator {
    return this.toolbar.getByRole("button", { name: verb });
  }
  run(id: string): Locator {
    return this.page.locator(`[data-training="${id}"]`);
  }
  configuration(label: string): Locator {
    return this.page.getByRole("checkbox", { name: label, exact: true });
  }
  get tiles(): Locator {
    return this.page.getByRole("list", { name: "Health of the run" }).getByRole("listitem");
  }
  chart(title: string): Locator {
    return this.page.getByRole("img", { name: new RegExp(`^${title}`) });
  }
  /** Steps by keyboard: arrows, Home, End. */
  get steps(): Locator {
    return this.page.getByRole("slider", { name: "Step" });
  }
  get stepPane(): Locator {
    return this.page.getByRole("region", { name: "Step", exact: true });
  }
  get squares(): Locator {
    return this.stepPane.locator("[data-square]");
  }
  get runPane(): Locator {
    return this.page.getByRole("region", { name: "Run", exact: true });
  }

  /** Opens the form for a new run. */
  async newRun(): Promise<Locator> {
    await this.workbench.press("Alt+T");
    return this.workbench.dialog("New training run");
  }
}
