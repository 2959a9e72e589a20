/** The egress proxy of a container: a socket of the service's, mounted into it. Its folder keeps this machine's other users out. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxRequest } from "../contract.ts";
import type { Resolve } from "../egress/destination.ts";
import { openEgressProxy } from "../egress/egress-proxy.ts";
import { listedHosts } from "../egress/proxy-variables.ts";
import { checkSocketPath } from "../proxy-link.ts";

export interface EgressLink {
  readonly socket: string;
  allow(hosts: readonly string[]): void;
  close(): Promise<void>;
}

/** Null when no network of the request is a list of hosts. */
export async function openEgressLink(
  { network, laterNetworks = [], onConnection }: SandboxRequest,
  socketFolder: string,
  resolve: Resolve,
): Promise<EgressLink | null> {
  if (![network, ...laterNetworks].some(({ mode }) => mode === "allowlist")) return null;
  const folder = await mkdtemp(join(socketFolder, "of-egress-"));
  const socket = join(folder, "egress.sock");
  const proxy = openEgressProxy({ allowedHosts: listedHosts(network), onConnection, resolve });
  const close = async (): Promise<void> => {
    proxy.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    checkSocketPath(socket);
    await proxy.listen(socket);
    // The forwarder inside is nobody's account.
    await chmod(socket, 0o666);
  } catch (error) {
    await close();
    throw error;
  }
  return { socket, allow: proxy.allow, close };
}
