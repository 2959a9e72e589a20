import { useEffect, useMemo, useState } from "react";
import FormatWorker from "./format.worker.ts?worker";
import { formatJson } from "./format-json.ts";

/** Up to this length laying out takes less than a frame. */
const quick = 200_000;

/** JSON laid out for reading; null while a worker is still at it. */
export function useFormatted(text: string): string | null {
  const [laidOut, setLaidOut] = useState<{ readonly of: string; readonly result: string } | null>(null);
  const long = text.length > quick;
  const short = useMemo(() => (long ? null : formatJson(text)), [text, long]);
  useEffect(() => {
    if (!long) return;
    const worker = new FormatWorker();
    worker.addEventListener("message", (event: MessageEvent<string>) => setLaidOut({ of: text, result: event.data }));
    worker.postMessage(text);
    return () => worker.terminate();
  }, [text, long]);
  if (!long) return short;
  return laidOut?.of === text ? laidOut.result : null;
}
