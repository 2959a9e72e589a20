/** A browser, a stand-in service and a window for each test of a file. A test fails at its end when its page complained. */
import { existsSync, mkdirSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type StandIn, startStandIn } from "../stand-ins/workbench-service/start.ts";
import { launchBrowser, type WindowOptions, WorkbenchPage } from "./pages/workbench-page.ts";

export const shots = "test-results/window";
export const hasBrowser = existsSync(process.env.CHROMIUM ?? "/usr/bin/chromium");

interface WindowBed {
  /** A new service with a window on it; those that were open before are closed. */
  open(serviceOptions?: readonly string[], window?: WindowOptions): Promise<WorkbenchPage>;
  stopService(): void;
  /** The test closes its window, and expects what it complained of. */
  forget(): void;
}

/** Called in a `describe`: sets up and tears down by itself. */
export function windowBed(): WindowBed {
  let browser: Browser;
  let service: StandIn | null = null;
  let workbench: WorkbenchPage | null = null;
  beforeAll(async () => {
    mkdirSync(shots, { recursive: true });
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  async function close(): Promise<void> {
    const complaints = workbench?.complaints ?? [];
    await workbench?.close();
    service?.stop();
    [service, workbench] = [null, null];
    expect(complaints).toEqual([]);
  }
  afterEach(close);
  return {
    async open(serviceOptions = [], window = {}) {
      await close();
      service = await startStandIn(serviceOptions);
      workbench = await WorkbenchPage.open(browser, service.url, window);
      return workbench;
    },
    stopService: () => service?.stop(),
    forget: () => {
      workbench = null;
    },
  };
}
