/**
 * What BuildKit says while it builds: a StatusResponse of its protocol (protobuf, moby.buildkit.v1) in base64. Of it only the names of steps and
 * what their commands print are wanted: `vertexes` (1) with `name` (3), `logs` (3) with `msg` (4).
 */
interface Field {
  readonly number: number;
  /** Of a length-delimited field; all others are passed over. */
  readonly bytes: Buffer;
}

const delimited = 2;

/** Lines for a person, in order; nothing of what cannot be read. */
export function traceLines(base64: string): readonly string[] {
  const status = fieldsOf(Buffer.from(base64, "base64"));
  const steps = texts(status, 1, 3).filter((name) => !name.startsWith("[internal]"));
  return [...steps, ...texts(status, 3, 4)].flatMap((text) => text.split(/\r?\n/)).filter((line) => line.trim() !== "");
}

const texts = (status: readonly Field[], message: number, wanted: number): readonly string[] =>
  status
    .filter(({ number }) => number === message)
    .flatMap(({ bytes }) => fieldsOf(bytes).filter(({ number }) => number === wanted))
    .map(({ bytes }) => bytes.toString("utf8"));

function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; at < message.length; shift *= 128) {
      const byte = message[at] ?? 0;
      at += 1;
      value += (byte & 127) * shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < message.length) {
    const key = varint();
    const kind = key & 7;
    if (kind === delimited) {
      const length = varint();
      fields.push({ number: Math.floor(key / 8), bytes: message.subarray(at, at + length) });
      at += length;
    } else if (kind === 0) varint();
    else if (kind === 1) at += 8;
    else if (kind === 5) at += 4;
    else break;
  }
  return fields;
}
