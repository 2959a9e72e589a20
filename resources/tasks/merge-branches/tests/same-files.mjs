// Exit code 0 when two folders hold the same plain files, `.git` at the top left out.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

function contents(root) {
  const found = {};
  const visit = (folder, prefix) => {
    for (const name of readdirSync(folder).sort()) {
      if (prefix === "" && name === ".git") continue;
      const path = join(folder, name);
      const kind = lstatSync(path);
      if (kind.isDirectory()) visit(path, `${prefix}${name}/`);
      else found[`${prefix}${name}`] = kind.isFile() ? `${kind.mode & 0o100} ${readFileSync(path, "base64")}` : "no plain file";
    }
  };
  visit(root, "");
  return JSON.stringify(found);
}

const [left, right] = process.argv.slice(2);
process.exit(contents(left) === contents(right) ? 0 : 1);
