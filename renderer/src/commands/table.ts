/** Every command of the window, once. */
import type { Command } from "./command.ts";
import { everywhere } from "./everywhere.ts";
import { ofScreens } from "./of-screens.ts";

export const commands: readonly Command[] = [...ofScreens, ...everywhere];

export function commandById(id: string): Command {
  const found = commands.find((command) => command.id === id);
  if (found === undefined) throw new Error(`no command ${id}`);
  return found;
}
