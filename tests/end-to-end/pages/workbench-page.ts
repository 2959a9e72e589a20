/**
 * The window as a test drives it. Selectors live in this folder and nowhere else. `open` fails the test at its end when the page
 * threw, logged an error or had a request refused.
 */
import axe from "axe-core";
import type { Browser, Locator, Page, WebSocketRoute } from "playwright-core";
import { chromium } from "playwright-core";

const launchArguments = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Debian's Chromium, or the one that CHROMIUM names. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: launchArguments });

export interface WindowOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  /** Puts the connection through the test, so that `dropConnection` can cut it. */
  readonly holdsConnection?: boolean;
}

export type ScreenName = "Runs" | "Tasks" | "Harnesses" | "Compare" | "Train" | "Settings";

export class WorkbenchPage {
  readonly page: Page;
  /** What went wrong on the page so far: uncaught errors, console errors, failed requests. */
  readonly complaints: string[] = [];
  private readonly connections: WebSocketRoute[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on("pageerror", (error) => this.complaints.push(`uncaught: ${error.message}`));
    page.on("console", (message) => message.type() === "error" && this.complaints.push(`console: ${message.text()}`));
    page.on("requestfailed", (request) => {
      // The page itself gives up what it no longer shows.
      if (request.failure()?.errorText !== "net::ERR_ABORTED") this.complaints.push(`request failed: ${request.url()}`);
    });
  }

  /** Opens the address that the service printed and waits until the window is connected. */
  static async open(
    browser: Browser,
    url: string,
    { width = 1440, height = 900, scheme = "light", holdsConnection = false }: WindowOptions = {},
  ): Promise<WorkbenchPage> {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme });
    const workbench = new WorkbenchPage(await context.newPage());
    if (holdsConnection)
      await workbench.page.routeWebSocket(/\/rpc$/, (route) => {
        route.connectToServer();
        workbench.connections.push(route);
      });
    await workbench.page.goto(url);
    await workbench.ready();
    return workbench;
  }

  /** Connected and showing a screen. */
  async ready(): Promise<void> {
    await this.page.locator("footer").getByText("Proxy", { exact: false }).first().waitFor();
    await this.page.locator("main [aria-busy=true]").waitFor({ state: "detached" });
  }

  /** Cuts the connection to the service, as a restart does; how often the window has connected is `connected`. */
  async dropConnection(): Promise<void> {
    await this.connections.at(-1)?.close({ code: 1012, reason: "restart" });
  }
  get connected(): number {
    return this.connections.length;
  }

  async show(screen: ScreenName): Promise<void> {
    await this.page.getByRole("navigation", { name: "Screens" }).getByRole("button", { name: screen }).click();
  }

  tab(title: string | RegExp): Locator {
    return this.page.getByRole("tablist", { name: "Open places" }).getByRole("tab", { name: title });
  }

  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key);
  }

  /** Runs a command by its title, as a person would: through the palette. */
  async command(title: string): Promise<void> {
    await this.press("Control+K");
    await this.page.getByRole("combobox", { name: "Search rollouts, tasks and commands" }).fill(`>${title}`);
    await this.page.getByRole("option", { name: title }).first().click();
  }

  panel(view: "Logs" | "Verifier" | "Problems"): Locator {
    return this.page.getByRole("region", { name: "Bottom panel" }).getByRole("tab", { name: view });
  }

  dialog(title: string): Locator {
    return this.page.getByRole("dialog", { name: title });
  }

  get statusBar(): Locator {
    return this.page.locator("footer");
  }

  get toasts(): Locator {
    return this.page.locator("ul[aria-live=polite] > li");
  }

  /** What the accessibility rules of axe-core say against the page as it stands: rule and element. */
  async accessibilityFaults(): Promise<readonly string[]> {
    await this.page.evaluate(axe.source);
    return this.page.evaluate<string[]>(
      `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ": " + target.join(" "))))`,
    );
  }

  /** The whole of it lies inside what scrolls it. */
  async isInSight(element: Locator, scroller: Locator): Promise<boolean> {
    const [inner, outer] = [await element.boundingBox(), await scroller.boundingBox()];
    return inner !== null && outer !== null && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height;
  }

  async screenshot(path: string): Promise<void> {
    await this.page.screenshot({ path });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
