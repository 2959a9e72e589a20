import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { type Header, pack } from "tar-stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { unpackArchive } from "./unpack-archive.ts";

let folder = "";
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "openforge-unpack-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Item = Pick<Header, "name"> & Partial<Header> & { readonly text?: string };
const limits = { bytes: 1_000_000, entries: 50 };

async function unpack(bytes: Uint8Array, name: string): Promise<string> {
  count += 1;
  const archive = join(folder, `${count}-${name}`);
  const into = join(folder, `into-${count}`);
  await writeFile(archive, bytes);
  await mkdir(into);
  await unpackArchive({ archive, into, limits });
  return into;
}
const refusal = (work: Promise<string>): Promise<string> =>
  work.then(
    () => "unpacked",
    (error: Error) => error.message.replace(/^\S+\/\d+-/, ""),
  );

async function tar(items: readonly Item[]): Promise<Buffer> {
  const packing = pack();
  for (const { text = "", ...header } of items) packing.entry(header, text);
  packing.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of packing) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
const untar = async (items: readonly Item[]): Promise<string> => unpack(gzipSync(await tar(items)), "x.tar.gz");

interface Zipped {
  readonly name: string;
  readonly text: string;
  readonly mode?: number;
  /** Said in place of the real one. */
  readonly size?: number;
}

/** As an archiver on Unix writes it. */
function zip(items: readonly Zipped[]): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const { name, text, mode = 0o100644, size } of items) {
    const bytes = Buffer.from(text);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(size ?? bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), fields, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt16LE(mode, 8);
    place.writeUInt32LE(offset, 10);
    list.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03", "latin1"), fields, place, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(items.length, 8);
  end.writeUInt16LE(items.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}
const unzip = (items: readonly Zipped[]): Promise<string> => unpack(zip(items), "x.zip");

test("files, folders and links inside come out as they were, scripts executable", async () => {
  const fromTar = await untar([
    { name: "task/", type: "directory" },
    { name: "task/run.sh", mode: 0o4755, text: "run" },
    { name: "./task/deep/a.txt", text: "a" },
    { name: "task/again.txt", type: "link", linkname: "task/deep/a.txt" },
    { name: "task/link", type: "symlink", linkname: "deep/a.txt" },
  ]);
  expect((await readdir(join(fromTar, "task"))).toSorted()).toEqual(["again.txt", "deep", "link", "run.sh"]);
  expect(((await stat(join(fromTar, "task/run.sh"))).mode & 0o7777).toString(8)).toBe("755");
  expect(await readFile(join(fromTar, "task/again.txt"), "utf8")).toBe("a");
  expect(await readlink(join(fromTar, "task/link"))).toBe("deep/a.txt");
  const fromZip = await unzip([
    { name: "task/", text: "", mode: 0o040755 },
    { name: "task/run.sh", text: "run", mode: 0o100755 },
    { name: "task/link", text: "run.sh", mode: 0o120777 },
  ]);
  expect(await readFile(join(fromZip, "task/link"), "utf8")).toBe("run");
  expect(((await stat(join(fromZip, "task/run.sh"))).mode & 0o111) !== 0).toBe(true);
});

test.each([
  ["../evil.txt", "../evil.txt lies outside of it."],
  ["a/../../evil.txt", "a/../../evil.txt lies outside of it."],
  ["/etc/evil.txt", "/etc/evil.txt lies outside of it."],
  ["C:/evil.txt", "C:/evil.txt lies outside of it."],
  ["..\\evil.txt", "..\\\\evil.txt is no name for a file."],
])("a name that leads out is refused, %s", async (name, sentence) => {
  expect(await refusal(untar([{ name, text: "x" }]))).toBe(`x.tar.gz is not unpacked: ${sentence}`);
  expect(await refusal(unzip([{ name, text: "x" }]))).toBe(`x.zip is not unpacked: ${sentence}`);
  expect(await readdir(join(folder, ".."))).not.toContain("evil.txt");
});

test.each([
  ["/etc/passwd", "/etc/passwd"],
  ["../../x", "../../x"],
  ["deep/../../..", "deep/../../.."],
  ["itself/..", "itself/.."],
])("a link that leads out is refused, to %s", async (linkname, shown) => {
  const sentence = `is not unpacked: the link task/link leads out of it, to ${shown}.`;
  expect(await refusal(untar([{ name: "task/link", type: "symlink", linkname }]))).toBe(`x.tar.gz ${sentence}`);
  expect(await refusal(unzip([{ name: "task/link", text: linkname, mode: 0o120777 }]))).toBe(`x.zip ${sentence}`);
});

test("nothing is written through a link, and a second name stands for a file of the archive only", async () => {
  const through: Item[] = [
    { name: "a", type: "symlink", linkname: "b" },
    { name: "a/x.txt", text: "x" },
  ];
  expect(await refusal(untar(through))).toBe("x.tar.gz is not unpacked: a/x.txt lies below a, which is no folder.");
  const copy = await refusal(untar([{ name: "a", type: "link", linkname: "etc/passwd" }]));
  expect(copy).toBe("x.tar.gz is not unpacked: a stands for etc/passwd, which is no file before it.");
  const pipe = await refusal(untar([{ name: "p", type: "fifo" }]));
  expect(pipe).toBe("x.tar.gz is not unpacked: p is neither a file nor a folder nor a link.");
});

test("the same name twice is refused", async () => {
  const twice = "is not unpacked: task/./a.txt is there twice.";
  expect(await refusal(untar(["task/a.txt", "task/./a.txt"].map((name) => ({ name, text: "x" }))))).toBe(`x.tar.gz ${twice}`);
  expect(await refusal(unzip(["task/a.txt", "task/./a.txt"].map((name) => ({ name, text: "x" }))))).toBe(`x.zip ${twice}`);
});

test("more than is allowed is refused, whatever the archive says of its size", async () => {
  const large = "0".repeat(2_000_000);
  const sentence = "is not unpacked: unpacked it is larger than 1 MiB.";
  expect(await refusal(untar([{ name: "a", text: large }]))).toBe(`x.tar.gz ${sentence}`);
  expect(await refusal(unzip([{ name: "a", text: large }]))).toBe(`x.zip ${sentence}`);
  expect(await refusal(unzip([{ name: "a", text: large, size: 10 }]))).toMatch(/^x\.zip cannot be imported: a in it is damaged/);
  const parts = Array.from({ length: 3 }, (_, index) => ({ name: `part-${index}`, text: "0".repeat(400_000) }));
  expect(await refusal(untar(parts))).toBe(`x.tar.gz ${sentence}`);
  const many = Array.from({ length: 51 }, (_, index) => ({ name: `${index}`, text: "" }));
  expect(await refusal(untar(many))).toBe("x.tar.gz is not unpacked: it has more than 50 entries.");
});

test("what is no archive, or a torn one, is refused", async () => {
  expect(await refusal(unpack(Buffer.from("no archive"), "x.tar.gz"))).toBe("x.tar.gz cannot be imported: it is no such archive, or it is damaged.");
  expect(await refusal(unpack(Buffer.from("no archive at all"), "x.tar"))).toBe("x.tar cannot be imported: it is no such archive, or it is damaged.");
  const whole = gzipSync(await tar([{ name: "a", text: "x".repeat(10_000) }]));
  expect(await refusal(unpack(whole.subarray(0, whole.length - 20), "x.tgz"))).toMatch(/^x\.tgz cannot be imported/);
  expect(await refusal(untar([{ name: "x".repeat(300), text: "x" }]))).toBe("x.tar.gz cannot be imported: a name in it is too long.");
  expect(await refusal(unpack(Buffer.from("no archive"), "x.zip"))).toBe("x.zip cannot be imported: it is no zip archive, or its end is missing.");
});
