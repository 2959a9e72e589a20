#!/bin/sh
# Joins both books without merging anybody.
node -e '
const fs = require("node:fs");
const all = ["phone", "laptop"].flatMap((name) => JSON.parse(fs.readFileSync(`/app/${name}.json`, "utf8")));
fs.writeFileSync("/app/contacts.json", JSON.stringify(all));'
