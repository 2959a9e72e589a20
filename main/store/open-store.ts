import { WorkbenchError } from "../errors.ts";
import type { Store } from "./contract.ts";

export interface StoreOptions {
  /** `process`: a record survives kill -9 (the default). `power`: every commit is synchronous and survives a power failure too. */
  readonly durability?: "process" | "power";
  /** Free bytes below which bodies and calls are refused with a sentence, before the disk is full. */
  readonly reserveBytes?: number;
}

/** Opens (or makes) the store of a data folder and locks the folder for this process. */
export function openStore(dataFolder: string, _options: StoreOptions = {}): Store {
  throw new WorkbenchError("store", `The store of ${dataFolder} cannot be opened by this build.`, "Update the workbench.");
}
