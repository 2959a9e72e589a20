import { useEffect, useState } from "react";
import { serviceFetch } from "../../service/connection.ts";

type State = { readonly url: string } | { readonly failed: string } | null;

interface BlobImageProps {
  readonly blob: string;
  readonly mediaType: string | null;
  readonly alt?: string;
  /** As large as its pane allows. */
  readonly whole?: boolean;
}

/** A stored image. Its address needs the token, so it is fetched, not linked. */
export function BlobImage({ blob, mediaType, alt = "Part of the message", whole = false }: BlobImageProps) {
  const [state, setState] = useState<State>(null);
  useEffect(() => {
    const ending = new AbortController();
    let made: string | null = null;
    const read = async (): Promise<void> => {
      const response = await serviceFetch(`/blobs/${blob}`, ending.signal);
      if (!response.ok) throw new Error(`the service answered ${response.status}`);
      const bytes = await response.arrayBuffer();
      if (ending.signal.aborted) return;
      made = URL.createObjectURL(new Blob([bytes], { type: mediaType ?? "image/png" }));
      setState({ url: made });
    };
    read().catch((error: Error) => {
      if (!ending.signal.aborted) setState({ failed: error.message });
    });
    return () => {
      ending.abort();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [blob, mediaType]);
  if (state === null) return <span className="text-2xs text-muted">Reading the image</span>;
  if ("failed" in state) return <span className="text-2xs text-failed">The image cannot be read: {state.failed}.</span>;
  return (
    <a href={state.url} target="_blank" rel="noreferrer" title="Open in full size" className="inline-block">
      <img src={state.url} alt={alt} className={`${whole ? "" : "max-h-72"} max-w-full rounded-2 border border-line`} />
    </a>
  );
}
