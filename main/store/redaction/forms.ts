/**
 * The ways a secret can stand in a text. Owns: the list of byte strings that are looked for. Covered: raw UTF-8; JSON-escaped up to
 * three levels deep (tool arguments are JSON inside JSON), with and without `\u` escapes; URL-encoded; base64 and base64url at each
 * of the three byte alignments. Not covered: a value that is cut into pieces, compressed or encrypted.
 */

/** Every distinct form of a secret, as bytes. */
export function secretForms(value: string): readonly Uint8Array[] {
  const texts = new Set<string>([value]);
  for (const write of [JSON.stringify, asciiJson, slashJson]) {
    let text = value;
    for (let level = 0; level < 3; level++) {
      text = write(text).slice(1, -1);
      texts.add(text);
    }
  }
  for (const encoded of percentEncodings(value)) {
    texts.add(encoded);
    texts.add(encoded.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()));
  }
  for (const inner of base64Inner(value)) {
    texts.add(inner);
    texts.add(inner.replaceAll("+", "-").replaceAll("/", "_"));
    texts.add(inner.replaceAll("/", "\\/"));
  }
  return [...texts].map((text) => Buffer.from(text, "utf8"));
}

/** As Python's `json.dumps` writes by default: everything beyond ASCII as `\uXXXX`. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** As PHP and some template engines write: `/` as `\/`. */
function slashJson(text: string): string {
  return JSON.stringify(text).replaceAll("/", "\\/");
}

/** As URL libraries write: which signs they leave differs, and forms write a space as `+`. */
function percentEncodings(value: string): readonly string[] {
  const wellFormed = Buffer.from(value, "utf8").toString("utf8");
  const component = encodeURIComponent(wellFormed);
  const strict = component.replace(/[!'()*]/g, percentOctet);
  const every = [...Buffer.from(value, "utf8")].map((octet) => percentOctet(String.fromCharCode(octet))).join("");
  return [
    component,
    strict,
    strict.replaceAll("%2F", "/"),
    strict.replaceAll("%20", "+"),
    encodeURI(wellFormed),
    new URLSearchParams([["", wellFormed]]).toString().slice(1),
    every,
  ];
}

function percentOctet(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;
}

/** The base64 digits that depend on the secret alone, for each offset it can have inside a longer encoded text. */
function base64Inner(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  return [0, 1, 2].map((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const first = Math.ceil((before * 8) / 6);
    const whole = Math.floor(((before + bytes.length) * 8) / 6);
    return digits.slice(first, whole);
  });
}
