import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { rolldown } from "rolldown";
import { type BenchmarkRow, compare } from "./measure/compare.ts";

const runs = 50;
const steps = 100_000;

/** One of the charts of Train with 50 runs of 100,000 steps, in Chromium: whole, as after a resize, and after one run got a step. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) throw new Error(`there is no browser at ${executablePath}; name one by CHROMIUM`);
  const bundle = await rolldown({ input: fileURLToPath(new URL("./measure/chart-page.mjs", import.meta.url)) });
  const { output } = await bundle.generate({ format: "iife" });
  await bundle.close();
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage();
    await page.evaluate(output[0].code);
    note(`${runs} runs of ${steps.toLocaleString("en-US")} steps`);
    await page.evaluate(`prepare(${runs}, ${steps})`);
    let width = 400;
    return [
      await compare({
        name: "chart of 50 runs with 100,000 steps, redrawn whole",
        unit: "ms",
        aim: "< 200",
        measure: () => {
          width = width === 400 ? 404 : 400;
          return page.evaluate<number>(`redraw(${width}, false)`);
        },
        reference: null,
      }),
      await compare({
        name: "chart of 50 runs with 100,000 steps, after one run got a step",
        unit: "ms",
        aim: "< 50",
        measure: () => page.evaluate<number>(`redraw(${width}, true)`),
        reference: null,
      }),
    ];
  } finally {
    await browser.close();
  }
}
