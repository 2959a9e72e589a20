import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Empty, Ready } from "../../parts/states.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type ArtifactView, artifactsQuery, blobQuery, firstBytes, wholeBytes } from "../../service/views.ts";
import { looksLikeJson } from "../../text/format-json.ts";
import { TextView } from "../../text/text-view.tsx";
import { useFormatted } from "../../text/use-formatted.ts";
import { bytes } from "../../words/numbers.ts";

function JsonText({ text, label }: { readonly text: string; readonly label: string }) {
  const formatted = useFormatted(text);
  return <TextView text={formatted ?? text} label={label} json />;
}

/** One stored text: its first part at once, the whole when asked for. */
function BlobText({ artifact, atEnd = false }: { readonly artifact: ArtifactView; readonly atEnd?: boolean }) {
  const [limit, setLimit] = useState(firstBytes);
  const state = useQuery(blobQuery(artifact.blob, limit));
  return (
    <Ready state={state} reading={`Reading ${artifact.name}, ${bytes(artifact.size)}`}>
      {(slice) => (
        <>
          {slice.truncated && (
            <div className="flex flex-none items-center gap-2 border-b border-line bg-sunken px-3 py-1 text-xs text-secondary">
              The first {bytes(slice.text.length)} of {bytes(slice.total)}.
              <Button small onClick={() => setLimit(wholeBytes)}>
                Load the whole text
              </Button>
            </div>
          )}
          {slice.text === "" ? (
            <Empty title={`${artifact.name} is empty`} />
          ) : looksLikeJson(slice.text) && artifact.name.endsWith(".json") ? (
            <JsonText text={slice.text} label={artifact.name} />
          ) : (
            <TextView key={limit} text={slice.text} label={artifact.name} atEnd={atEnd} />
          )}
        </>
      )}
    </Ready>
  );
}

interface RolloutTextsProps {
  readonly rollout: string;
  readonly kinds: readonly ArtifactView["kind"][];
  readonly nothing: string;
}

/** The stored texts of a rollout of some kinds: a list at the left, the chosen one at the right. */
export function RolloutTexts({ rollout, kinds, nothing }: RolloutTextsProps) {
  const state = useQuery(artifactsQuery(rollout));
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Ready state={state} reading="Reading the list of artifacts">
      {(all) => {
        const artifacts = all.filter((artifact) => kinds.includes(artifact.kind));
        const keyOf = (artifact: ArtifactView): string => `${artifact.attempt}/${artifact.kind}/${artifact.name}`;
        const open = artifacts.find((artifact) => keyOf(artifact) === chosen) ?? artifacts.at(-1);
        if (open === undefined) return <Empty title={nothing} />;
        return (
          <div className="flex min-h-0 flex-1">
            <ul className="m-0 w-60 flex-none list-none overflow-auto border-r border-line p-0 slim:w-36">
              {artifacts.map((artifact) => (
                <li key={keyOf(artifact)}>
                  <button
                    type="button"
                    aria-current={artifact === open}
                    onClick={() => setChosen(keyOf(artifact))}
                    className={`focus-inside flex h-row w-full items-center gap-2 border-b border-line px-3 text-left text-xs ${artifact === open ? "bg-selected-idle" : "hover:bg-hover"}`}
                  >
                    <span className="min-w-0 flex-1 truncate font-mono" title={artifact.name}>
                      {artifact.name}
                    </span>
                    {artifact.attempt > 0 && <span className="text-2xs text-muted">attempt {artifact.attempt + 1}</span>}
                    <span className="text-2xs text-muted tabular-nums">{bytes(artifact.size)}</span>
                  </button>
                </li>
              ))}
            </ul>
            <div className="flex min-w-0 flex-1 flex-col">
              <BlobText key={keyOf(open)} artifact={open} atEnd={open.kind === "harness-log" || open.kind === "sandbox-log"} />
            </div>
          </div>
        );
      }}
    </Ready>
  );
}
