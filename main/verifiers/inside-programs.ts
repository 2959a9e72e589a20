/**
 * Programs of ours that run in the box around the verifier, by the Node that the workbench brings: its file is a read-only mount, so
 * nothing that an agent left in the box stands in for it. Kept as text: they are passed by `node -e`.
 */
import { z } from "zod";
import { insidePaths } from "../sandboxes/index.ts";

/** Reward files beyond this are no reward files. */
export const rewardFileLimitBytes = 65_536;

const emptyFunction = `
function empty(folder) {
  process.chdir(folder);
  // Names below are relative, so that no depth is too deep for a path.
  for (let depth = 0; ; ) {
    const rest = fs.readdirSync(".").find((name) => {
      if (!fs.lstatSync(name).isDirectory()) { fs.unlinkSync(name); return false; }
      return !quietly(() => fs.rmdirSync(name));
    });
    if (rest === undefined) {
      if (depth === 0) break;
      process.chdir("..");
      depth -= 1;
    } else {
      fs.chmodSync(rest, 0o700);
      process.chdir(rest);
      depth += 1;
    }
  }
  process.chdir("/");
}
`;

/** Removes for good what the folders of its arguments hold; exit code 3 with a sentence when it cannot. */
export const emptySource = `
const fs = require("node:fs");
const quietly = (work) => { try { work(); return true; } catch { return false; } };
${emptyFunction}
for (const folder of process.argv.slice(1)) {
  let found = null;
  quietly(() => { found = fs.lstatSync(folder); });
  if (found === null || !found.isDirectory()) continue;
  if (!quietly(() => { quietly(() => fs.chmodSync(folder, 0o700)); empty(folder); fs.chmodSync(folder, found.mode & 0o7777); })) {
    console.error(folder + " cannot be emptied");
    process.exit(3);
  }
}
console.log("{}");
`;

/**
 * Makes /logs/verifier and /tests new (argument 1: whether tests come from here), whatever an agent put there (links, folders without
 * permissions, trees too deep for a path), makes a fresh home, and reports the search path without folders that an agent can write.
 * Other arguments: working folder, mode of the folders. Exit code 3 with a sentence on stderr when a place cannot be made clean.
 */
export const prepareSource = `
const fs = require("node:fs");
const path = require("node:path");
const [testsFromHere, workdir, modeText] = process.argv.slice(1);
const mode = Number.parseInt(modeText, 8);
process.on("uncaughtException", (error) => { console.error(error.message); process.exit(1); });
const give = (sentence) => { console.error(sentence); process.exit(3); };
const stat = (name) => { try { return fs.lstatSync(name); } catch (error) { if (error.code === "ENOENT") return null; throw error; } };
const quietly = (work) => { try { work(); return true; } catch { return false; } };
${emptyFunction}
function fresh(folder) {
  const parent = stat(path.dirname(folder));
  if (parent === null || !parent.isDirectory()) give(path.dirname(folder) + " is no folder any more");
  const found = stat(folder);
  if (found !== null && !found.isDirectory()) fs.unlinkSync(folder);
  else if (found !== null && !quietly(() => fs.renameSync(folder, folder + ".left-" + process.pid + "-" + Date.now()))) {
    // A mount point, or a place that this account does not own: it is emptied where it is.
    if (!quietly(() => { quietly(() => fs.chmodSync(folder, 0o700)); empty(folder); })) give(folder + " cannot be emptied");
  }
  // Where this account cannot make it, the agent could not either: the upload will.
  if (stat(folder) === null && !quietly(() => fs.mkdirSync(folder))) {
    if (folder === "/tests") return;
    give(folder + " cannot be made");
  }
  quietly(() => fs.chmodSync(folder, mode));
  if (!fs.lstatSync(folder).isDirectory() || fs.readdirSync(folder).length > 0) give(folder + " cannot be made an empty folder");
}

const systemTools = "sh bash env cat grep sed test [ head tail sort diff cmp cut tr wc date mkdir rm cp mv chmod ls true false echo expr".split(" ");
/** What any Python loads as it starts: start-up modules, and path files, which may hold code. */
function pythonStarts() {
  const roots = ["/usr/lib", "/usr/local/lib"].flatMap((root) => {
    const names = []; quietly(() => names.push(...fs.readdirSync(root)));
    return names.filter((name) => /^python3/.test(name)).map((name) => path.join(root, name));
  });
  return roots.flatMap((root) => [root, root + "/site-packages", root + "/dist-packages", root + "/lib-dynload"]).flatMap((folder) => {
    const names = []; quietly(() => names.push(...fs.readdirSync(folder)));
    return names.filter((name) => /^(?:site|user)customize\\b|\\.pth$/.test(name)).map((name) => path.join(folder, name));
  });
}

/** System programs that changed after the container was made: only in a container whose agent owns them. */
function replacedTools(folders) {
  const hostname = stat("/etc/hostname");
  if (process.getuid() !== 0 || hostname === null || hostname.dev === stat("/").dev || hostname.birthtimeMs === 0) return [];
  const libraries = ["/lib", "/lib64", "/usr/lib"].flatMap((folder) => {
    const names = []; quietly(() => names.push(...fs.readdirSync(folder, { recursive: false })));
    return names.filter((name) => /^ld-(linux|musl)/.test(name)).map((name) => path.join(folder, name));
  });
  const files = [...folders.flatMap((folder) => systemTools.map((tool) => path.join(folder, tool))), ...libraries, ...pythonStarts(), "/etc/ld.so.preload", "${insidePaths.node}"];
  return files.filter((file) => {
    let changed = false;
    quietly(() => { changed = fs.statSync(file).ctimeMs > hostname.birthtimeMs || fs.lstatSync(file).ctimeMs > hostname.birthtimeMs; });
    return changed;
  });
}

function safeFolder(folder) {
  const scratch = ["/tmp", "/var/tmp", "/home/agent", "/logs", "/tests", "/solution", "/runtime", workdir];
  if (!folder.startsWith("/") || scratch.some((root) => folder === root || folder.startsWith(root + "/"))) return false;
  let writable = false;
  quietly(() => {
    writable = (fs.statSync(folder).mode & 0o002) !== 0;
    if (process.getuid() !== 0) { fs.accessSync(folder, fs.constants.W_OK); writable = true; }
  });
  return !writable;
}

fresh("/logs/verifier");
if (testsFromHere === "yes") fresh("/tests");
if (!fs.lstatSync("/tmp").isDirectory()) give("/tmp is no folder any more");
const home = fs.mkdtempSync("/tmp/grader-");
fs.chmodSync(home, mode);
fs.mkdirSync(home + "/tmp");
fs.writeFileSync(home + "/.gitconfig", "[safe]\\n\\tdirectory = *\\n");
fs.chmodSync(home + "/tmp", mode);
const folders = (process.env.PATH || "").split(":").filter(safeFolder);
console.log(JSON.stringify({ home, path: folders, replaced: replacedTools(folders) }));
`;

export const preparedSchema = z.object({ home: z.string().startsWith("/"), path: z.array(z.string()), replaced: z.array(z.string()) });

/** Reads both reward files as plain files only, and measures what else the verifier left. */
export const readSource = `
const fs = require("node:fs");
const path = require("node:path");
process.on("uncaughtException", (error) => { console.error(error.message); process.exit(1); });
const limit = ${rewardFileLimitBytes};
function read(name) {
  const file = path.join("/logs/verifier", name);
  let found;
  try { found = fs.lstatSync(file); } catch (error) { if (error.code === "ENOENT") return { state: "missing" }; throw error; }
  if (found.isSymbolicLink()) return { state: "unreadable", reason: "a link, not a plain file" };
  if (!found.isFile()) return { state: "unreadable", reason: "no plain file" };
  if (found.size > limit) return { state: "unreadable", reason: "larger than " + limit / 1024 + " KiB" };
  const handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  const buffer = Buffer.alloc(limit + 1);
  const length = fs.readSync(handle, buffer, 0, limit + 1, 0);
  return length > limit ? { state: "unreadable", reason: "still growing" } : { state: "file", base64: buffer.subarray(0, length).toString("base64") };
}
let bytes = 0, entries = 0;
function measure(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (++entries > 20000 || bytes > 1e12) return;
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) measure(place);
    else try { bytes += fs.lstatSync(place).size; } catch {}
  }
}
const folder = fs.lstatSync("/logs/verifier");
const result = folder.isDirectory() ? { json: read("reward.json"), text: read("reward.txt") } : { json: { state: "missing" }, text: { state: "missing" } };
try { if (folder.isDirectory()) measure("/logs/verifier"); } catch { entries = 20001; }
console.log(JSON.stringify({ ...result, bytes, entries }));
`;

const fileSchema = z.discriminatedUnion("state", [
  z.object({ state: z.literal("missing") }),
  z.object({ state: z.literal("unreadable"), reason: z.string() }),
  z.object({ state: z.literal("file"), base64: z.base64() }),
]);
export const readingSchema = z.object({ json: fileSchema, text: fileSchema, bytes: z.number(), entries: z.number() });
