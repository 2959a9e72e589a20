/**
 * What BuildKit says while it builds: a StatusResponse of its protocol (protobuf, moby.buildkit.v1) in base64. Of it only the names of steps and
 * what their commands print are wanted: `vertexes` (1) with `name` (3), `started` (5) and `completed` (6), `logs` (3) with `msg` (4).
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
  const has = (message: readonly Field[], wanted: number): boolean => message.some(({ number }) => number === wanted);
  // A step is told several times: when it is planned, begins and ends.
  const begun = partsOf(status, 1).filter((step) => has(step, 5) && !has(step, 6));
  const steps = begun.flatMap((step) => texts(step, 3)).filter((name) => !/^\[internal\]|^copy \/context/.test(name));
  const said = partsOf(status, 3).flatMap((log) => texts(log, 4));
  return [...steps, ...said].flatMap((text) => text.split(/\r?\n/)).filter((line) => line.trim() !== "");
}

const partsOf = (message: readonly Field[], wanted: number): readonly (readonly Field[])[] =>
  message.filter(({ number }) => number === wanted).map(({ bytes }) => fieldsOf(bytes));

const texts = (message: readonly Field[], wanted: number): readonly string[] =>
  message.filter(({ number }) => number === wanted).map(({ bytes }) => bytes.toString("utf8"));

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
