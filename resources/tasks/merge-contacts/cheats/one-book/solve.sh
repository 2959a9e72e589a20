#!/bin/sh
# The laptop's book alone, in the right shape.
node -e '
const fs = require("node:fs");
const all = JSON.parse(fs.readFileSync("/app/laptop.json", "utf8")).filter((entry) => entry.email);
const people = all.map(({ name, email, phones }) => ({ name, email: email.toLowerCase(), phones: phones.map((phone) => phone.replace(/[ -]/g, "")).sort() }));
fs.writeFileSync("/app/contacts.json", JSON.stringify(people.sort((a, b) => (a.email < b.email ? -1 : 1))));'
