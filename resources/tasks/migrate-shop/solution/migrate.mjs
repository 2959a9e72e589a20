import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const linesOf = (name) => readFileSync(`/app/old/${name}.csv`, "utf8").trim().split("\n");
const rowsOf = (name) => linesOf(name).slice(1).map((row) => row.split(";"));
const dateOf = (text) => text.replace(/^(\d+)\.(\d+)\.(\d+)$/, "$3-$2-$1");
const write = (name, value) => writeFileSync(`/app/new/${name}.json`, `${JSON.stringify(value, null, 2)}\n`);
mkdirSync("/app/new", { recursive: true });

const customers = [];
const newIds = {};
for (const [oldId, name, rawEmail, joined] of rowsOf("customers").sort(([left], [right]) => left - right)) {
  const email = rawEmail.trim().toLowerCase();
  let customer = customers.find((one) => one.email === email);
  if (customer === undefined) {
    customer = { id: customers.length + 1, name, email, joined: dateOf(joined) };
    customers.push(customer);
  }
  newIds[oldId] = customer.id;
}
write("customers", customers);

const prices = Object.fromEntries(rowsOf("products").map(([code, , price]) => [code, Number(price.replace(/[.,]/g, ""))]));
const orderRows = rowsOf("orders").sort(([left], [right]) => left - right);
const numbers = new Set(orderRows.map(([number]) => number));
const lineRows = rowsOf("lines");
const isFine = ([order, product, quantity]) => numbers.has(order) && product in prices && quantity > 0;

const orders = [];
const rejectedOrders = [];
for (const [number, customer, date] of orderRows) {
  const sums = {};
  for (const [, product, quantity] of lineRows.filter((line) => line[0] === number && isFine(line))) {
    sums[product] = (sums[product] ?? 0) + Number(quantity);
  }
  const lines = Object.keys(sums).sort().map((product) => ({ product, quantity: sums[product] }));
  const total_cents = lines.reduce((sum, { product, quantity }) => sum + quantity * prices[product], 0);
  if (lines.length === 0 || newIds[customer] === undefined) rejectedOrders.push(Number(number));
  else orders.push({ number: Number(number), customer: newIds[customer], date: dateOf(date), lines, total_cents });
}
write("orders", orders);
const rejectedLines = lineRows.filter((line) => !isFine(line)).map(([order, product]) => ({ order: Number(order), product }));
rejectedLines.sort((left, right) => left.order - right.order || (left.product < right.product ? -1 : 1));
write("rejected", { orders: rejectedOrders, lines: rejectedLines });
