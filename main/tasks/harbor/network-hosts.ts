/** Entries of `allowed_hosts`: host names, `*.suffix`, IP addresses and CIDR ranges, normalised as Python's `ipaddress` writes them. */
import { pythonStrip } from "./lax-values.ts";

export type HostResult = { readonly host: string } | { readonly problem: string };

const noUrl = "must be a host name, an IP address or a CIDR range, without scheme, port or path";

/** Reads one entry; the problem is a phrase that follows the entry. */
export function normalizeHost(entry: string): HostResult {
  const host = pythonStrip(entry).toLowerCase().replace(/\.+$/, "");
  if (host === "") return { problem: "is empty" };
  if (host.includes("/")) {
    const network = normalizeNetwork(host);
    return network === null ? { problem: networkProblem(host) } : { host: network };
  }
  if (host.includes(":")) {
    const address = parseIpv6(host);
    return address === null ? { problem: noUrl } : { host: formatIpv6(address) };
  }
  if (host.includes("[") || host.includes("]")) return { problem: noUrl };
  const wildcard = host.startsWith("*.");
  const name = wildcard ? host.slice(2) : host;
  if (wildcard && name === "") return { problem: "needs a host name after `*.`" };
  if (wildcard && parseIpv4(name) !== null) return { problem: "puts a wildcard before an IP address; wildcards stand before host names only" };
  if (!wildcard && host.includes("*")) return { problem: "has a wildcard in the middle; only a leading `*.` is allowed" };
  // Python's `$` also matches before a last line feed of a label.
  if (!name.split(".").every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\n?$/.test(label)))
    return { problem: "is no host name (letters, digits, hyphens and dots)" };
  return { host };
}

function networkProblem(host: string): string {
  const [address = "", prefix = ""] = host.split("/");
  const known = parseIpv4(address) ?? parseIpv6(address);
  return known !== null && /^\d+$/.test(prefix) ? "is a CIDR range with host bits set" : noUrl;
}

/** Address bytes, or null. Leading zeros are refused as in Python. */
function parseIpv4(text: string): number[] | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null;
  return parts.map(Number);
}

/** Eight 16-bit groups, or null. Scope ids are refused. */
function parseIpv6(text: string): number[] | null {
  let source = text;
  if (source.includes(".")) {
    const at = source.lastIndexOf(":");
    const tail = parseIpv4(source.slice(at + 1));
    if (at < 0 || tail === null) return null;
    const [a = 0, b = 0, c = 0, d = 0] = tail;
    source = `${source.slice(0, at + 1)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const halves = source.split("::");
  if (halves.length > 2) return null;
  const groups = (half: string) => (half === "" ? [] : half.split(":"));
  const head = groups(halves[0] ?? "");
  const tail = halves.length === 2 ? groups(halves[1] ?? "") : [];
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const all = [...head, ...Array<string>(Math.max(missing, 0)).fill("0"), ...tail];
  return all.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) ? all.map((group) => Number.parseInt(group, 16)) : null;
}

/** Lower-case hex, the longest run of two or more zero groups as `::`; IPv4-mapped addresses keep the dotted tail. */
function formatIpv6(groups: readonly number[]): string {
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6);
    return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start += 1) {
    let length = 0;
    while (groups[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.start < 0) return hex.join(":");
  return `${hex.slice(0, best.start).join(":")}::${hex.slice(best.start + best.length).join(":")}`;
}

function normalizeNetwork(text: string): string | null {
  const parts = text.split("/");
  const [addressText = "", prefixText = ""] = parts;
  if (parts.length !== 2) return null;
  const ipv4 = parseIpv4(addressText);
  if (ipv4 !== null) {
    const prefix = ipv4Prefix(prefixText);
    return prefix === null || !hostBitsClear(ipv4, 8, prefix) ? null : `${ipv4.join(".")}/${prefix}`;
  }
  const ipv6 = text.includes("%") ? null : parseIpv6(addressText);
  if (ipv6 === null || !/^\d+$/.test(prefixText) || Number(prefixText) > 128) return null;
  return hostBitsClear(ipv6, 16, Number(prefixText)) ? `${formatIpv6(ipv6)}/${Number(prefixText)}` : null;
}

/** A prefix length, or the length that a net mask or host mask stands for. */
function ipv4Prefix(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text) <= 32 ? Number(text) : null;
  const mask = parseIpv4(text);
  if (mask === null) return null;
  const bits = mask.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  if (/^1*0*$/.test(bits)) return bits.lastIndexOf("1") + 1;
  return /^0*1*$/.test(bits) ? bits.indexOf("1") : null;
}

function hostBitsClear(groups: readonly number[], width: number, prefix: number): boolean {
  const bits = groups.map((group) => group.toString(2).padStart(width, "0")).join("");
  return !bits.slice(prefix).includes("1");
}
