/** How programs inside are told of the egress proxy. */
import type { NetworkPolicy } from "../contract.ts";

/** Inside, beside the model's port. */
export const egressPort = 8791;

/** What the egress proxy may let through under a network policy. */
export const listedHosts = ({ mode, allowedHosts }: NetworkPolicy): readonly string[] => (mode === "allowlist" ? allowedHosts : []);

/** Both spellings: curl reads the small one only, others the large one. `direct`: names that are reached without it. */
export function proxyVariables(direct: readonly string[] = [], host = "127.0.0.1"): Readonly<Record<string, string>> {
  const proxy = `http://${host}:${egressPort}`;
  const values = {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: ["localhost", "127.0.0.1", "::1", ...direct].join(","),
  };
  const small = Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
  // Node's own fetch asks for it by this one.
  return { ...values, ...small, NODE_USE_ENV_PROXY: "1" };
}
