import { writeFileSync } from "node:fs";
import { startClient } from "./client.mjs";

const client = startClient();
await client.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "gold", version: "1" } });
const items = [];
for (let page = 1; page !== null; ) {
  const answer = await client.callTool("list_items", { page });
  items.push(...answer.items);
  page = answer.next_page;
}
const lines = [];
let total = 0;
for (const item of items.sort((left, right) => (left.sku < right.sku ? -1 : 1))) {
  if (item.discontinued || item.stock >= item.minimum) continue;
  const quantity = Math.ceil((item.target - item.stock) / item.pack_size) * item.pack_size;
  await client.callTool("place_order", { sku: item.sku, quantity });
  lines.push(`${item.sku} ${quantity}`);
  total += quantity;
}
writeFileSync("/app/orders.txt", `${lines.join("\n")}\ntotal ${total}\n`);
client.close();
