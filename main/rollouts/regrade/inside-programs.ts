/**
 * Programs of ours that pack and unpack a box's files by the Node that the workbench brings, with links, modes and accounts. The packed
 * form: one line of JSON (`headSchema`), then the bytes of every file in the order of its entries.
 */
import { z } from "zod";

const place = { path: z.string().startsWith("/"), mode: z.number(), uid: z.number(), gid: z.number(), modified: z.number() };
export const headSchema = z.object({
  version: z.literal(1),
  /** What was packed: folders or files, whole. */
  roots: z.array(z.string().startsWith("/")),
  /** Folders before what they hold. `modified` in Unix milliseconds. */
  entries: z.array(
    z.discriminatedUnion("type", [
      z.object({ ...place, type: z.literal("folder") }),
      z.object({ ...place, type: z.literal("link"), target: z.string() }),
      z.object({ ...place, type: z.literal("file"), size: z.number() }),
    ]),
  ),
  /** What could not be read. */
  lost: z.array(z.string()),
});
export type PackedHead = z.infer<typeof headSchema>;

/** By this exit code the packer says that there is too much; the sentence is on stderr. */
export const tooMuchExitCode = 3;

/** Arguments: bytes and entries at most, then the roots. */
export const packSource = `
const fs = require("node:fs");
const [byteLimit, entryLimit, ...roots] = process.argv.slice(1);
process.on("uncaughtException", (error) => { console.error(error.message); process.exit(1); });
const tooMuch = (what) => { console.error("more than " + what); process.exit(${tooMuchExitCode}); };
const entries = [], lost = [];
let bytes = 0;
function visit(path) {
  let found;
  try { found = fs.lstatSync(path); } catch { return; }
  if (entries.length >= Number(entryLimit)) tooMuch(entryLimit + " files");
  const place = { path, mode: found.mode & 0o7777, uid: found.uid, gid: found.gid, modified: Math.trunc(found.mtimeMs) };
  try {
    if (found.isDirectory()) {
      const names = fs.readdirSync(path).sort();
      entries.push({ ...place, type: "folder" });
      for (const name of names) visit((path === "/" ? "" : path) + "/" + name);
    } else if (found.isSymbolicLink()) entries.push({ ...place, type: "link", target: fs.readlinkSync(path) });
    else if (found.isFile()) {
      bytes += found.size;
      if (bytes > Number(byteLimit)) tooMuch(Math.round(Number(byteLimit) / 1048576) + " MiB");
      fs.accessSync(path, fs.constants.R_OK);
      entries.push({ ...place, type: "file", size: found.size });
    }
  } catch (error) {
    if (error.code === undefined) throw error;
    lost.push(path);
  }
}
for (const root of roots) visit(root);
async function write(chunk) {
  if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}
(async () => {
  await write(JSON.stringify({ version: 1, roots, entries, lost }) + "\\n");
  for (const { type, path, size } of entries) {
    if (type !== "file" || size === 0) continue;
    const content = Buffer.alloc(size);
    fs.readFileSync(path).copy(content);
    await write(content);
  }
})();
`;

/** Argument: the packed file. Its roots are made what was packed, whatever is there; the file itself is removed. */
export const unpackSource = `
const fs = require("node:fs");
process.on("uncaughtException", (error) => { console.error(error.message); process.exit(1); });
const packed = fs.readFileSync(process.argv[1]);
fs.unlinkSync(process.argv[1]);
const end = packed.indexOf(10);
const { roots, entries } = JSON.parse(packed.subarray(0, end).toString());
const quietly = (work) => { try { work(); } catch {} };
for (const root of roots) {
  let found = null;
  quietly(() => { found = fs.lstatSync(root); });
  if (found === null) continue;
  if (found.isDirectory()) for (const name of fs.readdirSync(root)) fs.rmSync(root + "/" + name, { recursive: true, force: true });
  else fs.unlinkSync(root);
}
let offset = end + 1;
for (const entry of entries) {
  const { path, type, mode, uid, gid } = entry;
  if (type === "folder") fs.mkdirSync(path, { recursive: true });
  else {
    fs.mkdirSync(path.slice(0, path.lastIndexOf("/")) || "/", { recursive: true });
    if (type === "link") fs.symlinkSync(entry.target, path);
    else fs.writeFileSync(path, packed.subarray(offset, offset += entry.size));
  }
  // Only root may give files away; where that is not the account, they were its own.
  quietly(() => fs.lchownSync(path, uid, gid));
  if (type === "file") quietly(() => fs.chmodSync(path, mode));
}
for (const { path, type, mode, modified } of entries.reverse()) {
  if (type === "folder") quietly(() => fs.chmodSync(path, mode));
  if (type !== "link") quietly(() => fs.utimesSync(path, modified / 1000, modified / 1000));
}
`;
