// The warehouse's journal must hold exactly the right orders, each sealed by the server; the summary must say the same.
import { createHmac } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";

const low = JSON.parse(readFileSync("/tests/stock.json", "utf8")).filter((item) => !item.discontinued && item.stock < item.minimum);
const wanted = low.map((item) => `${item.sku} ${Math.ceil((item.target - item.stock) / item.pack_size) * item.pack_size}`).sort();
const total = wanted.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);

const problems = [];
const read = (path) => {
  if (!lstatSync(path).isFile()) throw new Error(`${path} is no plain file`);
  return readFileSync(path, "utf8");
};
try {
  let previous = "";
  const placed = read("/app/warehouse/orders.log").trim().split("\n").map((line) => {
    const { sku, quantity, seal } = JSON.parse(line);
    const right = createHmac("sha256", "warehouse-journal-1").update(`${previous} ${sku} ${quantity}`).digest("hex");
    if (seal !== right) problems.push(`the order of ${sku} was not placed through the warehouse`);
    previous = right;
    return `${sku} ${quantity}`;
  });
  if (placed.sort().join() !== wanted.join()) problems.push("the orders are not those that were needed");
} catch (error) {
  problems.push(`orders: ${error.message}`);
}
try {
  if (read("/app/orders.txt").trimEnd() !== [...wanted, `total ${total}`].join("\n")) problems.push("orders.txt is not as asked");
} catch (error) {
  problems.push(`orders.txt: ${error.message}`);
}
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
