// The documents, their copy and the list, against what the archive is known to hold.
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { documents } from "./documents.mjs";

const textOf = (what) => (typeof what === "string" ? what : what.text);
const fileText = (executable, bytes) => `file ${executable ? "to run " : ""}${bytes.toString("base64")}`;

function described(what) {
  if (what === null) return "folder";
  if (typeof what === "object" && "link" in what) return `link to ${what.link}`;
  return fileText(typeof what === "object" && what.run, Buffer.from(textOf(what)));
}

function contents(root) {
  const found = new Map();
  const visit = (folder, prefix) => {
    for (const name of readdirSync(folder)) {
      const place = join(folder, name);
      const kind = lstatSync(place);
      if (kind.isDirectory()) found.set(`${prefix}${name}`, "folder");
      else if (kind.isSymbolicLink()) found.set(`${prefix}${name}`, `link to ${readlinkSync(place)}`);
      else if (kind.isFile()) found.set(`${prefix}${name}`, fileText((kind.mode & 0o100) !== 0, readFileSync(place)));
      else found.set(`${prefix}${name}`, "neither file nor folder nor link");
      if (kind.isDirectory()) visit(place, `${prefix}${name}/`);
    }
  };
  if (!lstatSync(root).isDirectory()) throw new Error(`${root} is no folder`);
  visit(root, "");
  return found;
}

const wanted = new Map([...documents].map(([path, what]) => [path, described(what)]));
const lines = [...documents]
  .filter(([path]) => wanted.get(path).startsWith("file "))
  .map(([path, what]) => `${createHash("sha256").update(textOf(what)).digest("hex")}  ${path.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`)
  .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));

const problems = [];
for (const root of ["/app/documents", "/app/backup"]) {
  try {
    const found = contents(root);
    for (const [path, what] of wanted) if (found.get(path) !== what) problems.push(`${root}: ${JSON.stringify(path)} is ${found.has(path) ? "not the same" : "missing"}`);
    for (const path of found.keys()) if (!wanted.has(path)) problems.push(`${root}: ${JSON.stringify(path)} is too much`);
  } catch (error) {
    problems.push(error.message);
  }
}
try {
  if (!lstatSync("/app/backup.list").isFile()) throw new Error("no plain file");
  if (readFileSync("/app/backup.list", "utf8").replace(/\n$/, "") !== lines.join("\n")) problems.push("backup.list is not as asked");
} catch (error) {
  problems.push(`backup.list: ${error.message}`);
}
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
