import { readFileSync, writeFileSync } from "node:fs";

const [, ...rows] = readFileSync("/app/sales.csv", "utf8").trim().split("\n");
const seen = new Set();
const regions = {};
const products = {};
let total = 0;
let ignored = 0;
for (const row of rows) {
  const [id, , region, product, quantity, price, status] = row.split(",").map((cell) => cell.trim());
  const first = !seen.has(id);
  seen.add(id);
  if (!first || status.toLowerCase() !== "paid" || !/^[1-9]\d*$/.test(quantity)) {
    ignored += 1;
    continue;
  }
  const cents = Number(quantity) * Math.round(Number(price) * 100);
  regions[region.toLowerCase()] = (regions[region.toLowerCase()] ?? 0) + cents;
  products[product] = (products[product] ?? 0) + cents;
  total += cents;
}
const report = {
  regions: Object.fromEntries(Object.entries(regions).map(([name, cents]) => [name, cents / 100])),
  total: total / 100,
  best_product: Object.keys(products).reduce((best, name) => (products[name] > products[best] ? name : best)),
  ignored,
};
writeFileSync("/app/report.json", `${JSON.stringify(report, null, 2)}\n`);
