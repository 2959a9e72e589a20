import { cancelRollout } from "../../actions/experiments.ts";
import { exportRollout } from "../../actions/exports.ts";
import { Button } from "../../parts/button.tsx";
import { OutcomeChip } from "../../parts/chip.tsx";
import { Facts, Section } from "../../parts/pane.tsx";
import { rewardStep } from "../../parts/reward-bar.tsx";
import { useQuery } from "../../service/use-query.ts";
import { artifactsQuery, blobQuery, type RolloutDetail } from "../../service/views.ts";
import { rolloutPlace } from "../../state/places.ts";
import { openPlace } from "../../state/workspace.ts";
import { isSession, policyWords, rolloutTitle } from "../../words/names.ts";
import { count, plural, reward } from "../../words/numbers.ts";
import { actionWords } from "../../words/outcomes.ts";
import { seconds } from "../../words/times.ts";

/** The rewards of the group as cells: the shared scale, this rollout outlined. */
function Group({ rollout }: { readonly rollout: RolloutDetail }) {
  const rewards = rollout.group.flatMap((member) => (member.reward === null ? [] : [member.reward]));
  const mean = rewards.length === 0 ? null : rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
  const own = rollout.group.findIndex((member) => member.id === rollout.id) + 1;
  return (
    <Section title="Group" aside={`mean ${reward(mean)}, n ${rewards.length}`}>
      <div className="mb-1.5 flex flex-wrap gap-1">
        {rollout.group.map((member) => (
          <button
            key={member.id}
            type="button"
            title={`${member.id}: ${member.status ?? "not ended"}, reward ${reward(member.reward)}`}
            onClick={() => openPlace(rolloutPlace(member.id), { preview: true })}
            className={`h-6 min-w-6 flex-1 rounded-1 text-center text-2xs tabular-nums ${member.id === rollout.id ? "outline-[1.5px] outline-offset-[1.5px] outline-fg" : "shadow-[inset_0_0_0_1px_var(--of-border-strong)]"} ${member.reward === null ? "hatch text-masked" : ""}`}
            style={member.reward === null ? undefined : rewardStep(member.reward)}
          >
            {member.reward === null ? "–" : Number(member.reward.toFixed(2))}
          </button>
        ))}
      </div>
      <div className="text-2xs font-medium text-muted">
        {rollout.group.filter((member) => member.status === "succeeded").length} of {rollout.group.length} succeed. This one is rollout {own}.
      </div>
    </Section>
  );
}

/** Phases on one time axis: where a rollout spent its time. */
function Phases({ rollout }: { readonly rollout: Pick<RolloutDetail, "phases" | "status"> }) {
  const timed = rollout.phases.filter((phase) => phase.name !== "ended" && phase.name !== "queued");
  const begin = timed[0]?.startedAt;
  if (begin === undefined) return <p className="m-0 text-2xs text-muted">Still queued.</p>;
  const length = (seconds: number | null, startedAt: number): number => seconds ?? Math.max(0, (Date.now() - startedAt) / 1000);
  const end = Math.max(...timed.map((phase) => (phase.startedAt - begin) / 1000 + length(phase.seconds, phase.startedAt)), 0.001);
  const failing = rollout.status !== null && rollout.status !== "succeeded" && rollout.status !== "cancelled";
  return (
    <div>
      {timed.map((phase, index) => {
        const from = (phase.startedAt - begin) / 1000 / end;
        const share = length(phase.seconds, phase.startedAt) / end;
        const blamed = failing && index === timed.length - 1;
        return (
          <div key={`${phase.name}/${phase.startedAt}`} className="flex h-4.5 items-center gap-2 text-2xs font-medium text-muted">
            <span className="w-16">{phase.name}</span>
            <span className="relative h-2 flex-1">
              <i
                className={`absolute h-2 min-w-0.75 rounded-[2px] ${blamed ? "bg-failed" : phase.seconds === null ? "stripes-running" : "bg-running"}`}
                style={{ left: `${Math.min(99, from * 100)}%`, width: `${Math.min(1 - from, share) * 100}%` }}
              />
            </span>
            <span className="w-12 text-right tabular-nums">{seconds(phase.seconds)}</span>
          </div>
        );
      })}
    </div>
  );
}

const lastLines = (text: string, most: number): string => text.trimEnd().split("\n").slice(-most).join("\n");

function VerifierEnd({ rollout }: { readonly rollout: string }) {
  const { value: artifacts } = useQuery(artifactsQuery(rollout));
  const output = artifacts?.filter((artifact) => artifact.kind === "verifier-output").at(-1);
  const { value } = useQuery(output === undefined ? null : blobQuery(output.blob, 16_384));
  if (value === undefined || value.text.trim() === "") return <p className="m-0 text-2xs text-muted">No output.</p>;
  return (
    <pre className="m-0 max-h-56 overflow-auto rounded-2 bg-sunken px-2.5 py-2 text-xs leading-[1.125rem] break-words whitespace-pre-wrap">
      {lastLines(value.text, 14)}
    </pre>
  );
}

/** What is known of a rollout without opening it: outcome, group, phases, verifier, isolation. */
export function RolloutDetails({ rollout }: { readonly rollout: RolloutDetail }) {
  const words = actionWords(rollout);
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <Section>
        <div className="mb-2.5 flex flex-wrap items-center gap-2">
          <OutcomeChip rollout={{ ...rollout, calls: rollout.calls.length }} />
          {words !== null && <span className="text-2xs font-medium text-muted">{words}</span>}
        </div>
        {rollout.detail !== null && <p className="mt-0 mb-2.5 text-xs leading-[1.0625rem] text-secondary">{rollout.detail}</p>}
        <Facts
          rows={[
            [
              "Task",
              <span key="t" title={rollout.taskPath}>
                {rollout.task}
              </span>,
            ],
            ["Harness", `${rollout.harness} ${rollout.harnessVersion}`],
            [
              "Policy",
              <span key="p" className="break-words" title={rollout.policy}>
                {policyWords(rollout.policy)}
                {rollout.policyVersion === null || rollout.policyVersion === rollout.policy ? "" : `, ${rollout.policyVersion}`}
              </span>,
            ],
            ["Reward", reward(rollout.reward)],
            ["Attempts", rollout.attempts],
            ["Tokens", `${count(rollout.promptTokens)} in, ${count(rollout.completionTokens)} out`],
            ["Chains", rollout.chains.length === 0 ? null : plural(rollout.chains.length, "chain")],
            ["Seed", rollout.seed],
          ]}
        />
        <div className="mt-3 flex flex-wrap gap-2">
          <Button look="primary" glyph="rec" keyShown="Enter" onClick={() => openPlace(rolloutPlace(rollout.id), { title: rolloutTitle(rollout) })}>
            Open rollout
          </Button>
          <Button glyph="download" onClick={() => exportRollout(rollout)}>
            Export…
          </Button>
          {rollout.status === null && !isSession(rollout) && (
            <Button glyph="stop" onClick={() => void cancelRollout(rollout)}>
              Cancel
            </Button>
          )}
        </div>
      </Section>
      {rollout.group.length > 1 && <Group rollout={rollout} />}
      <Section title="Phases">
        <Phases rollout={rollout} />
      </Section>
      <Section title="Verifier">
        <VerifierEnd rollout={rollout.id} />
      </Section>
      <Section title="Isolation" aside={rollout.sandbox}>
        {rollout.isolation === null ? (
          <p className="m-0 text-2xs text-muted">{rollout.phase === "ended" ? "Not recorded." : "Not started yet."}</p>
        ) : (
          <Facts labelWidth="4.75rem" rows={Object.entries(rollout.isolation)} />
        )}
      </Section>
      <Section title="Fingerprint">
        {rollout.fingerprint === null ? (
          <p className="m-0 text-2xs text-muted">{rollout.phase === "ended" ? "Not recorded." : "Not taken yet."}</p>
        ) : (
          <Facts
            labelWidth="6.5rem"
            rows={Object.entries(rollout.fingerprint).map(
              ([name, value]) =>
                [
                  name,
                  <code key={name} className="block truncate text-2xs" title={value}>
                    {value}
                  </code>,
                ] as const,
            )}
          />
        )}
      </Section>
    </div>
  );
}
