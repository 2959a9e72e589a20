/**
 * The one connection to the service: oRPC over a WebSocket, the token as its first message. It comes back by itself after a
 * restart of the service; whoever reads data is told to read again. Nothing here knows a screen.
 */
import { createORPCClient } from "@orpc/client";
import { RPCLink } from "@orpc/client/websocket";
import type { ContractRouterClient } from "@orpc/contract";
import { create } from "zustand";
import type { contract } from "../../../main/api/contract.ts";
import type { SystemInfo } from "../../../main/api/system-views.ts";
import { ServiceAway } from "./failure.ts";
import { takeToken } from "./token.ts";

export type ServiceClient = ContractRouterClient<typeof contract>;

/** `refused`: this page has no token, or one of an earlier service. Trying again would not help. */
type ConnectionStatus = "connecting" | "online" | "away" | "refused";

interface ConnectionState {
  readonly status: ConnectionStatus;
  readonly info: SystemInfo | null;
  /** Counts connections; a change says that what was read may be old. */
  readonly generation: number;
}

export const useConnection = create<ConnectionState>(() => ({ status: "connecting", info: null, generation: 0 }));

const unauthorized = 4401;
const longestWait = 3000;

let current: ServiceClient | null = null;
let waiting: ((client: ServiceClient) => void)[] = [];
let token: string | null = null;
let failures = 0;

/** The client now, or when the service is back. For reading. */
export function serviceClient(): Promise<ServiceClient> {
  return current === null ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(current);
}

/** The client now; throws when the service is away. For actions, which must not happen later by surprise. */
export function presentClient(): ServiceClient {
  if (current === null) throw new ServiceAway();
  return current;
}

/** Plain HTTP with the bearer header, for what is not text (images). */
export function serviceFetch(path: string, signal: AbortSignal): Promise<Response> {
  return fetch(path, { signal, headers: token === null ? {} : { authorization: `Bearer ${token}` } });
}

export async function refreshInfo(): Promise<void> {
  if (current !== null) useConnection.setState({ info: await current.system.info() });
}

async function welcome(client: ServiceClient): Promise<void> {
  const info = await client.system.info();
  const before = useConnection.getState().info;
  if (before !== null && before.version !== info.version) return location.reload();
  failures = 0;
  current = client;
  useConnection.setState((state) => ({ status: "online", info, generation: state.generation + 1 }));
  const ready = waiting;
  waiting = [];
  for (const resolve of ready) resolve(client);
}

function open(): void {
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/rpc`);
  socket.addEventListener("open", () => {
    socket.send(JSON.stringify({ token }));
    const client: ServiceClient = createORPCClient(new RPCLink({ websocket: socket }));
    welcome(client).catch(() => socket.close());
  });
  socket.addEventListener("close", (event) => {
    current = null;
    if (event.code === unauthorized) return useConnection.setState({ status: "refused" });
    if (useConnection.getState().status === "online") useConnection.setState({ status: "away" });
    failures += 1;
    setTimeout(open, Math.min(longestWait, 150 * 2 ** Math.min(failures, 6)));
  });
}

export function startConnection(): void {
  token = takeToken();
  if (token === null) useConnection.setState({ status: "refused" });
  else open();
}
