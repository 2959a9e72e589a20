// A warehouse as an MCP server over standard input and output: one JSON-RPC message a line. Plain Node, no packages.
import { createHmac } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const here = new URL(".", import.meta.url).pathname;
const journal = `${here}orders.log`;
const items = JSON.parse(readFileSync(`${here}stock.json`, "utf8"));
const pageSize = 5;

const tools = [
  {
    name: "list_items",
    description: "Shows five items of the stock and, when there are more, the number of the next page.",
    inputSchema: { type: "object", properties: { page: { type: "integer", minimum: 1, description: "Page number, from 1." } }, additionalProperties: false },
  },
  {
    name: "place_order",
    description: "Orders more of an item. An item can be ordered once; the quantity is a whole number of packs. An order is final.",
    inputSchema: {
      type: "object",
      properties: { sku: { type: "string" }, quantity: { type: "integer", minimum: 1, description: "Pieces, not packs." } },
      required: ["sku", "quantity"],
      additionalProperties: false,
    },
  },
  {
    name: "list_orders",
    description: "Shows the orders placed so far.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
  },
];

const orders = () => (existsSync(journal) ? readFileSync(journal, "utf8").trim().split("\n").map((line) => JSON.parse(line)) : []);

/** Each line of the journal is sealed together with the one before it. */
function seal(order, previous) {
  return createHmac("sha256", "warehouse-journal-1").update(`${previous} ${order.sku} ${order.quantity}`).digest("hex");
}

const actions = {
  list_items({ page = 1 }) {
    const start = (page - 1) * pageSize;
    const shown = items.slice(start, start + pageSize);
    if (shown.length === 0) throw new Error(`There is no page ${page}.`);
    return { items: shown, next_page: start + pageSize < items.length ? page + 1 : null };
  },
  place_order({ sku, quantity }) {
    const item = items.find((candidate) => candidate.sku === sku);
    if (item === undefined) throw new Error(`There is no item ${sku}.`);
    if (!Number.isInteger(quantity) || quantity < 1) throw new Error("The quantity must be a whole number above 0.");
    if (quantity % item.pack_size !== 0) throw new Error(`${sku} comes in packs of ${item.pack_size}; ${quantity} is no whole number of packs.`);
    const placed = orders();
    if (placed.some((order) => order.sku === sku)) throw new Error(`${sku} has been ordered already.`);
    const order = { sku, quantity };
    appendFileSync(journal, `${JSON.stringify({ ...order, seal: seal(order, placed.at(-1)?.seal ?? "") })}\n`);
    return { ordered: order };
  },
  list_orders: () => ({ orders: orders().map(({ sku, quantity }) => ({ sku, quantity })) }),
};

function callTool({ name, arguments: given = {} }) {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) return { content: [{ type: "text", text: `There is no tool ${name}.` }], isError: true };
  try {
    return { content: [{ type: "text", text: JSON.stringify(action(given)) }], isError: false };
  } catch (error) {
    return { content: [{ type: "text", text: error.message }], isError: true };
  }
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: protocolVersion ?? "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "warehouse", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": callTool,
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line.trim() === "") return;
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    send({ id: null, error: { code: -32700, message: "This is no JSON." } });
    return;
  }
  if (message.id === undefined || message.id === null) return;
  const method = Object.hasOwn(methods, message.method) ? methods[message.method] : undefined;
  if (method === undefined) send({ id: message.id, error: { code: -32601, message: `There is no method ${message.method}.` } });
  else send({ id: message.id, result: method(message.params ?? {}) });
});
