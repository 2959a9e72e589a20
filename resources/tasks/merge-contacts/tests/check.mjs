// Merges our own copies of the two books and compares the whole result.
import { readFileSync } from "node:fs";

const entries = ["phone", "laptop"].flatMap((name) => JSON.parse(readFileSync(`/tests/${name}.json`, "utf8")));
const people = new Map();
for (const entry of entries) {
  if (!entry.email) continue;
  const email = entry.email.toLowerCase();
  const person = people.get(email) ?? { name: "", updated: "", phones: new Set() };
  for (const phone of entry.phones) person.phones.add(phone.replace(/[ -]/g, ""));
  if (entry.updated > person.updated) Object.assign(person, { name: entry.name, updated: entry.updated });
  people.set(email, person);
}
const wanted = [...people.keys()].sort().map((email) => {
  const { name, phones } = people.get(email);
  return { email, name, phones: [...phones].sort() };
});

const problems = [];
try {
  const contacts = JSON.parse(readFileSync("/app/contacts.json", "utf8"));
  if (!Array.isArray(contacts)) throw new Error("no array");
  const plain = contacts.map((contact) => Object.fromEntries(Object.entries(contact).sort(([left], [right]) => (left < right ? -1 : 1))));
  if (contacts.length !== wanted.length) problems.push(`${contacts.length} people instead of ${wanted.length}`);
  wanted.forEach((person, index) => {
    if (JSON.stringify(plain[index]) !== JSON.stringify(person)) problems.push(`entry ${index} is not as asked`);
  });
} catch (error) {
  problems.push(`contacts.json: ${error.message}`);
}
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
