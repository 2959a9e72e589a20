import { useState } from "react";
import { PaneTabs } from "../../parts/choice.tsx";
import { Pane, PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { SidePane } from "../../parts/side-pane.tsx";
import { Splitter, usePaneSize } from "../../parts/splitter.tsx";
import { Boundary, Empty, Ready } from "../../parts/states.tsx";
import { useMedia } from "../../parts/use-media.ts";
import { useQuery } from "../../service/use-query.ts";
import { type CallDetail, type CallView, callQuery, type RolloutDetail } from "../../service/views.ts";
import { changeRolloutPlace, useDetailsShown } from "../../state/workspace.ts";
import { isSession } from "../../words/names.ts";
import { CallList } from "./call-list.tsx";
import { RequestPane } from "./request-pane.tsx";
import { ResponsePane } from "./response-pane.tsx";
import { StatePane } from "./state-pane.tsx";

const listSize = { name: "calls", initial: 304, least: 216, most: 376 } as const;
type SlimTab = "request" | "response" | "state";

interface OneCallProps {
  readonly rollout: RolloutDetail;
  readonly call: CallDetail;
  readonly before: CallView | null;
  readonly beforeDetail: CallDetail | null;
}

/** At 900 px and below: one centre pane with tabs. */
function SlimCall({ rollout, call, before, beforeDetail }: OneCallProps) {
  const [tab, setTab] = useState<SlimTab>("response");
  return (
    <Pane label="Call" className="flex-1 border-l border-line">
      <PaneHeader className="pl-1!">
        <PaneTabs<SlimTab>
          label="Call"
          value={tab}
          onChange={setTab}
          tabs={[
            { value: "request", label: "Request" },
            { value: "response", label: "Response" },
            { value: "state", label: "State" },
          ]}
        />
      </PaneHeader>
      <Boundary key={`${call.id}/${tab}`}>
        {tab === "request" && <RequestPane call={call} before={beforeDetail} />}
        {tab === "response" && <ResponsePane call={call} session={isSession(rollout)} />}
        {tab === "state" && <StatePane rollout={rollout} call={call} before={before} />}
      </Boundary>
    </Pane>
  );
}

function WideCall({ rollout, call, before, beforeDetail }: OneCallProps) {
  const stateShown = useDetailsShown();
  return (
    <>
      <Pane label="Request" className="min-w-45 flex-1 border-l border-line">
        <Boundary key={call.id}>
          <RequestPane call={call} before={beforeDetail} />
        </Boundary>
      </Pane>
      <Pane label="Response" className="min-w-45 flex-1 border-l border-line">
        <Boundary key={call.id}>
          <ResponsePane call={call} session={isSession(rollout)} />
        </Boundary>
      </Pane>
      {stateShown && (
        <SidePane label="State" name="state" initial={288} subject={call.id}>
          <PaneHeader>
            <PaneTitle>State</PaneTitle>
            <span className="text-muted">call {call.index + 1}</span>
          </PaneHeader>
          <StatePane rollout={rollout} call={call} before={before} />
        </SidePane>
      )}
    </>
  );
}

/** Call list, request, response and state side by side. */
export function CallsView({ rollout, chosen }: { readonly rollout: RolloutDetail; readonly chosen: number | null }) {
  const size = usePaneSize(listSize);
  const slim = useMedia("(max-width: 900px)");
  const narrow = useMedia("(max-width: 1200px)");
  const wanted = chosen === null ? 0 : rollout.calls.findIndex((call) => call.index === chosen - 1);
  const current = Math.max(0, wanted);
  const call = rollout.calls[current];
  // The call before on the same chain is what a request grew from.
  const before =
    rollout.calls
      .slice(0, current)
      .filter((each) => each.chain === call?.chain)
      .at(-1) ?? null;
  const state = useQuery(call === undefined ? null : callQuery(call.id));
  const { value: beforeDetail } = useQuery(before === null ? null : callQuery(before.id));
  if (call === undefined)
    return (
      <Empty
        title="No calls"
        text={
          rollout.phase !== "ended"
            ? "The harness has not called a model yet. Calls are listed here as they arrive."
            : "This rollout ended before the harness called a model."
        }
      />
    );
  const Call = slim ? SlimCall : WideCall;
  return (
    <div className="relative flex min-h-0 flex-1">
      <Pane label="Calls" className="flex-none" style={{ width: slim ? 190 : narrow ? Math.min(size, 264) : size }}>
        <CallList
          calls={rollout.calls}
          corrected={rollout.corrected}
          current={current}
          running={rollout.phase !== "ended"}
          onChoose={(index) => changeRolloutPlace(rollout.id, { call: (rollout.calls[index]?.index ?? 0) + 1 })}
        />
      </Pane>
      {!slim && <Splitter {...listSize} side="left" label="Width of the call list" />}
      <Ready state={state} reading={`Reading call ${call.index + 1}`}>
        {(detail) => <Call rollout={rollout} call={detail} before={before} beforeDetail={beforeDetail ?? null} />}
      </Ready>
    </div>
  );
}
