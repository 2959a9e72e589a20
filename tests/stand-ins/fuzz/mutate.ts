/** Ways to spoil bytes and JSON, repeatable by their random source. */
import { pick, type Random } from "../random.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** Values that stand where others are expected. Strings that begin with `@raw:` are put into the text without quotes. */
const oddValues: readonly Json[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 53, "", "text", [], {}, [[]], [null], [{}], { type: "text" }, { type: 7 }],
  ...[
    "@raw:1e999",
    "@raw:-1e999",
    "@raw:NaN",
    "@raw:01",
    "@raw:\u00e9",
    "\ud83d",
    "\udc00\ud83d",
    "\u0000",
    "\u2028",
    "据",
    "x".repeat(5000),
    "../../etc",
  ],
  { type: "image_url", image_url: { url: "data:image/png;base64,@@@" } },
  { type: "image_url", image_url: { url: "data:;,%zz" } },
  { type: "input_image", image_url: "data:image/png;base64," },
  { type: "image", source: { type: "base64", media_type: "image/png", data: "%%%" } },
  { inlineData: { mimeType: "image/png", data: "####" } },
  [{ type: "tool_use", id: "", name: "", input: "no object" }],
  { functionCall: { name: 5, args: "text" } },
  { constructor: { prototype: 1 } },
];

/** A place in a JSON value: `holder[key]`. */
interface Place {
  readonly holder: Json[] | { [name: string]: Json };
  readonly key: string | number;
}

function placesIn(value: Json): readonly Place[] {
  if (typeof value !== "object" || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [{ holder: value, key }, ...placesIn(valueAt({ holder: value, key }))]);
}

function valueAt({ holder, key }: Place): Json {
  return (holder as { [name: string]: Json })[String(key)] ?? null;
}

function put({ holder, key }: Place, value: Json): void {
  (holder as { [name: string]: Json })[String(key)] = value;
}

function removeAt({ holder, key }: Place): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[String(key)];
}

/** One member or item replaced, removed, doubled, renamed or moved. */
function mutateOnce(random: Random, value: Json): void {
  const places = placesIn(value);
  if (places.length === 0) return;
  const place = pick(random, places);
  const { holder, key } = place;
  switch (below(random, 6)) {
    case 0:
      removeAt(place);
      return;
    case 1:
      if (Array.isArray(holder)) holder.splice(Number(key), 0, structuredClone(valueAt(place)));
      else put({ holder, key: `${key}_` }, valueAt(place));
      return;
    case 2:
      put(place, structuredClone(valueAt(pick(random, places))));
      return;
    case 3:
      put(place, [valueAt(place)]);
      return;
    default:
      put(place, structuredClone(pick(random, oddValues)));
  }
}

/** JSON text of a value with up to four of its places spoilt. */
export function spoiltJson(random: Random, value: unknown): string {
  const copy = structuredClone(value) as Json;
  for (let count = 1 + below(random, 4); count > 0; count -= 1) mutateOnce(random, copy);
  const text = JSON.stringify(copy).replaceAll(/"@raw:([^"]*)"/g, "$1");
  switch (below(random, 12)) {
    case 0:
      return text.replace("{", '{"model":"twice","__proto__":{"stream":true},');
    case 1:
      return `${text.slice(0, -1)},"deep":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    case 2:
      return text.replaceAll(/"([^"\\]{2,20})"/g, (whole, word: string) =>
        random() < 0.1 ? `"\\u${word.charCodeAt(0).toString(16).padStart(4, "0")}${word.slice(1)}"` : whole,
      );
    default:
      return text;
  }
}

/** Bytes cut off, turned over, put in, left out or repeated. */
export function spoiltBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const at = below(random, bytes.length + 1);
  const length = below(random, Math.min(64, bytes.length - at) + 1);
  const noise = Uint8Array.from({ length: 1 + below(random, 24) }, () => below(random, 256));
  switch (below(random, 6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return bytes.map((byte, index) => (index >= at && index < at + length ? byte ^ (1 << below(random, 8)) : byte));
    case 2:
      return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at)]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 4:
      return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    default:
      return Buffer.concat([bytes, noise]);
  }
}
