/** Keeps the workspace, the appearance and the saved filters as settings of the service: the address of the page changes with every start. */
import type { StoreApi } from "zustand";
import { presentClient, serviceClient } from "../service/connection.ts";
import { restoreAppearance, useAppearance } from "./appearance.ts";
import { restoreFilters, useSavedFilters } from "./saved-filters.ts";
import { restoreWorkspace, useWorkspace, workspaceJson } from "./workspace.ts";

const writeAfter = 400;

async function restore(key: string, take: (json: string) => void): Promise<void> {
  const client = await serviceClient();
  const { json } = await client.system.setting({ key });
  if (json !== null) take(json);
}

function keep<T>(key: string, store: Pick<StoreApi<T>, "subscribe">, write: (state: T) => string): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written: string | null = null;
  store.subscribe((state) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const json = write(state);
      if (json === written) return;
      // Layout is not worth a message: a write that fails is tried again with the next change.
      void Promise.resolve()
        .then(() => presentClient().system.setSetting({ key, json }))
        .then(() => {
          written = json;
        })
        .catch(() => undefined);
    }, writeAfter);
  });
}

/** Restores what was stored, then keeps it written. A broken setting counts as none. */
export async function startPersistence(): Promise<void> {
  await Promise.all([
    restore("window.appearance", restoreAppearance).catch(() => undefined),
    restore("window.workspace", restoreWorkspace).catch(() => undefined),
    restore("window.filters", restoreFilters).catch(() => undefined),
  ]);
  keep("window.appearance", useAppearance, (state) => JSON.stringify(state));
  keep("window.workspace", useWorkspace, workspaceJson);
  keep("window.filters", useSavedFilters, (state) => JSON.stringify(state.filters));
}
