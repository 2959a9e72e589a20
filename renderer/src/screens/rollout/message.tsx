import { type ReactNode, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Mini } from "../../parts/chip.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { MessageView } from "../../service/views.ts";
import { formatJson, looksLikeJson } from "../../text/format-json.ts";
import { highlightJson } from "../../text/highlight.ts";
import { count } from "../../words/numbers.ts";
import { argumentWords, singleArgument } from "../../words/summaries.ts";
import { BlobImage } from "./blob-image.tsx";
import { cutLine, messageLength } from "./messages.ts";

/** A text this long opens cut; the whole is one click away. */
const openLength = 6000;
const ink = { key: "text-code-key", string: "text-code-string", number: "text-code-number", word: "text-code-keyword", plain: "" } as const;

function Text({ text, marked }: { readonly text: string; readonly marked: string | null }) {
  const [whole, setWhole] = useState(false);
  const shown = whole || text.length <= openLength ? text : text.slice(0, openLength);
  const at = marked === null ? -1 : shown.indexOf(marked);
  return (
    <>
      <pre className="m-0 text-xs leading-[1.125rem] break-words whitespace-pre-wrap">
        {at === -1 || marked === null ? (
          shown
        ) : (
          <>
            {shown.slice(0, at)}
            <span className="rounded-1 bg-paused-tint px-1 font-strong text-paused">{marked}</span>
            {shown.slice(at + marked.length)}
          </>
        )}
      </pre>
      {shown.length < text.length && (
        <Button small className="mt-1.5" onClick={() => setWhole(true)}>
          Show all {count(text.length)} characters
        </Button>
      )}
    </>
  );
}

function JsonBlock({ text }: { readonly text: string }) {
  return (
    <pre className="m-0 text-xs leading-[1.125rem] break-words whitespace-pre-wrap">
      {highlightJson(formatJson(text.slice(0, openLength))).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
        <span key={index} className={ink[part.kind]}>
          {part.text}
        </span>
      ))}
      {text.length > openLength && " …"}
    </pre>
  );
}

function Part({ part, marked }: { readonly part: MessageView["content"][number]; readonly marked: string | null }) {
  switch (part.type) {
    case "text":
      return <Text text={part.text} marked={marked} />;
    case "image":
      if (part.blob !== null) return <BlobImage blob={part.blob} mediaType={part.mediaType} />;
      return <span className="text-xs text-muted">Image at {part.url ?? "an unknown place"}, not stored</span>;
    case "file":
      return (
        <span className="inline-flex items-center gap-1.5 text-xs">
          <Icon name="file" size={0.875} className="text-muted" />
          {part.name ?? "file without a name"}
        </span>
      );
    case "other":
      return <JsonBlock text={part.raw} />;
  }
}

/** A label at the left of what the policy wrote apart from its text. */
function Labelled({ label, children }: { readonly label: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="border-l-2 border-line-strong pl-2.5">
      <div className="text-2xs font-medium text-muted">{label}</div>
      {children}
    </div>
  );
}

/** A call with one text argument (a command, a patch) shows that text; any other shows its JSON. */
function ToolCall({ call }: { readonly call: MessageView["toolCalls"][number] }) {
  const single = singleArgument(call.arguments);
  return (
    <Labelled
      label={
        <>
          calls <code className="text-xs font-strong text-fg">{call.name}</code>
          {single !== null && ` with ${single.name}`}
        </>
      }
    >
      {single !== null ? (
        <Text text={single.text} marked={null} />
      ) : looksLikeJson(call.arguments) ? (
        <JsonBlock text={call.arguments} />
      ) : (
        <Text text={call.arguments} marked={null} />
      )}
    </Labelled>
  );
}

export function MessageBody({ message }: { readonly message: MessageView }) {
  const marked = cutLine(message);
  const parts = message.content.filter((part) => part.type !== "text" || part.text !== "");
  return (
    <div className="grid gap-2 pt-0.5 pr-3 pb-2.5 pl-7.25">
      {message.reasoning !== null && message.reasoning !== "" && (
        <Labelled label="reasoning">
          <div className="text-secondary">
            <Text text={message.reasoning} marked={null} />
          </div>
        </Labelled>
      )}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message have no other name
        <Part key={index} part={part} marked={marked} />
      ))}
      {message.toolCalls.map((call) => (
        <ToolCall key={call.id} call={call} />
      ))}
      {parts.length === 0 && message.toolCalls.length === 0 && message.reasoning === null && <span className="text-xs text-muted">Empty</span>}
    </div>
  );
}

interface MessageProps {
  readonly message: MessageView;
  /** Which tool a result is of, or what else places it. */
  readonly about: string | null;
  readonly open: boolean;
  readonly onToggle: () => void;
}

/** One message of a request: bar of provenance, role, and its content when open. */
export function Message({ message, about, open, onToggle }: MessageProps) {
  const marked = cutLine(message);
  const first = message.toolCalls[0];
  const words = open
    ? null
    : (message.content.find((part) => part.type === "text")?.text ?? (first === undefined ? "" : argumentWords(first.arguments)));
  return (
    <article className="border-b border-line">
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className="focus-inside flex h-6.5 w-full items-center gap-1.75 pr-2.5 pl-2 text-left text-2xs text-muted hover:bg-hover"
      >
        <span
          className={`my-1 w-0.75 self-stretch rounded-[2px] ${message.sampled ? "bg-sampled" : "hatch-line"}`}
          title={message.sampled ? "sampled by the policy" : "not sampled: masked"}
        />
        <Icon name={open ? "down" : "right"} size={0.75} />
        <b className="text-xs text-fg">{message.role}</b>
        {about !== null && <span className="flex-none">{about}</span>}
        <span className="min-w-0 flex-1 truncate font-mono">{words?.slice(0, 200)}</span>
        {marked !== null && (
          <Mini look="paused" glyph="warn" title={marked}>
            cut result
          </Mini>
        )}
        <span className="flex-none tabular-nums">{count(messageLength(message))} chars</span>
      </button>
      {open && <MessageBody message={message} />}
    </article>
  );
}
