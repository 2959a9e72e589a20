import { useState } from "react";
import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button } from "../../parts/button.tsx";
import { FailureNote, Note, Ready } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { type PolicyView, policiesQuery } from "../../service/views.ts";
import { notifyFailure } from "../../state/notices.ts";
import { openOverlay } from "../../state/overlays.ts";
import { count, decimal, plural } from "../../words/numbers.ts";

const columns =
  "grid grid-cols-[minmax(8rem,1fr)_9rem_minmax(10rem,1.4fr)_7rem_13.5rem] items-center gap-2 text-xs slim:grid-cols-[minmax(0,1fr)_6rem_13.5rem]";

function askToRemove(policy: PolicyView): void {
  openOverlay({
    kind: "question",
    title: `Remove ${policy.id}`,
    text: "The policy leaves the list. Rollouts that it answered stay as they are.",
    verb: "Remove policy",
    run: () =>
      void presentClient()
        .policies.remove({ id: policy.id })
        .then(() => invalidate("policies"))
        .catch(notifyFailure),
  });
}

/** What its calls have cost so far, and how much of the limit that is. */
function Spending({ spending }: { readonly spending: NonNullable<PolicyView["spending"]> }) {
  const { calls, promptTokens, cachedTokens, completionTokens, cost, limit } = spending;
  const share = limit === null ? null : Math.min(1, cost / limit);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 pb-2 text-2xs text-muted tabular-nums">
      <span>
        spent <b className="text-fg">{decimal(cost, 2)}</b>
        {limit === null ? ", no limit" : ` of ${decimal(limit, 2)}`}
      </span>
      {share !== null && (
        <span className="h-1.5 w-28 overflow-hidden rounded-[2px] bg-sunken" aria-hidden="true">
          <i
            className={`block h-full ${share >= 1 ? "bg-failed" : share > 0.8 ? "bg-paused" : "bg-accent-fill"}`}
            style={{ width: `${share * 100}%` }}
          />
        </span>
      )}
      <span>
        {plural(calls, "call")}, {count(promptTokens)} tokens in{cachedTokens > 0 ? ` (${count(cachedTokens)} cached)` : ""},{" "}
        {count(completionTokens)} out
      </span>
      {share !== null && share >= 1 && <span className="text-failed">The limit is reached: no further call is sent. Change it to go on.</span>}
    </div>
  );
}

type Said = { readonly failure: Failure } | { readonly capture: string; readonly lost: readonly string[] } | null;

function Remark({ said }: { readonly said: NonNullable<Said> }) {
  if ("failure" in said) return <FailureNote failure={said.failure} />;
  return (
    <Note look={said.lost.length === 0 ? "plain" : "warn"}>
      It answers, and gives {said.capture}.
      {said.lost.map((sentence) => (
        <span key={sentence} className="mt-0.5 block">
          {sentence}
        </span>
      ))}
    </Note>
  );
}

function PolicyRow({ policy }: { readonly policy: PolicyView }) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<Said>(null);
  const probe = async (): Promise<void> => {
    setBusy(true);
    try {
      const { policy: probed, lost } = await presentClient().policies.probe({ id: policy.id });
      setSaid({ capture: probed.capture ?? "nothing", lost });
      invalidate("policies");
    } catch (error) {
      setSaid({ failure: asFailure(error) });
    }
    setBusy(false);
  };
  const changeable = policy.settings !== null;
  return (
    <div className="border-b border-line" data-policy={policy.id}>
      <div className={`${columns} h-8`}>
        <b className="truncate font-medium" title={policy.id}>
          {policy.id}
        </b>
        <span className="truncate text-secondary slim:hidden">{policy.kind}</span>
        <code className="truncate text-muted slim:hidden" title={policy.address}>
          {policy.address}
        </code>
        <span className={`truncate ${policy.capture === null ? "text-muted" : ""}`}>{policy.capture ?? "not probed"}</span>
        <span className="flex justify-end gap-1.5">
          <Button small onClick={() => void probe()} disabledBecause={busy ? "Being probed" : null}>
            Probe
          </Button>
          {changeable && (
            <Button small look="ghost" onClick={() => openOverlay({ kind: "add-policy", edits: policy })}>
              Change…
            </Button>
          )}
          {changeable && (
            <Button small look="ghost" onClick={() => askToRemove(policy)}>
              Remove…
            </Button>
          )}
        </span>
      </div>
      {policy.spending !== null && <Spending spending={policy.spending} />}
      {said !== null && (
        <div className="pb-2">
          <Remark said={said} />
        </div>
      )}
    </div>
  );
}

/** Every policy by name: what it is, where, what it gives, what it costs. */
export function Policies() {
  const state = useQuery(policiesQuery);
  return (
    <Ready state={state} reading="Reading the policies">
      {(policies) => (
        <>
          <div className={`${columns} h-row-header text-2xs font-medium text-muted`}>
            <span>Name</span>
            <span className="slim:hidden">Kind</span>
            <span className="slim:hidden">Address</span>
            <span>Gives</span>
            <span />
          </div>
          {policies.map((policy) => (
            <PolicyRow key={policy.id} policy={policy} />
          ))}
          <div className="mt-2.5 flex gap-2">
            <Button small onClick={() => runCommand(commandById("policy.add"))}>
              Add a policy…
            </Button>
            <Button small onClick={() => runCommand(commandById("policy.import"))}>
              Import weights…
            </Button>
          </div>
        </>
      )}
    </Ready>
  );
}
