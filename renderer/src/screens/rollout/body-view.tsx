import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Segmented } from "../../parts/choice.tsx";
import { Empty, Ready } from "../../parts/states.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type BodyName, bodyQuery, type CallDetail, firstBytes, wholeBytes } from "../../service/views.ts";
import { looksLikeJson } from "../../text/format-json.ts";
import { TextView } from "../../text/text-view.tsx";
import { useFormatted } from "../../text/use-formatted.ts";
import { bytes } from "../../words/numbers.ts";

function Formatted({ text, label }: { readonly text: string; readonly label: string }) {
  const formatted = useFormatted(text);
  return <TextView text={formatted ?? text} label={label} json />;
}

function Body({ call, which, pretty }: { readonly call: CallDetail; readonly which: BodyName; readonly pretty: boolean }) {
  const [limit, setLimit] = useState(firstBytes);
  const state = useQuery(bodyQuery(call.id, which, limit));
  return (
    <Ready state={state} reading={`Reading the body, ${bytes(call.bodies[which])}`}>
      {(slice) => (
        <>
          {slice.truncated && (
            <div className="flex flex-none items-center gap-2 border-b border-line bg-sunken px-3 py-1 text-xs text-secondary">
              The first {bytes(Math.min(limit, slice.total))} of {bytes(slice.total)}.
              <Button small onClick={() => setLimit(wholeBytes)}>
                Load the whole body
              </Button>
            </div>
          )}
          {pretty && looksLikeJson(slice.text) ? (
            <Formatted text={slice.text} label={which} />
          ) : (
            <TextView key={limit} text={slice.text} label={which} />
          )}
        </>
      )}
    </Ready>
  );
}

interface BodyViewProps {
  readonly call: CallDetail;
  readonly sides: readonly { readonly value: BodyName; readonly label: string }[];
}

/** The bytes of a call as they went over the wire, or the same JSON laid out. Bodies open cut and are whole on demand. */
export function BodyView({ call, sides }: BodyViewProps) {
  const stored = sides.filter((side) => call.bodies[side.value] !== null);
  const [side, setSide] = useState<BodyName | null>(null);
  const [form, setForm] = useState<"pretty" | "bytes">("pretty");
  const which = stored.find((each) => each.value === side)?.value ?? stored[0]?.value;
  if (which === undefined) return <Empty title="No body is stored" text="Nothing went over the wire here." />;
  return (
    <>
      <div className="flex h-8 flex-none items-center gap-2 border-b border-line px-3 text-2xs text-muted">
        {stored.length > 1 ? (
          <Segmented small label="Which body" value={which} options={stored} onChange={setSide} />
        ) : (
          <span>{stored[0]?.label}</span>
        )}
        <span className="flex-1" />
        <span className="tabular-nums">{bytes(call.bodies[which])}</span>
        {!(which === "response" && call.stream) && (
          <Segmented
            small
            label="Form"
            value={form}
            onChange={setForm}
            options={[
              { value: "pretty", label: "JSON" },
              { value: "bytes", label: "Bytes" },
            ]}
          />
        )}
      </div>
      <Body key={`${call.id}/${which}`} call={call} which={which} pretty={form === "pretty"} />
    </>
  );
}
