import { useEffect, useState } from "react";
import { copyText } from "../../actions/links.ts";
import { Button } from "../../parts/button.tsx";
import { Section } from "../../parts/pane.tsx";
import { presentClient } from "../../service/connection.ts";
import { invalidate } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { attachmentsQuery } from "../../service/views.ts";
import { notify, notifyFailure } from "../../state/notices.ts";
import { plural } from "../../words/numbers.ts";
import { moment } from "../../words/times.ts";

/** The open address of an attached program: where it is, what came through, and the way to end it. */
export function OpenAddress({ experiment, open }: { readonly experiment: string; readonly open: boolean }) {
  const state = useQuery(attachmentsQuery);
  const attachment = state.value?.find((each) => each.experiment === experiment);
  const [stopping, setStopping] = useState(false);
  useEffect(() => {
    if (!open) return;
    const timer = setInterval(() => invalidate("attachments"), 2000);
    return () => clearInterval(timer);
  }, [open]);
  if (open && state.value === undefined) return null;
  if (attachment === undefined)
    return (
      <Section title="Address">
        <p className="m-0 text-xs text-secondary">It is closed: nothing more is recorded. Grade its sessions, and correct what was said in them.</p>
      </Section>
    );
  const stop = async (): Promise<void> => {
    setStopping(true);
    try {
      const { sessions, calls } = await presentClient().attach.stop({ id: attachment.id });
      notify({
        tone: "neutral",
        title: `${attachment.name} is no longer recorded`,
        text: `${plural(sessions, "session")}, ${plural(calls, "call")}.`,
      });
    } catch (error) {
      notifyFailure(error);
    }
    setStopping(false);
    invalidate("attachments");
    invalidate("experiments");
  };
  return (
    <Section title="Address" aside={`open since ${moment(attachment.startedAt)}`}>
      <div className="grid gap-2">
        <div className="flex items-center gap-2">
          <code className="min-w-0 flex-1 rounded-2 bg-sunken px-2 py-1 text-xs break-all">{attachment.baseUrl}</code>
          <Button small aria-label="Copy base URL" onClick={() => void copyText(attachment.baseUrl, "Base URL")}>
            Copy
          </Button>
        </div>
        <p className="m-0 text-xs text-secondary">
          {attachment.sessions === 0
            ? "No session has begun yet. Start the program with this address and the key that you copied."
            : `${plural(attachment.sessions, "session")}, ${plural(attachment.calls, "call")} so far.`}
        </p>
        <span>
          <Button glyph="stop" onClick={() => void stop()} disabledBecause={stopping ? "Being stopped" : null}>
            Stop recording
          </Button>
        </span>
      </div>
    </Section>
  );
}
