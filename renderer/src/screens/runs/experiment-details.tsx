import { askToRemove, cancelExperiment } from "../../actions/experiments.ts";
import { exportExperiment } from "../../actions/exports.ts";
import { canRegrade, regradeExperiment } from "../../actions/regrade.ts";
import { Button } from "../../parts/button.tsx";
import { Facts, Section } from "../../parts/pane.tsx";
import { Ready } from "../../parts/states.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type ExperimentView, experimentResultQuery } from "../../service/views.ts";
import { formatJson, looksLikeJson } from "../../text/format-json.ts";
import { policyWords } from "../../words/names.ts";
import { count, plusMinus, reward } from "../../words/numbers.ts";
import { moment } from "../../words/times.ts";
import { OpenAddress } from "../attach/open-address.tsx";

function Summary({ experiment }: { readonly experiment: ExperimentView }) {
  const state = useQuery(experimentResultQuery(experiment.id));
  return (
    <Ready state={state} reading="Reading the summary">
      {(result) =>
        result.summary.length === 0 ? (
          <p className="m-0 text-2xs text-muted">No rollout has ended yet.</p>
        ) : (
          <table className="w-full border-collapse text-xs tabular-nums [&_td+td]:pl-2.5 [&_th+th]:pl-2.5">
            <thead>
              <tr className="text-2xs text-muted *:border-b *:border-line-strong *:pb-1 *:font-medium">
                <th className="text-left">Harness, policy</th>
                <th className="text-right">Reward</th>
                <th className="text-right">n</th>
                <th className="text-right" title="Rollouts that ended by infrastructure, not counted in the mean">
                  infra
                </th>
              </tr>
            </thead>
            <tbody>
              {result.summary.map((line) => (
                <tr key={`${line.harness}/${line.policy}`} className="*:border-b *:border-line *:py-1">
                  <td className="max-w-32 truncate text-left" title={`${line.harness}, ${line.policy}`}>
                    {line.harness}, <span className="text-muted">{policyWords(line.policy)}</span>
                  </td>
                  <td className="text-right whitespace-nowrap">
                    {reward(line.mean)} <span className="text-muted">{line.n > 1 ? plusMinus(line.low, line.high) : ""}</span>
                  </td>
                  <td className="text-right">{line.n}</td>
                  <td className="text-right">{line.infrastructureFailures}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </Ready>
  );
}

/** What is known of an experiment: how it stands, its result by harness and policy, what was asked for. */
export function ExperimentDetails({ experiment }: { readonly experiment: ExperimentView }) {
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <Section>
        <Facts
          rows={[
            ["Status", experiment.status],
            ["Started", moment(experiment.createdAt)],
            ["Ended", experiment.endedAt === null ? null : moment(experiment.endedAt)],
            ["Rollouts", `${count(experiment.ended)} of ${count(experiment.total)} ended`],
            ["Calls", count(experiment.calls)],
            ["Tokens", count(experiment.tokens)],
          ]}
        />
        <div className="mt-3 flex flex-wrap gap-2">
          <Button
            glyph="download"
            onClick={() => exportExperiment(experiment)}
            disabledBecause={experiment.total === 0 ? "There is nothing in it yet" : null}
          >
            Export…
          </Button>
          {canRegrade(experiment) && (
            <Button glyph="refresh" onClick={() => regradeExperiment(experiment)}>
              Regrade…
            </Button>
          )}
          {experiment.status === "running" && experiment.kind !== "attach" && (
            <Button glyph="stop" onClick={() => void cancelExperiment(experiment)}>
              Cancel experiment
            </Button>
          )}
          {experiment.status !== "running" && (
            <Button look="danger" onClick={() => askToRemove(experiment)}>
              Remove…
            </Button>
          )}
        </div>
      </Section>
      {experiment.kind === "attach" && <OpenAddress experiment={experiment.id} open={experiment.status === "running"} />}
      <Section title="Result">
        <Summary experiment={experiment} />
      </Section>
      <Section title="Specification">
        <pre className="m-0 overflow-auto rounded-2 bg-sunken px-2.5 py-2 text-xs leading-[1.125rem] break-words whitespace-pre-wrap">
          {looksLikeJson(experiment.spec) ? formatJson(experiment.spec) : experiment.spec.trimEnd()}
        </pre>
      </Section>
    </div>
  );
}
