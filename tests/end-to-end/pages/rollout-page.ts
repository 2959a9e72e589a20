/** The tab of one rollout. */
import type { Locator } from "playwright-core";
import type { WorkbenchPage } from "./workbench-page.ts";

export type RolloutViewName = "Calls" | "Tokens" | "Artifacts" | "Verifier" | "Logs";

export class RolloutPage {
  readonly workbench: WorkbenchPage;
  constructor(workbench: WorkbenchPage) {
    this.workbench = workbench;
  }

  private get page() {
    return this.workbench.page;
  }

  async view(name: RolloutViewName): Promise<void> {
    await this.page.getByRole("tablist", { name: "Views of the rollout" }).getByRole("tab", { name }).click();
  }

  get calls(): Locator {
    return this.page.getByRole("listbox", { name: "Calls" }).getByRole("option");
  }
  /** By its number on the screen, from 1. */
  call(number: number): Locator {
    return this.page.locator(`[data-call="${number}"]`);
  }
  get request(): Locator {
    return this.page.getByRole("region", { name: "Request" });
  }
  get response(): Locator {
    return this.page.getByRole("region", { name: "Response" });
  }
  get state(): Locator {
    return this.page.getByRole("region", { name: "State" });
  }
  async requestTab(name: "Messages" | "Tools" | "Raw"): Promise<void> {
    await this.request.getByRole("tab", { name }).click();
  }
  async responseTab(name: "Parsed" | "Raw"): Promise<void> {
    await this.response.getByRole("tab", { name }).click();
  }

  get chain(): Locator {
    return this.page.getByRole("combobox", { name: "Chain" });
  }
  get tokens(): Locator {
    return this.page.locator("[data-token]");
  }
  get maskedTokens(): Locator {
    return this.page.locator(".token.is-masked");
  }
  get cursor(): Locator {
    return this.page.locator(".token.is-cursor");
  }
  get tokenCard(): Locator {
    return this.page.getByRole("tooltip").filter({ hasText: "Position" });
  }

  /** The text of the open log, artifact or verifier output. */
  get text(): Locator {
    return this.page.getByRole("log");
  }
}
