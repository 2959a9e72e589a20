// Moves our own copy of the tables and compares the three files as values; the order of keys does not matter.
import { lstatSync, readFileSync } from "node:fs";

function table(name) {
  const [header, ...rows] = readFileSync(`/tests/old/${name}.csv`, "utf8").trim().split("\n").map((row) => row.split(";"));
  return rows.map((row) => Object.fromEntries(header.map((column, index) => [column, row[index]])));
}
const isoDate = (text) => text.split(".").reverse().join("-");
const by = (...keys) => (left, right) => keys.map((key) => (left[key] < right[key] ? -1 : left[key] > right[key] ? 1 : 0)).find((sign) => sign !== 0) ?? 0;

function moved() {
  const numberOf = new Map();
  const emails = new Map();
  const customers = [];
  for (const { id, name, email, joined } of table("customers").sort((left, right) => left.id - right.id)) {
    const address = email.trim().toLowerCase();
    if (!emails.has(address)) {
      emails.set(address, customers.length + 1);
      customers.push({ id: customers.length + 1, name, email: address, joined: isoDate(joined) });
    }
    numberOf.set(id, emails.get(address));
  }
  const cents = new Map(table("products").map(({ code, price }) => [code, Number(price.replace(".", "").replace(",", ""))]));
  const known = new Set(table("orders").map(({ number }) => number));
  const rejected = { orders: [], lines: [] };
  const quantities = new Map();
  for (const { order, product, quantity } of table("lines")) {
    if (!known.has(order) || !cents.has(product) || Number(quantity) <= 0) {
      rejected.lines.push({ order: Number(order), product });
      continue;
    }
    const lines = quantities.get(order) ?? new Map();
    quantities.set(order, lines.set(product, (lines.get(product) ?? 0) + Number(quantity)));
  }
  const orders = [];
  for (const { number, customer, date } of table("orders")) {
    const lines = quantities.get(number);
    if (lines === undefined || !numberOf.has(customer)) {
      rejected.orders.push(Number(number));
      continue;
    }
    orders.push({
      number: Number(number),
      customer: numberOf.get(customer),
      date: isoDate(date),
      lines: [...lines].map(([product, quantity]) => ({ product, quantity })).sort(by("product")),
      total_cents: [...lines].reduce((sum, [product, quantity]) => sum + quantity * cents.get(product), 0),
    });
  }
  rejected.orders.sort((left, right) => left - right);
  rejected.lines.sort(by("order", "product"));
  return { customers, orders: orders.sort(by("number")), rejected };
}

/** JSON text with the keys of every object in order. */
function plain(value) {
  return JSON.stringify(value, (_key, part) =>
    part !== null && typeof part === "object" && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1))) : part,
  );
}

const problems = [];
for (const [name, wanted] of Object.entries(moved())) {
  const path = `/app/new/${name}.json`;
  try {
    if (!lstatSync(path).isFile()) throw new Error("no plain file");
    const found = JSON.parse(readFileSync(path, "utf8"));
    if (plain(found) === plain(wanted)) continue;
    const at = Array.isArray(wanted) && Array.isArray(found) ? wanted.findIndex((part, index) => plain(part) !== plain(found[index])) : -1;
    problems.push(`${name}.json is not as asked${at === -1 ? "" : `, first at entry ${at}`}`);
  } catch (error) {
    problems.push(`${name}.json: ${error.message}`);
  }
}
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
