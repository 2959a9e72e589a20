import { useState } from "react";
import { type Category, categories } from "../commands/command.ts";
import { keyCaps } from "../commands/keymap.ts";
import { commands } from "../commands/table.ts";
import { Dialog } from "../parts/dialog.tsx";
import { TextInput } from "../parts/field.tsx";
import { isMac, KeyCaps } from "../parts/key-caps.tsx";

function Group({ category, filter }: { readonly category: Category; readonly filter: string }) {
  const rows = commands.filter(
    (command) =>
      command.category === category &&
      command.keys.length > 0 &&
      `${command.title} ${command.keys.map((key) => keyCaps(key, isMac).join(" ")).join(" ")}`.toLowerCase().includes(filter),
  );
  if (rows.length === 0) return null;
  return (
    <section className="mb-3.5 break-inside-avoid">
      <h3 className="m-0 border-b border-line-strong pb-1.25 text-xs font-strong">{category === "Rollout" ? "Rollout and calls" : category}</h3>
      {rows.map((command) => (
        <div key={command.id} className="flex h-6.5 items-center gap-2 border-b border-line text-xs">
          <span className="flex-1">{command.title.replace("…", "")}</span>
          {command.keys.map((key, index) => (
            <span key={key} className="flex items-center gap-2">
              {index > 0 && <span className="text-muted">or</span>}
              <KeyCaps value={key} />
            </span>
          ))}
        </div>
      ))}
    </section>
  );
}

/** Every key, from the one table of commands. */
export function KeysDialog() {
  const [filter, setFilter] = useState("");
  return (
    <Dialog
      title="Keys"
      width="55rem"
      aside={
        <div className="ml-auto w-55">
          <TextInput
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            placeholder="Filter by name or key"
            aria-label="Filter by name or key"
          />
        </div>
      }
      footer={<span className="text-2xs text-muted">Keys of one letter do nothing while you type.</span>}
    >
      <div className="columns-2 gap-9 px-4.5 pt-4 pb-1 slim:columns-1">
        {categories.map((category) => (
          <Group key={category} category={category} filter={filter.toLowerCase()} />
        ))}
      </div>
    </Dialog>
  );
}
