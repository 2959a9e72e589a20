// Compares what lies below /app/sorted and /app/downloads with what the instruction asks for, from our own copy of the notes.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

function filesBelow(root) {
  const found = new Map();
  const visit = (folder) => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const kind = lstatSync(path);
      if (kind.isDirectory()) visit(path);
      else found.set(relative(root, path), kind.isFile() ? readFileSync(path) : null);
    }
  };
  if (!lstatSync(root).isDirectory()) throw new Error(`${root} is no folder`);
  visit(root);
  return found;
}

function expected(notes) {
  const wanted = new Map();
  const seen = new Set();
  for (const name of [...notes.keys()].sort()) {
    const bytes = notes.get(name);
    const key = bytes.toString("base64");
    if (seen.has(key)) continue;
    seen.add(key);
    const date = /^Date: (\d{4})-(\d{2})-\d{2}$/.exec(bytes.toString("utf8").split("\n")[0]);
    wanted.set(date ? `${date[1]}/${date[2]}/${name}` : `undated/${name}`, bytes);
  }
  return wanted;
}

const wanted = expected(filesBelow("/tests/notes"));
const sorted = filesBelow("/app/sorted");
const left = lstatSync("/app/downloads").isDirectory() ? readdirSync("/app/downloads") : ["(no folder)"];
const problems = [
  ...left.map((name) => `left in downloads: ${name}`),
  ...[...wanted.keys()].filter((name) => !sorted.has(name)).map((name) => `missing: ${name}`),
  ...[...sorted.keys()].filter((name) => !wanted.has(name)).map((name) => `too much: ${name}`),
  ...[...wanted].filter(([name, bytes]) => sorted.has(name) && !sorted.get(name)?.equals(bytes)).map(([name]) => `changed: ${name}`),
];
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
