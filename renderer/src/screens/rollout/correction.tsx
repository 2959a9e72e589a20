import { useEffect, useRef, useState } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { FailureNote } from "../../parts/states.tsx";
import { presentClient } from "../../service/connection.ts";
import { asFailure, type Failure } from "../../service/failure.ts";
import { invalidate } from "../../service/queries.ts";
import type { CallDetail } from "../../service/views.ts";

const saidText = (call: CallDetail): string => call.answer?.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n") ?? "";

function Editor({ call, onClose }: { readonly call: CallDetail; readonly onClose: () => void }) {
  const [text, setText] = useState(call.correction ?? saidText(call));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const keep = async (value: string): Promise<void> => {
    setBusy(true);
    try {
      await presentClient().attach.correct({ call: call.id, text: value });
      invalidate(`call:${call.id}`);
      invalidate(`rollout:${call.rollout}`);
      onClose();
    } catch (error) {
      setFailure(asFailure(error));
      setBusy(false);
    }
  };
  const field = useRef<HTMLTextAreaElement>(null);
  // Opened by a button for this: the focus goes where the person writes, once; a session that goes on draws this again and again.
  useEffect(() => field.current?.focus(), []);
  const blank = text.trim() === "";
  return (
    <form
      className="grid gap-2 px-3 py-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (!blank && !busy) void keep(text);
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      {failure !== null && <FailureNote failure={failure} />}
      <label className="grid gap-1 text-2xs text-muted">
        What it should have answered
        <textarea
          ref={field}
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          className="control h-36! resize-y py-2 font-mono text-xs leading-[1.125rem] text-fg"
        />
      </label>
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look="primary" small disabledBecause={busy ? "Being kept" : blank ? "Write an answer first" : null}>
          Keep correction
        </Button>
        {call.correction !== null && (
          <Button small onClick={() => void keep("")}>
            Take back
          </Button>
        )}
        <Button small look="ghost" onClick={onClose}>
          Cancel
        </Button>
        <span className="text-2xs text-muted">The record stays; SFT learns this answer in its place.</span>
      </div>
    </form>
  );
}

/** Of an attached session: what a person says that the policy should have answered. */
export function Correction({ call }: { readonly call: CallDetail }) {
  const [editing, setEditing] = useState(false);
  useCommands({ "calls.correct": () => setEditing(true) });
  if (editing)
    return (
      <section aria-label="Correction" className="flex-none border-t border-line bg-edited-tint">
        <Editor call={call} onClose={() => setEditing(false)} />
      </section>
    );
  if (call.correction === null)
    return (
      <div className="flex flex-none items-center gap-2 border-t border-line px-3 py-1.5 text-2xs text-muted">
        <Button small glyph="edit" command="calls.correct" onClick={() => setEditing(true)}>
          Correct…
        </Button>
        <span className="truncate">Say what it should have answered.</span>
      </div>
    );
  return (
    <section aria-label="Correction" className="max-h-[45%] flex-none overflow-auto border-t border-line bg-edited-tint px-3 py-2">
      <div className="mb-1 flex items-center gap-2 text-2xs font-medium text-edited">
        <Icon name="edit" size={0.75} />
        <span className="flex-1">corrected by a person: SFT learns this answer</span>
        <Button small look="ghost" onClick={() => setEditing(true)}>
          Change…
        </Button>
      </div>
      <pre className="m-0 text-xs leading-[1.125rem] break-words whitespace-pre-wrap">{call.correction}</pre>
    </section>
  );
}
