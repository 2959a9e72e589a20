/**
 * Server-sent events, written and read as the WHATWG standard says: LF, CRLF or CR end a line, one optional space after the
 * colon, comments, several `data` lines an event, a byte order mark, and cuts anywhere, inside a line end or a character too.
 */

export interface SseEvent {
  /** Empty = the default kind. */
  readonly event: string;
  readonly data: string;
}

export function sseText(event: SseEvent): string {
  const kind = event.event === "" ? "" : `event: ${event.event}\n`;
  return `${kind}data: ${event.data.replaceAll("\n", "\ndata: ")}\n\n`;
}

export function sseComment(text: string): string {
  return `: ${text}\n\n`;
}

export interface SseReader {
  /** Events that are complete now. */
  push(bytes: Uint8Array): readonly SseEvent[];
  /** At the end of the stream: an event without its blank line is not one, as the standard says. Whether anything was left is told. */
  end(): { readonly cut: boolean };
}

export function createSseReader(): SseReader {
  const decoder = new TextDecoder("utf-8");
  let rest = "";
  /** The last character was CR: a LF that comes next belongs to it. */
  let afterReturn = false;
  let kind = "";
  let data: string[] = [];
  let hasContent = false;

  function line(text: string, events: SseEvent[]): void {
    if (text === "") {
      if (data.length > 0) events.push({ event: kind, data: data.join("\n") });
      kind = "";
      data = [];
      hasContent = false;
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) return;
    hasContent = true;
    const field = colon < 0 ? text : text.slice(0, colon);
    const raw = colon < 0 ? "" : text.slice(colon + 1);
    const value = raw.startsWith(" ") ? raw.slice(1) : raw;
    if (field === "data") data.push(value);
    else if (field === "event") kind = value;
  }

  function take(text: string): readonly SseEvent[] {
    const events: SseEvent[] = [];
    const whole = rest + (afterReturn && text.startsWith("\n") ? text.slice(1) : text);
    if (text !== "") afterReturn = text.endsWith("\r");
    const lines = whole.split(/\r\n|\r|\n/);
    rest = lines.pop() ?? "";
    for (const each of lines) line(each, events);
    return events;
  }

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      const tail = rest + decoder.decode();
      return { cut: hasContent || data.length > 0 || tail !== "" };
    },
  };
}

/** All events of a whole stream. */
export function readSse(text: string): readonly SseEvent[] {
  const reader = createSseReader();
  return reader.push(Buffer.from(text));
}
