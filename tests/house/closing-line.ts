import type { Reporter, TestModule } from "vitest/node";

/** The first line of what an error says (vitest hands on errors as plain objects with a `message`). */
const firstLine = (error: unknown): string => {
  const message = typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error ?? "");
  return (message.split("\n")[0] ?? "").slice(0, 300);
};

/** Ends a test run with the failed and the skipped tests by name and one plain line: `N passed, N failed, N skipped`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    const failed = unhandledErrors.map((error) => `outside a test: ${firstLine(error)}`);
    const skipped: string[] = [];
    for (const module of modules) {
      const broken = module.errors()[0];
      if (broken) failed.push(`${module.relativeModuleId}: ${firstLine(broken)}`);
      for (const test of module.children.allTests()) {
        const result = test.result();
        const name = `${module.relativeModuleId} > ${test.fullName}`;
        if (result.state === "passed") passed += 1;
        else if (result.state === "failed") failed.push(`${name}: ${firstLine(result.errors[0])}`);
        else skipped.push(name);
      }
    }
    for (const name of failed) process.stdout.write(`failed: ${name}\n`);
    for (const name of skipped) process.stdout.write(`skipped: ${name}\n`);
    process.stdout.write(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped\n`);
  }
}
