import { Icon } from "../../parts/icon.tsx";
import type { TaskView } from "../../service/views.ts";

/** What is wrong with a package, each fault with its file and line. */
export function FaultList({ faults }: { readonly faults: TaskView["faults"] }) {
  return (
    <ul className="m-0 list-none p-0">
      {faults.map((fault) => (
        <li key={`${fault.file}:${fault.line}:${fault.message}`} className="flex min-h-7 items-start gap-2 border-b border-line px-3 py-1.5 text-xs">
          <Icon
            name={fault.severity === "error" ? "fail" : "warn"}
            size={0.875}
            className={`mt-px ${fault.severity === "error" ? "text-failed" : "text-paused"}`}
          />
          <span className="sr-only">{fault.severity}</span>
          <span className="min-w-0 flex-1 break-words">{fault.message}</span>
          <code className="flex-none text-muted">
            {fault.file}:{fault.line}
          </code>
        </li>
      ))}
    </ul>
  );
}
