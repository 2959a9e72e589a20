import { useState } from "react";
import { Chip } from "../../parts/chip.tsx";
import { PaneTabs } from "../../parts/choice.tsx";
import { Icon } from "../../parts/icon.tsx";
import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { Empty, Note } from "../../parts/states.tsx";
import type { CallDetail } from "../../service/views.ts";
import { routeWords } from "../../words/names.ts";
import { count } from "../../words/numbers.ts";
import { BodyView } from "./body-view.tsx";
import { Correction } from "./correction.tsx";
import { MessageBody } from "./message.tsx";

/** Why the answer is not what one expects, if it is not. */
function Remarks({ call }: { readonly call: CallDetail }) {
  return (
    <>
      {call.error !== null && (
        <Note look="bad" square>
          <b>{call.error}</b> The harness got status {call.httpStatus}.
        </Note>
      )}
      {call.finishReason === "length" && (
        <Note look="warn" square>
          The answer was cut: the policy reached the token limit. A cut call is never offered as a whole one.
        </Note>
      )}
      {call.unparsedToolCall && (
        <Note look="warn" square>
          The policy wrote something that looks like a tool call and cannot be read.
        </Note>
      )}
      {call.aborted && (
        <Note look="plain" square>
          The harness went away before the answer had ended.
        </Note>
      )}
      {call.quarantined !== null && (
        <Note look="plain" square>
          Left out of training: {call.quarantined}.
        </Note>
      )}
    </>
  );
}

type ResponseTab = "parsed" | "raw";

/** `session` = of an attached session, whose answers a person corrects. */
export function ResponsePane({ call, session }: { readonly call: CallDetail; readonly session: boolean }) {
  const [tab, setTab] = useState<ResponseTab>("parsed");
  return (
    <>
      <PaneHeader>
        <PaneTitle>Response</PaneTitle>
        {call.answer?.sampled === true && call.capture !== "nothing" && (
          <Chip tone="sampled">sampled {call.completionTokens === 0 ? "" : `${count(call.completionTokens)} tok`}</Chip>
        )}
        <span className="flex-1" />
        <PaneTabs<ResponseTab>
          label="Response"
          value={tab}
          onChange={setTab}
          tabs={[
            { value: "parsed", label: "Parsed" },
            { value: "raw", label: "Raw" },
          ]}
        />
      </PaneHeader>
      {tab === "parsed" ? (
        <>
          <div className="min-h-0 flex-1 overflow-auto">
            <Remarks call={call} />
            {call.answer === null ? (
              call.error === null && <Empty title="No answer" text="Nothing was answered, or it could not be read. What was sent is under Raw." />
            ) : (
              <div className="flex pt-2">
                <span className="mb-2.5 ml-2 w-0.75 flex-none rounded-[2px] bg-sampled" />
                <div className="-ml-2 min-w-0 flex-1">
                  <MessageBody message={call.answer} />
                </div>
              </div>
            )}
          </div>
          {session && call.answer !== null && <Correction key={call.id} call={call} />}
          {call.answer !== null && (
            <div className="fold-rule flex h-6.5 flex-none items-center gap-2 border-t border-line bg-sunken px-2.5 text-2xs whitespace-nowrap text-muted">
              <Icon name={call.status === "ok" ? "ok" : "warn"} size={0.75} />
              <code>{routeWords(call.path)}</code>
              <span>{call.finishReason ?? "no finish reason"}</span>
            </div>
          )}
        </>
      ) : (
        <BodyView
          call={call}
          sides={[
            { value: "response", label: "To the harness" },
            { value: "upstreamResponse", label: "From the policy" },
          ]}
        />
      )}
    </>
  );
}
