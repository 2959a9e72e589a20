/**
 * Blanks declared secrets before anything is written. The value becomes `[redacted:NAME]`, which stays valid inside JSON, URLs and
 * headers. The set of needles is rebuilt when the declarations changed, not for every body.
 */
import { WorkbenchError } from "../../errors.ts";
import type { RedactionSpan, Redactor } from "../contract.ts";
import { secretForms } from "./forms.ts";
import { createScanner, type Needle, type Scanner } from "./scanner.ts";

const shortestSecret = 6;
/** Headers whose redaction is remembered: a harness sends the same ones with every call. */
const mostHeaders = 2000;
/** A header whose whole value is a credential, whatever it holds. */
const credentialHeader = /(^|[-_])(authorization|cookie2?|api[-_]?key|access[-_]?key|auth|token|secret|password|credentials?)$/i;

interface Secret {
  readonly name: string;
  readonly value: string;
  readonly rolloutId: string | null;
  readonly forms: readonly Uint8Array[];
}

export function createRedactor(): Redactor {
  const secrets: Secret[] = [];
  let scanner: Scanner | null = createScanner([]);
  const knownHeaders = new Map<string, readonly [name: string, value: string]>();

  function changed(): void {
    scanner = null;
    knownHeaders.clear();
  }

  const find: Scanner = (text) => {
    scanner ??= createScanner(needlesOf(secrets));
    return scanner(text);
  };

  const bytes: Redactor["bytes"] = (value) => {
    if (secrets.length === 0) return { bytes: value, spans: [] };
    const spans = find(value);
    return spans.length === 0 ? { bytes: value, spans } : { bytes: blank(value, spans), spans };
  };

  const text = (value: string): string => {
    if (secrets.length === 0 || value.length < shortestSecret) return value;
    const original = Buffer.from(value, "utf8");
    const spans = find(original);
    return spans.length === 0 ? value : Buffer.from(blank(original, spans)).toString("utf8");
  };

  function header(name: string, value: string): readonly [name: string, value: string] {
    const line = `${name}\n${value}`;
    const known = knownHeaders.get(line);
    if (known !== undefined) return known;
    const redacted = [text(name), credentialHeader.test(name) ? blankCredential(name, value) : text(value)] as const;
    if (knownHeaders.size >= mostHeaders) knownHeaders.clear();
    knownHeaders.set(line, redacted);
    return redacted;
  }

  return {
    declare(name, value, rolloutId) {
      if (value.length < shortestSecret)
        throw new WorkbenchError(
          "usage",
          `The secret "${name}" is shorter than ${shortestSecret} characters; so short a value cannot be told from ordinary text.`,
          "Use a longer value, or do not declare it as a secret.",
        );
      if (secrets.some((known) => known.value === value && known.rolloutId === rolloutId)) return;
      secrets.push({ name: plainName(name), value, rolloutId, forms: secretForms(value) });
      changed();
    },
    forget(rolloutId) {
      const kept = secrets.filter((secret) => secret.rolloutId !== rolloutId);
      if (kept.length === secrets.length) return;
      secrets.splice(0, secrets.length, ...kept);
      changed();
    },
    text,
    bytes,
    headers(headers) {
      return Object.fromEntries(Object.entries(headers).map(([name, value]) => header(name, value)));
    },
  };
}

function needlesOf(secrets: readonly Secret[]): readonly Needle[] {
  const byText = new Map<string, Needle>();
  for (const { name, forms } of secrets)
    for (const form of forms) {
      const key = Buffer.from(form).toString("latin1");
      if (!byText.has(key)) byText.set(key, { name, bytes: form });
    }
  return [...byText.values()];
}

function blank(original: Uint8Array, spans: readonly RedactionSpan[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const span of spans) {
    parts.push(original.subarray(from, span.start), Buffer.from(marker(span.name), "utf8"));
    from = span.end;
  }
  parts.push(original.subarray(from));
  return Buffer.concat(parts);
}

/** The scheme word (`Bearer`, `Basic`) stays readable. */
function blankCredential(name: string, value: string): string {
  const scheme = /^([A-Za-z]{3,12}) \S/.exec(value)?.[1];
  return `${scheme === undefined || !/authorization$/i.test(name) ? "" : `${scheme} `}${marker(plainName(name.toLowerCase()))}`;
}

function marker(name: string): string {
  return `[redacted:${name}]`;
}

/** The name stands inside JSON, URLs and headers. */
function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, 64);
}
