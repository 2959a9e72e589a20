/** What is wrong on this computer and in the tasks, as one list with its weight. */
import type { DoctorRow, TaskView } from "../service/views.ts";

export interface Problem {
  readonly key: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Where: a file and line, or a part of this computer. */
  readonly place: string;
  readonly remedy: string | null;
  readonly task: string | null;
}

const fileName = (path: string): string =>
  path
    .split("/")
    .filter((part) => part !== "")
    .slice(-1)[0] ?? path;

/** A missing part is no problem: most machines have no GPU. A part that works badly is. */
export function problemsOf(tasks: readonly TaskView[], doctor: readonly DoctorRow[]): readonly Problem[] {
  const faults = tasks.flatMap((task) =>
    task.faults.map((fault, index) => ({
      key: `${task.path}:${index}`,
      severity: fault.severity,
      message: fault.message,
      place: `${fileName(task.path)}/${fault.file}:${fault.line}`,
      remedy: null,
      task: task.path,
    })),
  );
  const parts = doctor
    .filter((row) => row.status === "degraded")
    .map((row) => ({
      key: `doctor:${row.name}`,
      severity: "warning" as const,
      message: `${row.name}: ${row.detail}`,
      place: "this computer",
      remedy: row.remedy,
      task: null,
    }));
  return [...faults, ...parts].sort((left, right) => Number(left.severity === "warning") - Number(right.severity === "warning"));
}
