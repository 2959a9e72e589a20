import type { Reporter, TestModule } from "vitest/node";

/** Ends a test run with the skipped tests by name and one plain line: `N passed, N failed, N skipped`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    const skipped: string[] = [];
    for (const module of modules) {
      if (module.errors().length > 0) failed += 1;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state === "passed") passed += 1;
        else if (state === "failed") failed += 1;
        else skipped.push(`${module.relativeModuleId} > ${test.fullName}`);
      }
    }
    for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
    process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.length} skipped\n`);
  }
}
