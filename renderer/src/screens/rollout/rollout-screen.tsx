import { useEffect } from "react";
import { cancelRollout } from "../../actions/experiments.ts";
import { exportRollout } from "../../actions/exports.ts";
import { copyLink } from "../../actions/links.ts";
import { useCommands } from "../../commands/handlers.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { OutcomeChip } from "../../parts/chip.tsx";
import { PaneTabs } from "../../parts/choice.tsx";
import { Boundary, Ready } from "../../parts/states.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type RolloutDetail, rolloutQuery, rolloutsQuery } from "../../service/views.ts";
import { openOverlay } from "../../state/overlays.ts";
import { type RolloutPlace, type RolloutViewName, rolloutPlace, rolloutViews } from "../../state/places.ts";
import { changeRolloutPlace, openPlace, titleTab } from "../../state/workspace.ts";
import { isSession, policyWords, rolloutTitle, taskWords } from "../../words/names.ts";
import { reward } from "../../words/numbers.ts";
import { CallsView } from "./calls-view.tsx";
import { RolloutTexts } from "./rollout-texts.tsx";
import { TokensView } from "./tokens/tokens-view.tsx";
import { VerifierView } from "./verifier-view.tsx";

function View({ rollout, place }: { readonly rollout: RolloutDetail; readonly place: RolloutPlace }) {
  switch (place.view) {
    case "calls":
      return <CallsView rollout={rollout} chosen={place.call} />;
    case "tokens":
      return <TokensView rollout={rollout} place={place} />;
    case "artifacts":
      return (
        <RolloutTexts
          rollout={rollout.id}
          kinds={["artifact", "workspace"]}
          nothing="No artifacts"
          nothingText="A task names the files that are kept (artifacts in task.toml); this rollout left none."
        />
      );
    case "verifier":
      return <VerifierView rollout={rollout} />;
    case "logs":
      return <RolloutTexts rollout={rollout.id} kinds={["harness-log", "sandbox-log"]} nothing="Neither harness nor sandbox has written anything" />;
  }
}

/** The neighbours of a rollout in its experiment, for [ and ]. */
function useNeighbours(rollout: RolloutDetail, place: RolloutPlace): void {
  const { value: all = [] } = useQuery(rolloutsQuery(rollout.experiment));
  const index = all.findIndex((each) => each.id === rollout.id);
  const go = (by: number) => () => {
    const next = all[index + by];
    if (next !== undefined) openPlace(rolloutPlace(next.id, { view: place.view }), { preview: true, title: rolloutTitle(next) });
  };
  useCommands({ "rollout.previous": go(-1), "rollout.next": go(1) });
}

function Head({ rollout, place }: { readonly rollout: RolloutDetail; readonly place: RolloutPlace }) {
  const grade = (): void => openOverlay({ kind: "grade", rollout: rollout.id });
  useCommands({ "place.export": () => exportRollout(rollout), ...(isSession(rollout) ? { "rollout.grade": grade } : {}) });
  return (
    <div
      className="flex min-h-toolbar flex-none items-center gap-2.5 border-b border-line px-3"
      data-pane
      tabIndex={-1}
      role="toolbar"
      aria-label="Rollout"
    >
      <span className="flex-none font-mono text-2xs text-muted slim:hidden">{rollout.id}</span>
      <h1 className="m-0 min-w-0 truncate text-sm font-strong" title={rollout.task}>
        {taskWords(rollout.task)}
      </h1>
      <OutcomeChip rollout={{ ...rollout, calls: rollout.calls.length }} />
      <span className="flex-none text-xs tabular-nums">
        <span className="text-muted">reward</span> {reward(rollout.reward)}
      </span>
      <span className="min-w-0 truncate text-xs text-muted narrow:hidden">
        {rollout.harness} {rollout.harnessVersion} · {policyWords(rollout.policy)} · {rollout.sandbox}
      </span>
      <span className="flex-1" />
      {rollout.status === null && !isSession(rollout) && (
        <Button small glyph="stop" onClick={() => void cancelRollout(rollout)}>
          Cancel
        </Button>
      )}
      {isSession(rollout) && (
        <Button small glyph="ok" folds onClick={grade}>
          {rollout.status === null ? "Grade…" : "Grade again…"}
        </Button>
      )}
      <IconButton glyph="download" label="Export…" keyShown="Mod+E" onClick={() => exportRollout(rollout)} />
      <IconButton glyph="link" label="Copy link" keyShown="c" onClick={() => void copyLink(place)} />
      <div className="flex self-stretch">
        <PaneTabs<RolloutViewName>
          label="Views of the rollout"
          value={place.view}
          onChange={(view) => changeRolloutPlace(rollout.id, { view })}
          tabs={[
            { value: "calls", label: "Calls", count: rollout.calls.length },
            { value: "tokens", label: "Tokens" },
            { value: "artifacts", label: "Artifacts" },
            { value: "verifier", label: "Verifier" },
            { value: "logs", label: "Logs" },
          ]}
        />
      </div>
    </div>
  );
}

function Open({ rollout, place }: { readonly rollout: RolloutDetail; readonly place: RolloutPlace }) {
  useNeighbours(rollout, place);
  useCommands(Object.fromEntries(rolloutViews.map((view) => [`rollout.${view}`, () => changeRolloutPlace(rollout.id, { view })])));
  useEffect(() => titleTab(`run/${rollout.id}`, rolloutTitle(rollout)), [rollout]);
  return (
    <>
      <Head rollout={rollout} place={place} />
      <Boundary key={place.view}>
        <View rollout={rollout} place={place} />
      </Boundary>
    </>
  );
}

/** One rollout: its calls, tokens, artifacts, verifier output and logs. */
export function RolloutScreen({ place }: { readonly place: RolloutPlace }) {
  const state = useQuery(rolloutQuery(place.id));
  return (
    <Ready state={state} reading={`Reading rollout ${place.id}`}>
      {(rollout) => <Open rollout={rollout} place={place} />}
    </Ready>
  );
}
