import type { Redactor, Store } from "../contract.ts";
import type { Database } from "../database.ts";
import type { Writer } from "../writer.ts";

export function createSettingRecords(db: Database, writer: Writer, redactor: Redactor): Pick<Store, "setting" | "setSetting"> {
  const read = db.prepare<[string], { json: string }>("SELECT json FROM setting WHERE key = ?");
  const write = db.prepare("INSERT INTO setting (key, json) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET json = excluded.json");
  return {
    setting: (key) => read.get(key)?.json ?? null,
    setSetting(key, json) {
      writer.write(() => write.run(key, redactor.text(json)));
    },
  };
}
