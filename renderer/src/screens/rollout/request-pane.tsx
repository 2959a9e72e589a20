import { useMemo, useState } from "react";
import { PaneTabs } from "../../parts/choice.tsx";
import { Icon } from "../../parts/icon.tsx";
import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { Empty } from "../../parts/states.tsx";
import type { CallDetail } from "../../service/views.ts";
import { formatJson } from "../../text/format-json.ts";
import { plural } from "../../words/numbers.ts";
import { moment } from "../../words/times.ts";
import { BodyView } from "./body-view.tsx";
import { Message } from "./message.tsx";
import { toolNameOf, unchangedPrefix } from "./messages.ts";

/** A long first message (the harness's manual) opens closed; everything else new opens open. */
const longSystem = 1500;

interface MessagesProps {
  readonly call: CallDetail;
  readonly before: CallDetail | null;
}

function Messages({ call, before }: MessagesProps) {
  const unchanged = useMemo(() => (before === null ? 0 : unchangedPrefix(before.messages, call.messages)), [before, call]);
  const [unfolded, setUnfolded] = useState(false);
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  if (call.messages.length === 0)
    return <Empty title="No messages" text="The request could not be read as a conversation. Its bytes are under Raw." />;
  const opensOpen = (index: number): boolean => {
    const message = call.messages[index];
    if (message === undefined || index < unchanged) return false;
    const length = message.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
    return !(message.role === "system" || message.role === "developer") || length < longSystem;
  };
  const toggle = (index: number): void => {
    const next = new Set(toggled);
    if (!next.delete(index)) next.add(index);
    setToggled(next);
  };
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      {unchanged > 0 && before !== null && (
        <button
          type="button"
          aria-expanded={unfolded}
          onClick={() => setUnfolded(!unfolded)}
          className="fold-rule focus-inside flex h-6.5 w-full items-center gap-2 border-b border-line bg-sunken px-2.5 text-2xs whitespace-nowrap text-muted hover:bg-hover"
        >
          <Icon name={unfolded ? "down" : "right"} size={0.75} />
          {plural(unchanged, "message")}, unchanged since call {before.index + 1}
        </button>
      )}
      {call.messages.map((message, index) =>
        index < unchanged && !unfolded ? null : (
          <Message
            // biome-ignore lint/suspicious/noArrayIndexKey: the place in the request is the name of a message
            key={index}
            message={message}
            about={toolNameOf(call.messages, message)}
            open={opensOpen(index) !== toggled.has(index)}
            onToggle={() => toggle(index)}
          />
        ),
      )}
    </div>
  );
}

function Tools({ call }: { readonly call: CallDetail }) {
  if (call.tools.length === 0) return <Empty title="No tools" text="The request offers the policy no tool." />;
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      {call.tools.map((tool) => (
        <details key={tool.name} className="border-b border-line px-3 py-1.5 text-xs">
          <summary className="focus-inside flex cursor-default gap-2">
            <code className="font-strong">{tool.name}</code>
            <span className="min-w-0 flex-1 truncate text-muted">{tool.description}</span>
          </summary>
          {tool.description !== null && <p className="my-1.5 text-secondary">{tool.description}</p>}
          {tool.parameters !== null && (
            <pre className="m-0 rounded-2 bg-sunken px-2.5 py-2 leading-[1.125rem] break-words whitespace-pre-wrap">
              {formatJson(tool.parameters)}
            </pre>
          )}
        </details>
      ))}
    </div>
  );
}

type RequestTab = "messages" | "tools" | "raw";

export function RequestPane({ call, before }: MessagesProps) {
  const [tab, setTab] = useState<RequestTab>("messages");
  return (
    <>
      <PaneHeader>
        <PaneTitle>Request</PaneTitle>
        <span className="truncate text-muted tabular-nums [@media(max-width:1400px)]:hidden">sent {moment(call.startedAt)}</span>
        <span className="flex-1" />
        <PaneTabs<RequestTab>
          label="Request"
          value={tab}
          onChange={setTab}
          tabs={[
            { value: "messages", label: "Messages", count: call.messages.length },
            { value: "tools", label: "Tools", count: call.tools.length },
            { value: "raw", label: "Raw" },
          ]}
        />
      </PaneHeader>
      {tab === "messages" && <Messages key={call.id} call={call} before={before} />}
      {tab === "tools" && <Tools call={call} />}
      {tab === "raw" && (
        <BodyView
          call={call}
          sides={[
            { value: "request", label: "From the harness" },
            { value: "upstreamRequest", label: "To the policy" },
          ]}
        />
      )}
    </>
  );
}
