import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";
import { Segmented } from "../parts/choice.tsx";
import { Empty } from "../parts/states.tsx";
import { useLive } from "../service/live.ts";
import type { EventView } from "../service/views.ts";
import { useWorkspace } from "../state/workspace.ts";
import { payloadWords } from "../words/events.ts";
import { moment } from "../words/times.ts";

const row = 20;

function Row({ event }: { readonly event: EventView }) {
  return (
    <>
      <span className="text-muted tabular-nums">{moment(event.at)}</span>
      <span className="truncate text-muted">{event.rollout ?? event.experiment ?? ""}</span>
      <span className="truncate">{event.type}</span>
      <span className="truncate text-secondary" title={event.payload}>
        {payloadWords(event.payload)}
      </span>
    </>
  );
}

/** What the service does, as it happens. It follows the end until a person scrolls up. */
export function EventLog() {
  const events = useLive((state) => state.events);
  const rollout = useWorkspace((state) => state.selectedRollout);
  const [scope, setScope] = useState<"all" | "rollout">("all");
  const shown = scope === "rollout" && rollout !== null ? events.filter((event) => event.rollout === rollout) : events;
  const scroller = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const virtual = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => row, overscan: 10 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && following.current && shown.length > 0) element.scrollTop = element.scrollHeight;
  }, [shown.length]);
  if (shown.length === 0) return <Empty title="Nothing has happened yet" text="Phases, calls and outcomes are listed here as they happen." />;
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {rollout !== null && (
        <div className="absolute top-1 right-3 z-10">
          <Segmented
            small
            label="Which events"
            value={scope}
            onChange={setScope}
            options={[
              { value: "all", label: "All" },
              { value: "rollout", label: "This rollout" },
            ]}
          />
        </div>
      )}
      <div
        ref={scroller}
        role="log"
        aria-label="Events of the service"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a log that scrolls must be reachable by the keyboard
        tabIndex={0}
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
          following.current = scrollHeight - scrollTop - clientHeight < row * 2;
        }}
        className="focus-inside min-h-0 flex-1 overflow-auto py-1 font-mono text-xs leading-5"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const event = shown[item.index];
            return event === undefined ? null : (
              <div
                key={item.key}
                className="absolute inset-x-0 top-0 grid h-5 grid-cols-[5rem_7rem_11rem_minmax(0,1fr)] gap-2 px-3"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Row event={event} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
