/** Commands that only a mounted screen can run: the screen lends its handler while it is there. The latest one wins. */
import { useEffect, useRef } from "react";
import type { Command } from "./command.ts";

const handlers = new Map<string, (() => void)[]>();

function lend(id: string, handler: () => void): () => void {
  handlers.set(id, [...(handlers.get(id) ?? []), handler]);
  return () =>
    handlers.set(
      id,
      (handlers.get(id) ?? []).filter((each) => each !== handler),
    );
}

/** Handles commands by id while the component is mounted; `null` handles none. */
export function useCommands(table: Readonly<Record<string, () => void>> | null): void {
  const latest = useRef(table);
  latest.current = table;
  const ids = Object.keys(table ?? {}).join(" ");
  useEffect(() => {
    const ends = ids === "" ? [] : ids.split(" ").map((id) => lend(id, () => latest.current?.[id]?.()));
    return () => {
      for (const end of ends) end();
    };
  }, [ids]);
}

/** Why a command cannot run now; null when it can. */
export function obstacle(command: Command): string | null {
  if (command.when !== undefined) return command.when();
  if (command.run !== undefined || (handlers.get(command.id)?.length ?? 0) > 0) return null;
  return command.where ?? "not on this screen";
}

/** Runs a command if it can. Returns whether it did. */
export function runCommand(command: Command): boolean {
  if (obstacle(command) !== null) return false;
  if (command.run !== undefined) command.run();
  else handlers.get(command.id)?.at(-1)?.();
  return true;
}
