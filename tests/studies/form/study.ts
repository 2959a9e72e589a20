/** What a study is: an experiment that answers a question, with its answer as a table and as findings that can be checked. */

/** One statement with its numbers. */
export interface Finding {
  readonly statement: string;
  readonly holds: boolean;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface StudyResult {
  readonly title: string;
  /** What was asked and how it was measured, in sentences. */
  readonly method: readonly string[];
  readonly tables: readonly Table[];
  /** What was promised; a study fails when one does not hold. */
  readonly promised: readonly Finding[];
  /** What was found beside it, stated as found. */
  readonly found: readonly string[];
}

export interface StudyOptions {
  /** The short form shows that the study works; its numbers answer nothing. */
  readonly short: boolean;
  /** Parts of the study by name (harnesses …) to which it is confined; null = all. A study without parts takes no notice. */
  readonly only: readonly string[] | null;
  /** A folder that is kept: training runs that ended in it are taken instead of made again. null = a new one, removed afterwards. */
  readonly data: string | null;
  report(line: string): void;
}

/** What a file in tests/studies exports under the name `study`. */
export type Study = (options: StudyOptions) => Promise<StudyResult>;

/** The result as Markdown, under the commit and machine it was taken on. */
export function markdownOf(result: StudyResult, conditions: readonly string[]): string {
  const parts = [`# ${result.title}`, conditions.join(" "), ...result.method, ...result.tables.map(tableText)];
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join("\n");
  if (result.promised.length > 0)
    parts.push("## Promised", list(result.promised.map(({ statement, holds }) => `${holds ? "holds" : "**does not hold**"}: ${statement}`)));
  if (result.found.length > 0) parts.push("## Found", list(result.found));
  return `${parts.join("\n\n")}\n`;
}

function tableText({ title, columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [`## ${title}`, "", line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}
