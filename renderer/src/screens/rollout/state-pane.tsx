import { Facts, Section } from "../../parts/pane.tsx";
import type { CallDetail, CallView, RolloutDetail } from "../../service/views.ts";
import { changeRolloutPlace } from "../../state/workspace.ts";
import { routeWords } from "../../words/names.ts";
import { count, plural } from "../../words/numbers.ts";
import { moment, seconds } from "../../words/times.ts";

/** Prompt and answer of a call as one bar: masked is hatched, sampled is cyan. */
function TokenBar({ call }: { readonly call: CallView }) {
  const total = Math.max(1, call.promptTokens + call.completionTokens);
  return (
    <>
      <div
        className="flex h-3.5 overflow-hidden rounded-1 bg-sunken shadow-[inset_0_0_0_1px_var(--of-border-strong)]"
        role="img"
        aria-label={`${call.promptTokens} prompt tokens, ${call.completionTokens} sampled`}
      >
        <i className="hatch block h-full" style={{ width: `${(call.promptTokens / total) * 100}%` }} />
        {call.completionTokens > 0 && (
          <i className="block h-full min-w-0.5 bg-sampled" style={{ width: `${(call.completionTokens / total) * 100}%` }} />
        )}
      </div>
      <div className="mt-1.75 flex gap-3 text-2xs text-secondary">
        <span className="inline-flex items-center gap-1.25">
          <i className="hatch inline-block size-2.75 rounded-[2px] shadow-[inset_0_0_0_1px_var(--of-hatch)]" />
          prompt {count(call.promptTokens)}
        </span>
        <span className="inline-flex items-center gap-1.25">
          <i className="inline-block size-2.75 rounded-[2px] bg-sampled" />
          sampled {count(call.completionTokens)}
        </span>
      </div>
    </>
  );
}

/** The chains of the rollout; a call of each is one click away. */
function Chains({ rollout, call }: { readonly rollout: RolloutDetail; readonly call: CallView }) {
  if (rollout.chains.length === 0)
    return <p className="m-0 text-2xs text-muted">{call.capture === "text-only" ? "No token ids, so no chains." : "Not rebuilt yet."}</p>;
  return (
    <ul className="m-0 list-none p-0 text-xs">
      {rollout.chains.map((chain, index) => {
        const first = chain.calls[0];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: chains are numbered
          <li key={index} className={`-mx-2 flex h-6.5 items-center gap-2 rounded-2 px-2 ${call.chain === index ? "bg-selected-idle" : ""}`}>
            <button
              type="button"
              className="min-w-0 flex-1 truncate text-left hover:underline"
              onClick={() => first !== undefined && changeRolloutPlace(rollout.id, { call: first + 1 })}
            >
              Chain {index + 1}
              <span className="text-muted">{chain.breakCause === null ? (index === 0 ? ", main line" : "") : `, ${chain.breakCause}`}</span>
            </button>
            <span className="text-2xs text-muted tabular-nums">{plural(chain.calls.length, "call")}</span>
            <button
              type="button"
              className="text-2xs text-link tabular-nums hover:underline"
              title={`${count(chain.trained)} of ${count(chain.tokens)} tokens are trained`}
              onClick={() => changeRolloutPlace(rollout.id, { view: "tokens", chain: index, tokens: null })}
            >
              {count(chain.tokens)} tok
            </button>
          </li>
        );
      })}
    </ul>
  );
}

const valueWords = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

interface StatePaneProps {
  readonly rollout: RolloutDetail;
  readonly call: CallDetail;
  readonly before: CallView | null;
}

/** What surrounds a call: tokens, chains, timing, parameters, headers. */
export function StatePane({ rollout, call, before }: StatePaneProps) {
  const grown = before === null ? null : call.promptTokens - before.promptTokens;
  const sampling = Object.entries(call.sampling);
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <Section
        title="Tokens"
        aside={grown === null || before === null ? undefined : `${grown < 0 ? "−" : "+"}${count(Math.abs(grown))} since call ${before.index + 1}`}
      >
        <TokenBar call={call} />
      </Section>
      <Section title="Chains">
        <Chains rollout={rollout} call={call} />
      </Section>
      <Section title="Call">
        <Facts
          rows={[
            ["Started", moment(call.startedAt)],
            ["Took", seconds(call.seconds)],
            ["Status", `${call.status}, ${call.httpStatus}`],
            ["Route", `${call.method} ${routeWords(call.path)}`],
            ["Model", call.model],
            ["Capture", call.capture],
            ["Prompt", call.tokenMode],
            ["Streamed", call.stream ? "yes" : "no"],
            ["Retries", call.retries],
            ["Replays", call.replays],
            ["Attempt", call.attempt + 1],
            ...(call.breakCause === null ? [] : [["Chain break", call.breakCause] as const]),
            ...(call.side === null ? [] : [["Side call", call.side] as const]),
            ...Object.entries(call.session).map(([name, value]) => [name, value] as const),
          ]}
        />
      </Section>
      <Section title="Parameters">
        {sampling.length === 0 ? (
          <p className="m-0 text-2xs text-muted">The harness names none; the policy's defaults hold.</p>
        ) : (
          <Facts rows={sampling.map(([name, value]) => [name, valueWords(value)] as const)} />
        )}
      </Section>
      <Section title="Request headers">
        <Facts
          labelWidth="7rem"
          rows={Object.entries(call.requestHeaders).map(
            ([name, value]) =>
              [
                name,
                <span key={name} className="break-all">
                  {value}
                </span>,
              ] as const,
          )}
        />
      </Section>
    </div>
  );
}
