import { useEffect, useMemo, useRef, useState } from "react";
import { useCommands } from "../../../commands/handlers.ts";
import { advantageInk } from "../../../parts/advantage.ts";
import { Button, IconButton } from "../../../parts/button.tsx";
import { Segmented } from "../../../parts/choice.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Pane } from "../../../parts/pane.tsx";
import { SidePane } from "../../../parts/side-pane.tsx";
import { Boundary, Empty, Loading, Note, Ready } from "../../../parts/states.tsx";
import type { QueryState } from "../../../service/queries.ts";
import { useQuery } from "../../../service/use-query.ts";
import {
  type ChainTokens,
  type RolloutDetail,
  type TrainedTokens,
  tokensQuery,
  trainedTokensQuery,
  trainingStepQuery,
} from "../../../service/views.ts";
import type { RolloutPlace, StepName } from "../../../state/places.ts";
import { changeRolloutPlace, openTrain, useDetailsShown } from "../../../state/workspace.ts";
import { count } from "../../../words/numbers.ts";
import { lowProbabilities, maskEdges, nextOf, placeSpans } from "./chain.ts";
import { ChainPane } from "./chain-pane.tsx";
import { type ColourMode, type FlowHandle, TokenFlow } from "./token-flow.tsx";
import { type Trained, trainedTokens } from "./trained.ts";

const heats = [0, 1, 2, 3, 4, 5, 6].map((step) => `var(--of-heat-${step})`);
/** What the scale runs over, by the colour that is chosen. */
const scales: Record<ColourMode, { readonly from: string; readonly to: string; readonly inks: readonly string[] }> = {
  logprob: { from: "0", to: "≤ −5", inks: heats },
  mask: { from: "", to: "", inks: [] },
  advantage: { from: "worse", to: "better", inks: [-3, -2, -1, 0, 1, 2, 3].map(advantageInk) },
  gap: { from: "0", to: "≥ 0.5", inks: heats },
};

function Legend({ mode }: { readonly mode: ColourMode }) {
  const { from, to, inks } = scales[mode];
  return (
    <span className="flex items-center gap-3 text-2xs text-secondary narrow:hidden">
      <span className="flex items-center">
        <span className="pr-1.25">{from}</span>
        {inks.map((ink) => (
          <i key={ink} className="inline-block h-3 w-4 shadow-[inset_0_0_0_0.5px_var(--of-border-strong)]" style={{ background: ink }} />
        ))}
        <span className="pl-1.25">{to}</span>
      </span>
      <span className="flex items-center gap-1.25">
        <i className="hatch inline-block size-2.75 rounded-[2px] shadow-[inset_0_0_0_1px_var(--of-hatch)]" />
        masked
      </span>
      <span className="flex items-center gap-1.25">
        <i className="inline-block size-2.75 rounded-[2px] bg-sampled-tint shadow-[inset_0_-2px_0_var(--of-sampled)]" />
        sampled
      </span>
    </span>
  );
}

function chainName(rollout: RolloutDetail, index: number): string {
  const chain = rollout.chains[index];
  const about = chain?.breakCause ?? (index === 0 ? "main line" : null);
  return `${index + 1} of ${rollout.chains.length}${about === null ? "" : `, ${about}`} · ${count(chain?.tokens ?? null)} tok`;
}

interface OneChainProps {
  readonly rollout: RolloutDetail;
  readonly place: RolloutPlace;
  readonly chain: ChainTokens;
  readonly trained: Trained | null;
}

function OneChain({ rollout, place, chain, trained }: OneChainProps) {
  const spans = useMemo(() => placeSpans(chain), [chain]);
  const hasLogprobs = useMemo(() => chain.spans.some((span) => span.logprobs?.some((logprob) => logprob !== null)), [chain]);
  const [mode, setMode] = useState<ColourMode>(trained !== null ? "advantage" : hasLogprobs ? "logprob" : "mask");
  const flow = useRef<FlowHandle>(null);
  const paneShown = useDetailsShown();
  const cursor = place.tokens?.from ?? 0;
  const setCursor = (position: number): void => changeRolloutPlace(rollout.id, { tokens: { from: position, to: position } });
  const go = (position: number | null): void => {
    if (position !== null) flow.current?.goTo(position);
  };
  // A link names a token: it is scrolled to once, when the chain comes.
  const linked = useRef(place.tokens?.from ?? null);
  useEffect(() => {
    if (linked.current !== null) flow.current?.goTo(linked.current);
  }, []);
  const edges = useMemo(() => maskEdges(spans), [spans]);
  const unlikely = useMemo(() => lowProbabilities(spans).map((each) => each.position), [spans]);
  const nextEdge = (): void => go(nextOf(edges, cursor));
  const nextUnlikely = (): void => go(nextOf(unlikely, cursor));
  useCommands({ "tokens.edge": nextEdge, ...(unlikely.length > 0 ? { "tokens.surprise": nextUnlikely } : {}) });
  const notFromStep = trained === null ? "Open the tokens from a training step: then its advantages and log-probabilities are here" : null;
  const noTexts = chain.spans.length > 0 && chain.spans.every((span) => span.texts === null);
  return (
    <>
      <div className="flex min-h-toolbar flex-none items-center gap-2.5 border-b border-line px-3">
        <select
          aria-label="Chain"
          className="control max-w-72 flex-none text-xs slim:max-w-44"
          value={place.chain}
          onChange={(event) => changeRolloutPlace(rollout.id, { chain: Number(event.target.value), tokens: null })}
        >
          {rollout.chains.map((_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: chains are numbered
            <option key={index} value={index}>
              Chain {chainName(rollout, index)}
            </option>
          ))}
        </select>
        <Segmented<ColourMode>
          label="Colour"
          value={mode}
          onChange={setMode}
          options={[
            { value: "logprob", label: "Log-prob", disabledBecause: hasLogprobs ? null : "The policy gave no log-probabilities" },
            { value: "mask", label: "Mask" },
            { value: "advantage", label: "Advantage", disabledBecause: notFromStep },
            { value: "gap", label: "Gap", disabledBecause: notFromStep ?? (hasLogprobs ? null : "The policy gave no log-probabilities") },
          ]}
        />
        <Legend mode={mode} />
        <span className="flex-1" />
        <span className="text-2xs text-muted slim:hidden">Next</span>
        <Button small command="tokens.edge" disabledBecause={edges.length === 0 ? "The mask does not change in this chain" : null} onClick={nextEdge}>
          Mask edge
        </Button>
        <Button
          small
          command="tokens.surprise"
          disabledBecause={unlikely.length === 0 ? "No sampled token is below p 0.001" : null}
          onClick={nextUnlikely}
        >
          Low probability
        </Button>
      </div>
      {noTexts && (
        <Note look="plain" square>
          The tokenizer of this policy is not known: tokens are shown by their ids. Add the endpoint again with its tokenizer.json to see text.
        </Note>
      )}
      <div className="relative flex min-h-0 flex-1">
        <Pane label="Tokens" className="flex-1">
          <TokenFlow ref={flow} spans={spans} total={chain.total} mode={mode} trained={trained} cursor={cursor} onCursor={setCursor} />
        </Pane>
        {paneShown && (
          <SidePane label="Chain" name="chain" initial={292} subject={`${rollout.id}/${place.chain}`}>
            <ChainPane chain={chain} spans={spans} cursor={cursor} onGo={go} />
          </SidePane>
        )}
      </div>
    </>
  );
}

/** Says which update is shown, and leads back to it. */
function StepLine({
  rollout,
  trained,
  state,
}: {
  readonly rollout: RolloutDetail;
  readonly trained: StepName;
  readonly state: QueryState<TrainedTokens>;
}) {
  return (
    <div className="flex min-h-7 flex-none items-center gap-2 border-b border-line bg-sampled-tint px-3 text-xs">
      <Icon name="train" size={0.875} className="text-sampled" />
      <span className="min-w-0 truncate">
        {state.failure === null
          ? `As step ${trained.step} trained on it: masks, advantages and the trainer's log-probabilities are those of the update.`
          : `Step ${trained.step} has nothing to say of this chain. ${state.failure.message}`}
      </span>
      <span className="flex-1" />
      <Button small look="ghost" onClick={() => openTrain({ id: trained.run, step: trained.step })}>
        Show step {trained.step}
      </Button>
      <IconButton glyph="close" label="Show the tokens as recorded" onClick={() => changeRolloutPlace(rollout.id, { trained: null })} />
    </div>
  );
}

/** The token view: one chain of the rollout, masks hatched, surprise as heat; from a training step with what its update saw. */
export function TokensView({ rollout, place }: { readonly rollout: RolloutDetail; readonly place: RolloutPlace }) {
  const state = useQuery(rollout.chains.length === 0 ? null : tokensQuery(rollout.id, place.chain));
  const step = place.trained;
  const trainedState = useQuery(step === null ? null : trainedTokensQuery(step.run, step.step, rollout.id, place.chain));
  const { value: detail } = useQuery(step === null ? null : trainingStepQuery(step.run, step.step));
  const trained = useMemo(() => {
    const largest = (detail?.rollouts ?? []).reduce((most, { advantage }) => Math.max(most, Math.abs(advantage ?? 0)), 0);
    return trainedState.value === undefined ? null : trainedTokens(trainedState.value, largest);
  }, [trainedState.value, detail]);
  if (rollout.chains.length === 0)
    return (
      <Empty
        title="No chains"
        text={
          rollout.calls.length === 0
            ? "No call was recorded, so there are no tokens."
            : `Token ids come from the engine that samples; this policy gives ${rollout.calls[0]?.capture ?? "nothing"}. Text is never re-tokenised.`
        }
      />
    );
  const waiting = step !== null && trainedState.value === undefined && trainedState.failure === null;
  return (
    <>
      {step !== null && <StepLine rollout={rollout} trained={step} state={trainedState} />}
      <Ready state={state} reading={`Reading ${count(rollout.chains[place.chain]?.tokens ?? null)} tokens`}>
        {(chain) =>
          waiting ? (
            <Loading what="Reading what the step trained on" />
          ) : (
            <Boundary key={`${place.chain}/${trained === null}`}>
              <OneChain rollout={rollout} place={place} chain={chain} trained={trained} />
            </Boundary>
          )
        }
      </Ready>
    </>
  );
}
