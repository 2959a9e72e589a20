// Computes the report from our own copy of the sales and compares it key by key.
import { readFileSync } from "node:fs";

function expected(csv) {
  const cents = { regions: {}, products: {}, total: 0 };
  const seen = new Set();
  let ignored = 0;
  for (const line of csv.trim().split("\n").slice(1)) {
    const [id, , region, product, quantity, price, status] = line.split(",");
    const counts = !seen.has(id) && status.trim().toLowerCase() === "paid" && /^[1-9]\d*$/.test(quantity.trim());
    seen.add(id);
    if (!counts) {
      ignored += 1;
      continue;
    }
    const worth = Number(quantity) * Math.round(Number(price) * 100);
    const place = region.trim().toLowerCase();
    cents.regions[place] = (cents.regions[place] ?? 0) + worth;
    cents.products[product] = (cents.products[product] ?? 0) + worth;
    cents.total += worth;
  }
  const [best] = Object.entries(cents.products).sort((left, right) => right[1] - left[1])[0];
  return { regions: cents.regions, total: cents.total, best_product: best, ignored };
}

const inCents = (value) => (typeof value === "number" && Math.abs(value * 100 - Math.round(value * 100)) < 1e-6 ? Math.round(value * 100) : Number.NaN);
const keys = (value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value).sort().join() : "(no object)");

const wanted = expected(readFileSync("/tests/sales.csv", "utf8"));
const problems = [];
try {
  const report = JSON.parse(readFileSync("/app/report.json", "utf8"));
  if (keys(report) !== keys(wanted)) problems.push(`keys are ${keys(report)}`);
  if (keys(report?.regions) !== keys(wanted.regions)) problems.push(`regions are ${keys(report?.regions)}`);
  for (const [region, cents] of Object.entries(wanted.regions)) if (inCents(report?.regions?.[region]) !== cents) problems.push(`region ${region} is wrong`);
  if (inCents(report?.total) !== wanted.total) problems.push("total is wrong");
  if (report?.best_product !== wanted.best_product) problems.push("best_product is wrong");
  if (report?.ignored !== wanted.ignored) problems.push("ignored is wrong");
} catch (error) {
  problems.push(`report.json: ${error.message}`);
}
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
