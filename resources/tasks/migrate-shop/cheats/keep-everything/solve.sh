#!/bin/sh
# Turns every row into JSON, whether what it points to exists or not.
mkdir -p /app/new
exec node -e '
const fs = require("node:fs");
const rows = (name) => fs.readFileSync(`/app/old/${name}.csv`, "utf8").trim().split("\n").slice(1).map((row) => row.split(";"));
const date = (text) => text.split(".").reverse().join("-");
const customers = rows("customers").sort((a, b) => a[0] - b[0]).map(([id, name, email, joined]) => ({ id: Number(id), name, email: email.trim().toLowerCase(), joined: date(joined) }));
const lines = rows("lines");
const orders = rows("orders").sort((a, b) => a[0] - b[0]).map(([number, customer, day]) => ({
  number: Number(number), customer: Number(customer), date: date(day),
  lines: lines.filter(([order]) => order === number).map(([, product, quantity]) => ({ product, quantity: Number(quantity) })), total_cents: 0,
}));
fs.writeFileSync("/app/new/customers.json", JSON.stringify(customers));
fs.writeFileSync("/app/new/orders.json", JSON.stringify(orders));
fs.writeFileSync("/app/new/rejected.json", JSON.stringify({ orders: [], lines: [] }));
'
