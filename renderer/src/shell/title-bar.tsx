import { Menu } from "@base-ui/react/menu";
import { Menubar } from "@base-ui/react/menubar";
import { type Command, type MenuName, menus } from "../commands/command.ts";
import { obstacle, runCommand } from "../commands/handlers.ts";
import { commandById, commands } from "../commands/table.ts";
import { IconButton } from "../parts/button.tsx";
import { Icon, ProductMark } from "../parts/icon.tsx";
import { KeyCaps } from "../parts/key-caps.tsx";
import { useDetailsShown, useWorkspace } from "../state/workspace.ts";

const popupLook =
  "min-w-52 rounded-3 border border-line-strong bg-raised p-1 text-xs shadow-2 outline-none transition-opacity duration-(--of-motion-base) data-[starting-style]:opacity-0";
const itemLook =
  "flex h-7 items-center gap-2.5 rounded-2 px-2 outline-none select-none data-[disabled]:text-disabled data-[highlighted]:bg-selected data-[highlighted]:text-fg";

function MenuItem({ command }: { readonly command: Command }) {
  const reason = obstacle(command);
  const [key] = command.keys;
  return (
    <Menu.Item className={itemLook} disabled={reason !== null} onClick={() => runCommand(command)} title={reason ?? undefined}>
      <span className="grid w-4 flex-none place-items-center">
        {command.glyph !== undefined && <Icon name={command.glyph} size={0.875} className="text-muted" />}
      </span>
      <span className="flex-1">{command.title}</span>
      {key !== undefined && <KeyCaps value={key} bare />}
    </Menu.Item>
  );
}

function OneMenu({ name }: { readonly name: MenuName }) {
  return (
    <Menu.Root>
      <Menu.Trigger className="rounded-2 px-1.75 py-0.5 text-secondary hover:bg-hover data-[popup-open]:bg-selected-idle data-[popup-open]:text-fg">
        {name}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="z-40" sideOffset={4} align="start">
          <Menu.Popup className={popupLook}>
            {commands
              .filter((command) => command.menu === name)
              .map((command) => (
                <MenuItem key={command.id} command={command} />
              ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** Mark, menu, the one search field, and the switches of the panels. In the desktop window it is also the frame. */
export function TitleBar() {
  const panelOpen = useWorkspace((state) => state.panelOpen);
  const detailsOpen = useDetailsShown();
  const run = (id: string) => () => void runCommand(commandById(id));
  return (
    <header className="app-drag col-span-2 grid grid-cols-[1fr_minmax(13.75rem,25rem)_1fr] items-center border-b border-line bg-chrome pr-1.5 pl-2.5 narrow:grid-cols-[auto_minmax(11.25rem,22.5rem)_auto] narrow:justify-between">
      <div className="flex items-center gap-2.5">
        <span className="mx-2.5 slim:mx-0">
          <ProductMark size={1.125} />
        </span>
        <Menubar className="app-no-drag flex gap-0.5 text-xs slim:hidden">
          {menus.map((name) => (
            <OneMenu key={name} name={name} />
          ))}
        </Menubar>
      </div>
      <button
        type="button"
        onClick={run("palette.open")}
        className="app-no-drag flex h-6 min-w-0 items-center gap-2 rounded-2 border border-line-strong bg-surface pr-1.25 pl-2.25 text-xs text-muted hover:border-line-control"
      >
        <Icon name="search" size={0.75} />
        <span className="flex-1 truncate text-left">Search rollouts, tasks and commands</span>
        <KeyCaps value="Mod+K" joined />
      </button>
      <div className="app-no-drag flex items-center justify-end gap-1">
        <IconButton glyph="bottom" label="Bottom panel" keyShown="Mod+J" aria-pressed={panelOpen} onClick={run("panel.toggle")} />
        <IconButton glyph="side" label="Details pane" keyShown="Mod+I" aria-pressed={detailsOpen} onClick={run("details.toggle")} />
      </div>
    </header>
  );
}
