/**
 * Which hosts an allow list names. Entries are as the task reader leaves them: host names in lower case, `*.suffix` for every name below
 * a suffix (not the suffix itself), addresses, CIDR ranges.
 */
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

export interface HostRules {
  readonly entries: readonly string[];
  allowsName(name: string): boolean;
  /** Addresses of this machine, of private networks and the like need an entry of their own kind; wide ranges do not let them in. */
  allowsAddress(address: string): boolean;
}

const family = (address: string): "ipv4" | "ipv6" => (isIP(address) === 4 ? "ipv4" : "ipv6");

/** Not reachable from the outside, or this machine's business only (IANA's special-purpose registries). */
const special = new BlockList();
for (const [address, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  special.addSubnet(address, prefix, family(address));
}

/** `ownAddresses`: of this machine's interfaces, where a service may listen that is meant for nobody else. */
export function hostRules(entries: readonly string[], ownAddresses: () => readonly string[] = machineAddresses): HostRules {
  const names = new Set<string>();
  const suffixes: string[] = [];
  const anywhere = new BlockList();
  const within = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    if (prefix !== undefined && isIP(address) !== 0) {
      anywhere.addSubnet(address, Number(prefix), family(address));
      if (isNarrow(address, Number(prefix))) within.addSubnet(address, Number(prefix), family(address));
    } else if (isIP(entry) !== 0) {
      anywhere.addAddress(entry, family(entry));
      within.addAddress(entry, family(entry));
    } else if (entry.startsWith("*.")) suffixes.push(entry.slice(1));
    else names.add(entry);
  }
  return {
    entries,
    allowsName: (name) => names.has(name) || suffixes.some((suffix) => name.length > suffix.length && name.endsWith(suffix)),
    allowsAddress: (given) => {
      const address = unmapped(given);
      const list = isPublic(address, ownAddresses()) ? anywhere : within;
      return list.check(address, family(address));
    },
  };
}

/** Whether an address is neither special nor this machine's own. */
export function isPublic(given: string, ownAddresses: readonly string[] = machineAddresses()): boolean {
  const address = unmapped(given);
  return !special.check(address, family(address)) && !ownAddresses.some((own) => unmapped(own) === address);
}

/** A range that lies in one special range as a whole was meant for it. */
const isNarrow = (address: string, prefix: number): boolean => special.check(address, family(address)) && prefix >= (isIP(address) === 4 ? 8 : 16);

/** `::ffff:127.0.0.1` is 127.0.0.1, however it is written. */
function unmapped(address: string): string {
  const [plain = ""] = address.split("%");
  if (isIP(plain) !== 6) return plain;
  const { hostname } = new URL(`http://[${plain}]/`);
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return hostname.slice(1, -1);
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return `${first >> 8}.${first & 255}.${second >> 8}.${second & 255}`;
}

function machineAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}
