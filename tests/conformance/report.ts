/** Counts cases and keeps one line for each that failed. */

/** One part of the layout of `tests/fixtures`: checks every case in its folder and reports each. */
export type ConformancePart = (folder: string, report: Report) => Promise<void>;

export class Report {
  readonly #part: string;
  readonly #failures: string[] = [];
  readonly #skipped: string[] = [];
  #passed = 0;

  constructor(part: string) {
    this.#part = part;
  }

  get passed(): number {
    return this.#passed;
  }

  get failures(): readonly string[] {
    return this.#failures;
  }

  get skipped(): readonly string[] {
    return this.#skipped;
  }

  /** Cases that cannot be checked on this machine, and why. */
  skip(name: string, why: string): void {
    this.#skipped.push(`${this.#part}/${name}: ${why}`);
  }

  /** One case: passes when `check` names no difference. What it throws is a failure of the case, not of the run. */
  async run(name: string, check: () => string | null | Promise<string | null>): Promise<void> {
    let difference: string | null;
    try {
      difference = await check();
    } catch (error) {
      difference = `threw ${error instanceof Error ? error.message : String(error)}`;
    }
    if (difference === null) this.#passed += 1;
    else this.#failures.push(`${this.#part}/${name}: ${difference.replaceAll("\n", "\\n")}`);
  }
}

/** The first difference among named values, as one line; null when all are equal as JSON values. */
export function firstDifference(values: Readonly<Record<string, readonly [actual: unknown, expected: unknown]>>): string | null {
  for (const [name, [actual, expected]] of Object.entries(values)) {
    if (!equalValues(actual, expected)) return `${name} differs: ${describe(actual, expected)}`;
  }
  return null;
}

/** Equal as JSON values: key order does not matter, `1` and `1.0` are one number, as a JSON reader of this runtime sees them. */
function equalValues(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return left === right;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const leftEntries = Object.entries(left);
  const rightEntries = new Map(Object.entries(right));
  return (
    leftEntries.length === rightEntries.size &&
    leftEntries.every(([key, value]) => rightEntries.has(key) && equalValues(value, rightEntries.get(key)))
  );
}

const shown = 60;

function describe(actual: unknown, expected: unknown): string {
  const got = JSON.stringify(actual) ?? "nothing";
  const wanted = JSON.stringify(expected) ?? "nothing";
  let same = 0;
  while (same < got.length && got[same] === wanted[same]) same++;
  const from = Math.max(0, same - 20);
  const cut = (text: string) => `${from > 0 ? "…" : ""}${text.slice(from, from + shown)}${text.length > from + shown ? "…" : ""}`;
  return `expected ${cut(wanted)}, got ${cut(got)}`;
}
