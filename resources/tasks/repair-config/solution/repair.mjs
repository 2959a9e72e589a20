import { readFileSync, writeFileSync } from "node:fs";

/** Signs outside of texts are mended; texts are taken as they are. */
function mended(broken) {
  const tokens = broken.match(/"(?:[^"\\]|\\.)*"|'[^']*'|\/\/[^\n]*|[{}[\]:,]|[^\s{}[\]:,"']+/g);
  const plain = tokens.filter((token) => !token.startsWith("//")).map((token) => {
    if (token.startsWith("'")) return JSON.stringify(token.slice(1, -1));
    if (/^0\d+$/.test(token)) return String(Number(token));
    return /^(true|false|null)$/i.test(token) ? token.toLowerCase() : token;
  });
  const ends = (token) => token !== undefined && !/^[{[:,]$/.test(token);
  const begins = (token) => token !== undefined && !/^[}\]:,]$/.test(token);
  return plain
    .filter((token, index) => !(token === "," && /^[}\]]$/.test(plain[index + 1] ?? "")))
    .map((token, index, all) => (ends(token) && begins(all[index + 1]) ? `${token},` : token))
    .join(" ");
}

const services = readFileSync("/app/services.csv", "utf8").trim().split("\n").slice(1).map((row) => row.split(","));
const ports = new Map(services.map(([name, port]) => [name, Number(port)]));
const leavesOut = (short, long) => [...long].some((_letter, index) => long.slice(0, index) + long.slice(index + 1) === short);

const config = JSON.parse(mended(readFileSync("/app/gateway.json", "utf8")));
for (const route of config.routes) {
  if (!ports.has(route.service)) route.service = [...ports.keys()].find((name) => leavesOut(route.service, name));
  route.port = ports.get(route.service);
  const [, amount, unit] = /^(\d+)(ms|s)?$/.exec(String(route.timeout_ms));
  route.timeout_ms = Math.max(100, Number(amount) * (unit === "s" ? 1000 : 1));
}
for (const path of new Set(config.routes.map((route) => route.path))) {
  const same = config.routes.filter((route) => route.path === path);
  same.at(-1).weight += 100 - same.reduce((sum, route) => sum + route.weight, 0);
}
writeFileSync("/app/gateway.json", `${JSON.stringify(config, null, 2)}\n`);
