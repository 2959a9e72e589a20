/** Small programs of ours that run inside containers, by the Node that we bring; passed as text, by `node -e`. Each says one line. */
import { egressPort } from "../egress/proxy-variables.ts";
import { modelPort } from "../proxy-link.ts";

/** A port inside and the socket that its connections go to. */
export interface Link {
  readonly port: number;
  /** Where it listens: the loopback, or every address of the container. */
  readonly address: "127.0.0.1" | "0.0.0.0";
  readonly hostSocket: string;
  readonly insideSocket: string;
}

export const modelLink = (hostSocket: string): Link => ({
  port: modelPort,
  address: "127.0.0.1",
  hostSocket,
  insideSocket: "/run/openforge/model.sock",
});

/** `shared`: other services of the box's project go out by it, too. */
export const egressLink = (hostSocket: string, shared: boolean): Link => ({
  port: egressPort,
  address: shared ? "0.0.0.0" : "127.0.0.1",
  hostSocket,
  insideSocket: "/run/openforge/egress.sock",
});

/** User number of the main process: no account has it, and without the right to signal others' processes nobody inside can end it. */
export const forwarderUser = 65_531;

/**
 * Main process of every container: says when it is ready, keeps the container alive and carries ports to sockets (arguments: links, as JSON).
 */
export const forwarderSource = `
const net = require("node:net");
const links = process.argv.slice(1).map((link) => JSON.parse(link));
let waiting = links.length;
const ready = () => {
  waiting -= 1;
  if (waiting < 1) console.log("ready");
};
if (process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(${forwarderUser});
  process.setuid(${forwarderUser});
}
process.on("uncaughtException", (error) => console.error(error.message));
for (const { port, address, insideSocket } of links) {
  net.createServer({ allowHalfOpen: true }, (inside) => {
    const outside = net.connect({ path: insideSocket, allowHalfOpen: true });
    for (const [from, to] of [[inside, outside], [outside, inside]]) {
      from.on("error", () => to.destroy());
      from.on("close", () => { if (!from.readableEnded) to.destroy(); });
      from.pipe(to);
    }
  }).listen(port, address, 511, ready);
}
setInterval(() => undefined, 1 << 30);
if (links.length === 0) ready();
`;

/** Sends SIGKILL to everything that its user may signal, but itself and the first process. */
export const killAllSource = `
try { process.kill(-1, "SIGKILL"); } catch (error) { if (error.code !== "ESRCH") throw error; }
console.log("sent");
`;

/** What the two below know of the processes here; each is named by its number and its start. */
const listSource = `
const fs = require("node:fs");
const list = () => {
  const all = new Map();
  for (const name of fs.readdirSync("/proc")) {
    const pid = Number(name);
    if (!(pid > 1) || pid === process.pid) continue;
    try {
      const stat = fs.readFileSync("/proc/" + name + "/stat", "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "Z" || fs.statSync("/proc/" + name).uid === ${forwarderUser}) continue;
      all.set(pid, { parent: Number(fields[1]), key: pid + ":" + fields[19] });
    } catch {}
  }
  return all;
};
`;

/** All processes but ours, as JSON. */
export const listProcessesSource = `${listSource}
console.log(JSON.stringify([...list().values()].map((one) => one.key)));
`;

/** As `killAllSource`, but for processes that are named (argument: their list) and whatever descends from them. */
export const killOthersSource = `${listSource}
const spared = new Set(JSON.parse(process.argv[1]));
const isSpared = (all, one) => one !== undefined && (spared.has(one.key) || isSpared(all, all.get(one.parent)));
const all = list();
for (const [pid, one] of all) if (!isSpared(all, one)) try { process.kill(pid, "SIGKILL"); } catch {}
console.log("sent");
`;

/** Whether a process has one of these command lines (argument: lists of words, as JSON); of a program's path counts the name. */
export const arrivedSource = `
const fs = require("node:fs");
const wanted = JSON.parse(process.argv[1]).map((words) => words.join("\\0"));
const found = fs.readdirSync("/proc").some((name) => {
  let line = "";
  try { if (/^[0-9]+$/.test(name)) line = fs.readFileSync("/proc/" + name + "/cmdline", "utf8"); } catch {}
  const [program, ...rest] = line.replace(/\\0$/, "").split("\\0");
  return wanted.includes([program.slice(program.lastIndexOf("/") + 1), ...rest].join("\\0"));
});
console.log(found ? "yes" : "no");
`;

/** Ends what one exec started (argument: its mark in the environment); says "none left" when that is so. */
export const killTreeSource = `
const fs = require("node:fs");
const mark = process.argv[1];
const read = (path) => { try { return fs.readFileSync(path, "utf8"); } catch { return ""; } };
const list = () => {
  const all = [];
  for (const name of fs.readdirSync("/proc")) {
    const pid = Number(name);
    if (!(pid > 1) || pid === process.pid) continue;
    const stat = read("/proc/" + name + "/stat");
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (stat === "" || state === "Z") continue;
    all.push({ pid, parent: Number(parent), session, marked: read("/proc/" + name + "/environ").split("\\0").includes(mark) });
  }
  const sessions = new Set(all.filter((one) => one.marked && one.session !== "0").map((one) => one.session));
  const found = new Set(all.filter((one) => one.marked || sessions.has(one.session)).map((one) => one.pid));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const one of all) if (found.has(one.parent)) found.add(one.pid);
  }
  return found;
};
const end = Date.now() + 4000;
(function round() {
  const found = list();
  if (found.size === 0) return console.log("none left");
  for (const pid of found) try { process.kill(pid, "SIGKILL"); } catch {}
  if (Date.now() > end) return console.log(found.size + " left");
  setTimeout(round, 10);
})();
`;

/** Times the kernel killed something in this container for want of memory, by either version of control groups. */
export const outOfMemorySource = `
const fs = require("node:fs");
let kills = "0";
for (const path of ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"]) {
  try { kills = (/^oom_kill (\\d+)$/m.exec(fs.readFileSync(path, "utf8")) || [])[1] || kills; } catch {}
}
console.log(kills);
`;

/** What an image is, seen from inside: also the proof that our Node runs in it. */
export const imageFactsSource = `
const fs = require("node:fs");
const read = (path) => { try { return fs.readFileSync(path, "utf8"); } catch { return ""; } };
const packages = read("/var/lib/dpkg/status").split("\\n\\n").map((block) => {
  const field = (name) => (new RegExp("^" + name + ": (.*)$", "m").exec(block) || [])[1];
  return / installed$/m.test(block) ? field("Package") + " " + field("Version") : "";
}).filter(Boolean).sort();
const apk = [...read("/lib/apk/db/installed").matchAll(/^P:(.*)\\nV:(.*)$/gm)].map((found) => found[1] + " " + found[2]).sort();
const listed = packages.length > 0 ? packages : apk;
console.log(JSON.stringify({
  uid: process.getuid(), gid: process.getgid(), node: process.version,
  distribution: (/^PRETTY_NAME="?([^"\\n]*)"?$/m.exec(read("/etc/os-release")) || [])[1] || "unknown",
  packages: listed.length === 0 ? "unknown" : "sha256:" + require("node:crypto").createHash("sha256").update(listed.join("\\n")).digest("hex"),
}));
`;
