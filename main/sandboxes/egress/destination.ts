/** From the host that a box asks for to the address that is connected to: checked, looked up once, checked again. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { HostRules } from "./host-rules.ts";
import { isPublic } from "./host-rules.ts";

/** Addresses of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type Destination =
  | { readonly allowed: true; readonly address: string }
  /** `refused`: not on the list, or an address that no list lets in; `unknown`: the name has no address. */
  | { readonly allowed: false; readonly kind: "refused" | "unknown"; readonly reason: string };

export const machineResolver: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

/** The name or address as rules are written: lower case, no brackets, no last dot. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

/** A name is looked up only when it is on the list: looking up others would let words out. */
export async function destinationOf(host: string, rules: HostRules, resolve: Resolve): Promise<Destination> {
  if (isIP(host) !== 0) {
    if (rules.allowsAddress(host)) return { allowed: true, address: host };
    const why = isPublic(host)
      ? notListed(host, rules)
      : `The address ${host} is private to this machine or its networks, and the task does not list it.`;
    return { allowed: false, kind: "refused", reason: why };
  }
  if (!rules.allowsName(host)) return { allowed: false, kind: "refused", reason: notListed(host, rules) };
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length === 0) return { allowed: false, kind: "unknown", reason: `The host ${host} has no address.` };
  // A listed name must not become a way to what is not listed.
  const address = addresses.find((found) => isPublic(found) || rules.allowsAddress(found));
  if (address !== undefined) return { allowed: true, address };
  const reason = `The host ${host} leads to ${addresses[0]}, an address private to this machine or its networks, which the task does not list.`;
  return { allowed: false, kind: "refused", reason };
}

function notListed(host: string, { entries }: HostRules): string {
  const named =
    entries.length === 0 ? "allows none at present" : `allows ${entries.slice(0, 20).join(", ")}${entries.length > 20 ? " and others" : ""}`;
  return `The host ${host} is not one of those that this task may reach; it ${named}.`;
}
