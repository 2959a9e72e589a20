/** Dialogs that bring data in and out, attach programs and keep policies. */
import type { Locator } from "playwright-core";
import type { WorkbenchPage } from "./workbench-page.ts";

export class DialogsPage {
  readonly workbench: WorkbenchPage;
  constructor(workbench: WorkbenchPage) {
    this.workbench = workbench;
  }

  get open(): Locator {
    return this.workbench.page.getByRole("dialog");
  }
  button(verb: string): Locator {
    return this.open.getByRole("button", { name: verb, exact: true });
  }
  field(label: string): Locator {
    return this.open.getByLabel(label, { exact: true });
  }
  format(title: string): Locator {
    return this.open.getByRole("radio", { name: new RegExp(`^${title}`) });
  }
  policy(id: string): Locator {
    return this.workbench.page.locator(`[data-policy="${id}"]`);
  }
  get correction(): Locator {
    return this.workbench.page.getByRole("region", { name: "Correction" });
  }
  step(name: string): Locator {
    return this.workbench.page.locator(`[data-step="${name}"]`);
  }
}
