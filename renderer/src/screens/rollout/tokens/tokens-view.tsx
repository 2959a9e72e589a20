import { useEffect, useMemo, useRef, useState } from "react";
import { useCommands } from "../../../commands/handlers.ts";
import { Button } from "../../../parts/button.tsx";
import { Segmented } from "../../../parts/choice.tsx";
import { Pane } from "../../../parts/pane.tsx";
import { SidePane } from "../../../parts/side-pane.tsx";
import { Boundary, Empty, Note, Ready } from "../../../parts/states.tsx";
import { useQuery } from "../../../service/use-query.ts";
import { type ChainTokens, type RolloutDetail, tokensQuery } from "../../../service/views.ts";
import type { RolloutPlace } from "../../../state/places.ts";
import { changeRolloutPlace, useDetailsShown } from "../../../state/workspace.ts";
import { count } from "../../../words/numbers.ts";
import { lowProbabilities, maskEdges, nextOf, placeSpans } from "./chain.ts";
import { ChainPane } from "./chain-pane.tsx";
import { type ColourMode, type FlowHandle, TokenFlow } from "./token-flow.tsx";

function Legend() {
  return (
    <span className="flex items-center gap-3 text-2xs text-secondary narrow:hidden">
      <span className="flex items-center">
        <span className="pr-1.25">0</span>
        {[0, 1, 2, 3, 4, 5, 6].map((step) => (
          <i
            key={step}
            className="inline-block h-3 w-4 shadow-[inset_0_0_0_0.5px_var(--of-border-strong)]"
            style={{ background: `var(--of-heat-${step})` }}
          />
        ))}
        <span className="pl-1.25">≤ −5</span>
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
}

function OneChain({ rollout, place, chain }: OneChainProps) {
  const spans = useMemo(() => placeSpans(chain), [chain]);
  const hasLogprobs = useMemo(() => chain.spans.some((span) => span.logprobs?.some((logprob) => logprob !== null)), [chain]);
  const [mode, setMode] = useState<ColourMode>(hasLogprobs ? "logprob" : "mask");
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
          ]}
        />
        <Legend />
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
          <TokenFlow ref={flow} spans={spans} total={chain.total} mode={mode} cursor={cursor} onCursor={setCursor} />
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

/** The token view: one chain of the rollout, masks hatched, surprise as heat. */
export function TokensView({ rollout, place }: { readonly rollout: RolloutDetail; readonly place: RolloutPlace }) {
  const state = useQuery(rollout.chains.length === 0 ? null : tokensQuery(rollout.id, place.chain));
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
  return (
    <Ready state={state} reading={`Reading ${count(rollout.chains[place.chain]?.tokens ?? null)} tokens`}>
      {(chain) => (
        <Boundary key={place.chain}>
          <OneChain rollout={rollout} place={place} chain={chain} />
        </Boundary>
      )}
    </Ready>
  );
}
