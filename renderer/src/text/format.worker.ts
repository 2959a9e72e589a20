/** Lays out long JSON off the thread that draws. */
import { formatJson } from "./format-json.ts";

self.addEventListener("message", (event: MessageEvent<string>) => self.postMessage(formatJson(event.data)));
