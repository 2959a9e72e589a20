import { useState } from "react";
import { saveBlob } from "../../actions/save-blob.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Empty, Ready } from "../../parts/states.tsx";
import { WalkedList, walkedItem } from "../../parts/walked-list.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type ArtifactView, artifactsQuery, blobQuery, firstBytes, wholeBytes } from "../../service/views.ts";
import { looksLikeJson } from "../../text/format-json.ts";
import { TextView } from "../../text/text-view.tsx";
import { useFormatted } from "../../text/use-formatted.ts";
import { bytes } from "../../words/numbers.ts";
import { BlobImage } from "./blob-image.tsx";
import { fileKind, folderOf, looksBinary } from "./file-kinds.ts";

function JsonText({ text, label }: { readonly text: string; readonly label: string }) {
  const formatted = useFormatted(text);
  return <TextView text={formatted ?? text} label={label} json />;
}

const atEndKinds: readonly ArtifactView["kind"][] = ["harness-log", "sandbox-log"];

function NoPreview({ artifact }: { readonly artifact: ArtifactView }) {
  return (
    <Empty title="No preview" text={`${artifact.name} is no text and no picture: ${bytes(artifact.size)} of bytes.`}>
      <Button glyph="download" onClick={() => void saveBlob(artifact.blob, artifact.name)}>
        Save file
      </Button>
    </Empty>
  );
}

/** One stored text: its first part at once, the whole when asked for. */
function BlobText({ artifact }: { readonly artifact: ArtifactView }) {
  const [limit, setLimit] = useState(firstBytes);
  const state = useQuery(blobQuery(artifact.blob, limit));
  return (
    <Ready state={state} reading={`Reading ${artifact.name}, ${bytes(artifact.size)}`}>
      {(slice) =>
        looksBinary(slice.text) ? (
          <NoPreview artifact={artifact} />
        ) : (
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
              <TextView key={limit} text={slice.text} label={artifact.name} atEnd={atEndKinds.includes(artifact.kind)} />
            )}
          </>
        )
      }
    </Ready>
  );
}

function Preview({ artifact }: { readonly artifact: ArtifactView }) {
  const kind = fileKind(artifact.name);
  switch (kind.kind) {
    case "image":
      return (
        <div className="min-h-0 flex-1 overflow-auto p-3">
          <BlobImage blob={artifact.blob} mediaType={kind.mediaType} alt={artifact.name} whole />
        </div>
      );
    case "bytes":
      return <NoPreview artifact={artifact} />;
    case "text":
      return <BlobText artifact={artifact} />;
  }
}

const keyOf = (artifact: ArtifactView): string => `${artifact.attempt}/${artifact.kind}/${artifact.name}`;
const headingOf = (artifact: ArtifactView): string => {
  const attempt = artifact.attempt > 0 ? `attempt ${artifact.attempt + 1}` : "";
  return [attempt, folderOf(artifact.name)].filter((part) => part !== "").join(" · ");
};

interface FileListProps {
  readonly artifacts: readonly ArtifactView[];
  readonly open: ArtifactView;
  readonly onChoose: (key: string) => void;
}

/** Files under their folders; a rollout that was tried again has those of each attempt. */
function FileList({ artifacts, open, onChoose }: FileListProps) {
  const headings = [...new Set(artifacts.map(headingOf))];
  return (
    <WalkedList className="w-64 flex-none overflow-auto border-r border-line pb-2 narrow:w-52 slim:w-36" chooses>
      {headings.map((heading) => (
        <section key={heading}>
          {heading !== "" && (
            <h2 className="m-0 truncate px-3 pt-2 pb-0.75 text-2xs font-medium text-muted" title={heading}>
              {heading}
            </h2>
          )}
          <ul className="m-0 list-none p-0">
            {artifacts
              .filter((artifact) => headingOf(artifact) === heading)
              .map((artifact) => (
                <li key={keyOf(artifact)}>
                  <button
                    type="button"
                    aria-current={artifact === open}
                    {...walkedItem(artifact === open)}
                    onClick={() => onChoose(keyOf(artifact))}
                    className={`focus-inside flex h-row w-full items-center gap-2 border-b border-line px-3 text-left text-xs ${artifact === open ? "bg-selected-idle" : "hover:bg-hover"}`}
                  >
                    <span className="min-w-0 flex-1 truncate font-mono" title={artifact.name}>
                      {artifact.name.slice(artifact.name.lastIndexOf("/") + 1)}
                    </span>
                    <span className="text-2xs text-muted tabular-nums slim:hidden">{bytes(artifact.size)}</span>
                  </button>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </WalkedList>
  );
}

interface RolloutTextsProps {
  readonly rollout: string;
  readonly kinds: readonly ArtifactView["kind"][];
  readonly nothing: string;
  /** Why there is nothing, or what would make something. */
  readonly nothingText?: string;
}

/** The stored files of a rollout of some kinds: a list at the left, the chosen one at the right, to look at or to save. */
export function RolloutTexts({ rollout, kinds, nothing, nothingText }: RolloutTextsProps) {
  const state = useQuery(artifactsQuery(rollout));
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Ready state={state} reading="Reading the list of artifacts">
      {(all) => {
        const artifacts = all.filter((artifact) => kinds.includes(artifact.kind));
        const open = artifacts.find((artifact) => keyOf(artifact) === chosen) ?? artifacts.at(-1);
        if (open === undefined) return <Empty title={nothing} {...(nothingText === undefined ? {} : { text: nothingText })} />;
        return (
          <div className="flex min-h-0 flex-1">
            <FileList artifacts={artifacts} open={open} onChoose={setChosen} />
            <div className="flex min-w-0 flex-1 flex-col">
              <div className="flex h-8 flex-none items-center gap-2 border-b border-line px-3 text-xs">
                <code className="min-w-0 truncate" title={open.name}>
                  {open.name}
                </code>
                <span className="flex-none text-2xs text-muted tabular-nums">{bytes(open.size)}</span>
                <span className="flex-1" />
                <IconButton glyph="download" label="Save file" onClick={() => void saveBlob(open.blob, open.name)} />
              </div>
              <Preview key={keyOf(open)} artifact={open} />
            </div>
          </div>
        );
      }}
    </Ready>
  );
}
