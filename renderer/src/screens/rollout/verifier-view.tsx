import { regradeRollout } from "../../actions/regrade.ts";
import { useCommands } from "../../commands/handlers.ts";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/pane.tsx";
import type { RolloutDetail } from "../../service/views.ts";
import { isSession } from "../../words/names.ts";
import { reward } from "../../words/numbers.ts";
import { actionWords } from "../../words/outcomes.ts";
import { LaterGrades } from "./later-grades.tsx";
import { RolloutTexts } from "./rollout-texts.tsx";
import { StepRewards } from "./step-rewards.tsx";

/** What the verifier said: every reward by name, and its output. */
export function VerifierView({ rollout }: { readonly rollout: RolloutDetail }) {
  const canBeGraded = rollout.status !== null && !isSession(rollout);
  useCommands(canBeGraded ? { "rollout.regrade": () => regradeRollout(rollout) } : null);
  const rewards = Object.entries(rollout.rewards ?? {});
  return (
    <>
      <div className="flex flex-none items-start gap-3 border-b border-line px-3 py-2.5">
        <Facts
          labelWidth="8rem"
          rows={[
            ["Reward", reward(rollout.reward)],
            ...(rewards.length > 1 ? rewards.map(([name, value]) => [name, reward(value)] as const) : []),
            ["Training", actionWords(rollout)],
            ...(rollout.detail === null ? [] : [["Said", rollout.detail] as const]),
          ]}
        />
        <span className="flex-1" />
        {canBeGraded && (
          <Button small glyph="refresh" command="rollout.regrade" onClick={() => regradeRollout(rollout)}>
            Regrade…
          </Button>
        )}
      </div>
      <LaterGrades rollout={rollout.id} />
      {rollout.steps.length > 0 && <StepRewards rollout={rollout} />}
      <RolloutTexts
        rollout={rollout.id}
        kinds={["verifier-output"]}
        nothing={isSession(rollout) ? "No verifier looks at an attached session" : "The verifier has written nothing"}
        nothingText={isSession(rollout) ? "You say how it went: Grade, above." : "Its output is kept here as soon as it runs."}
      />
    </>
  );
}
