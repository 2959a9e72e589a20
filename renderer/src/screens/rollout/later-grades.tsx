import { useQuery } from "../../service/use-query.ts";
import { type GradeView, gradesQuery } from "../../service/views.ts";
import { moment } from "../../words/times.ts";
import { VerdictChip } from "../regrade/verdict.tsx";

const verdictOf = ({ status }: GradeView) => (status === "succeeded" ? "passed" : status === "failed" ? "failed" : "none");

/** What later verifiers said of the kept work, newest first; the grade of the run itself stays above. */
export function LaterGrades({ rollout }: { readonly rollout: string }) {
  const { value: grades = [] } = useQuery(gradesQuery(rollout));
  if (grades.length === 0) return null;
  return (
    <section aria-label="Later grades" className="flex-none border-b border-line px-3 py-2">
      <h2 className="m-0 mb-1.5 text-xs font-strong">Later grades</h2>
      <ul className="m-0 grid max-h-32 list-none gap-1 overflow-auto p-0 text-xs">
        {[...grades].reverse().map((grade) => (
          <li key={grade.at} className="grid grid-cols-[8rem_9rem_minmax(0,1fr)] items-center gap-2.5">
            <span className="text-muted tabular-nums">{moment(grade.at)}</span>
            <VerdictChip grade={{ verdict: verdictOf(grade), reward: grade.reward, rewards: grade.rewards }} />
            <span className="truncate text-secondary" title={grade.detail ?? grade.taskPath}>
              {grade.detail ?? (grade.source === "workspace" ? "of the kept workspace" : "of the artifacts alone")}
              <span className="text-muted">, verifier {grade.verifierDigest.replace(/^sha256:/, "").slice(0, 8)}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
