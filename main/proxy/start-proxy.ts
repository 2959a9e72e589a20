import type { Store } from "../store/contract.ts";
import type { Clock, Proxy as RecordingProxy } from "./contract.ts";

export interface ProxyOptions {
  readonly store: Store;
  readonly clock?: Clock;
  /** Port on 127.0.0.1; left out = a free one. */
  readonly port?: number;
}

/** Opens the proxy's door on loopback. */
export async function startProxy(options: ProxyOptions): Promise<RecordingProxy> {
  throw new Error(`not built yet: ${options.port}`);
}
