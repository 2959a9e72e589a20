#!/bin/sh
exec node -e '
const fs = require("node:fs");
const people = new Map();
for (const book of ["phone", "laptop"]) {
  for (const entry of JSON.parse(fs.readFileSync(`/app/${book}.json`, "utf8"))) {
    if (!entry.email) continue;
    const email = entry.email.toLowerCase();
    people.set(email, [...(people.get(email) ?? []), entry]);
  }
}
const merged = [...people].sort(([left], [right]) => (left < right ? -1 : 1)).map(([email, entries]) => {
  const latest = entries.reduce((best, entry) => (entry.updated > best.updated ? entry : best));
  const phones = new Set(entries.flatMap((entry) => entry.phones.map((phone) => phone.replace(/[ -]/g, ""))));
  return { name: latest.name, email, phones: [...phones].sort() };
});
fs.writeFileSync("/app/contacts.json", JSON.stringify(merged, null, 2));
'
