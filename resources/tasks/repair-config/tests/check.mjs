// The repaired configuration, value by value, against ours; the form and the order of keys do not matter.
import { lstatSync, readFileSync } from "node:fs";

function* values(value, path = "") {
  if (value === null || typeof value !== "object") {
    yield [path, JSON.stringify(value)];
    return;
  }
  yield [path, Array.isArray(value) ? `array of ${value.length}` : "object"];
  for (const [key, part] of Object.entries(value)) yield* values(part, `${path}/${key.replaceAll("/", "~1")}`);
}

/** JSON.parse keeps the last of two equal keys in silence: as many keys must be read as are written. */
function readStrictly(text) {
  let read = 0;
  const value = JSON.parse(text, (_key, part) => {
    if (part !== null && typeof part === "object" && !Array.isArray(part)) read += Object.keys(part).length;
    return part;
  });
  const written = text.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0;
  if (read !== written) throw new Error("a key stands twice");
  return value;
}

const problems = [];
try {
  if (!lstatSync("/app/gateway.json").isFile()) throw new Error("no plain file");
  const found = new Map(values(readStrictly(readFileSync("/app/gateway.json", "utf8"))));
  const wanted = new Map(values(JSON.parse(readFileSync("/tests/gateway.json", "utf8"))));
  for (const [path, value] of wanted) if (found.get(path) !== value) problems.push(`${path || "/"} is not right`);
  for (const path of found.keys()) if (!wanted.has(path)) problems.push(`${path} is too much`);
} catch (error) {
  problems.push(`gateway.json: ${error.message}`);
}
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
