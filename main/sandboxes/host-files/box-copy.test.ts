import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processStat } from "../host-processes.ts";
import { copyEntriesIn, copyIn, copyOut, writeIn } from "./box-copy.ts";
import { lookThrough } from "./box-tree.ts";

/** This process's own root stands in for a box's: every path below is one that it sees. */
const first = { pid: process.pid, startTime: processStat(process.pid)?.startTime ?? "" };
let folder: string;
const at = (...parts: readonly string[]): string => join(folder, ...parts);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "of-copy-"));
  mkdirSync(at("box"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(process.platform !== "linux")("files in and out by the service itself", () => {
  it("replaces a link instead of writing through it", async () => {
    writeFileSync(at("outside"), "untouched");
    symlinkSync(at("outside"), at("box/file"));
    await writeIn(first, null, at("box/file"), Buffer.from("new"), 0o640);
    expect([readFileSync(at("outside"), "utf8"), readFileSync(at("box/file"), "utf8")]).toEqual(["untouched", "new"]);
    expect(statSync(at("box/file")).mode & 0o777).toBe(0o640);
    symlinkSync(at("outside"), at("box/tool"));
    writeFileSync(at("source"), "tool");
    await copyEntriesIn(first, null, [{ name: "tool", hostFile: at("source"), mode: 0o755 }], at("box"));
    expect(readFileSync(at("outside"), "utf8")).toBe("untouched");
  });

  it("leaves links behind, and copies what two names have twice", async () => {
    mkdirSync(at("box/out/sub"), { recursive: true });
    writeFileSync(at("box/out/kept"), "kept");
    linkSync(at("box/out/kept"), at("box/out/twin"));
    symlinkSync("/etc/passwd", at("box/out/link"));
    symlinkSync("/etc", at("box/out/sub/folder"));
    expect(await copyOut(first, at("box/out"), at("copy"))).toBe(true);
    expect(readFileSync(at("copy/twin"), "utf8")).toBe("kept");
    for (const name of ["link", "sub/folder"]) expect(existsSync(at("copy", name))).toBe(false);
    expect(await copyOut(first, at("box/out/link"), at("through"))).toBe(false);
    expect(await copyOut(first, at("box/nothing"), at("nothing"))).toBe(false);
  });

  it("refuses what is too large before it is copied, however little of it is real", async () => {
    writeFileSync(at("box/huge"), "");
    truncateSync(at("box/huge"), 5 * 1024 ** 3);
    await expect(copyOut(first, at("box/huge"), at("huge"))).rejects.toMatchObject({ code: "sandbox", message: expect.stringContaining("4 GiB") });
    expect(existsSync(at("huge"))).toBe(false);
  });

  it("keeps modes and contents of large and small files", async () => {
    mkdirSync(at("source/deep"), { recursive: true });
    writeFileSync(at("source/deep/large"), Buffer.alloc(700_000, 7));
    writeFileSync(at("source/run.sh"), "#!/bin/sh\n");
    chmodSync(at("source/run.sh"), 0o750);
    await copyIn(first, null, at("source"), at("box/in/here"));
    expect(readFileSync(at("box/in/here/deep/large")).equals(Buffer.alloc(700_000, 7))).toBe(true);
    expect(statSync(at("box/in/here/run.sh")).mode & 0o777).toBe(0o750);
    expect(await copyOut(first, at("box/in/here/deep/large"), at("large"))).toBe(true);
    expect(statSync(at("large")).size).toBe(700_000);
  });

  it("says in a sentence where files cannot be put", async () => {
    writeFileSync(at("box/file"), "");
    await expect(writeIn(first, null, at("box/file/below"), Buffer.from(""), 0o644)).rejects.toMatchObject({ code: "sandbox" });
    await expect(copyIn(first, null, at("missing"), at("box/x"))).rejects.toMatchObject({ message: expect.stringContaining("missing") });
  });

  it("takes no other process of the same number for the box", async () => {
    const gone = { ...first, startTime: "1" };
    await expect(writeIn(gone, null, at("box/file"), Buffer.from(""), 0o644)).rejects.toMatchObject({ message: expect.stringContaining("gone") });
    expect(existsSync(at("box/file"))).toBe(false);
  });

  it("looks through chains of links, but not for ever", async () => {
    writeFileSync(at("box/end"), "12345");
    symlinkSync("end", at("box/second"));
    symlinkSync(at("box/second"), at("box/first"));
    symlinkSync("loop", at("box/loop"));
    expect((await lookThrough(first, at("box/first")))?.size).toBe(5);
    expect((await lookThrough(first, at("box/loop")))?.isFile()).not.toBe(true);
  });
});
