import type { ReactNode } from "react";
import { copyLink } from "../../actions/links.ts";
import { IconButton } from "../../parts/button.tsx";
import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { Empty, Ready } from "../../parts/states.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type ExperimentView, rolloutQuery } from "../../service/views.ts";
import { rolloutPlace } from "../../state/places.ts";
import { toggleDetails } from "../../state/workspace.ts";
import { shortId, taskWords } from "../../words/names.ts";
import { ExperimentDetails } from "./experiment-details.tsx";
import { RolloutDetails } from "./rollout-details.tsx";

function Frame({ head, children }: { readonly head: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <PaneHeader>
        {head}
        <span className="flex-1" />
        <IconButton glyph="close" label="Close details" keyShown="Mod+I" onClick={toggleDetails} />
      </PaneHeader>
      {children}
    </>
  );
}

function OneRollout({ id }: { readonly id: string }) {
  const state = useQuery(rolloutQuery(id));
  return (
    <Frame
      head={
        <>
          <span className="flex-none font-mono text-2xs text-muted">{shortId(id)}</span>
          <PaneTitle>{taskWords(state.value?.task ?? "")}</PaneTitle>
          <IconButton glyph="link" label="Copy link" onClick={() => void copyLink(rolloutPlace(id))} />
        </>
      }
    >
      <Ready state={state} reading="Reading the rollout">
        {(rollout) => <RolloutDetails rollout={rollout} />}
      </Ready>
    </Frame>
  );
}

/** What is known of the selected row, without opening it. */
export function Details({ rollout, experiment }: { readonly rollout: string | null; readonly experiment: ExperimentView | null }) {
  if (rollout !== null) return <OneRollout key={rollout} id={rollout} />;
  if (experiment !== null)
    return (
      <Frame head={<PaneTitle>{experiment.name}</PaneTitle>}>
        <ExperimentDetails experiment={experiment} />
      </Frame>
    );
  return (
    <Frame head={<PaneTitle>Details</PaneTitle>}>
      <Empty title="Nothing is selected" text="Choose a row: its group, phases, verifier output and isolation are shown here." />
    </Frame>
  );
}
