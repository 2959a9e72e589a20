import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { afterAll, describe, expect, test } from "vitest";
import { type ColumnType, commonType } from "./column-type.ts";
import { writeParquet } from "./parquet-file.ts";

const folder = mkdtempSync(join(tmpdir(), "openforge-parquet-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function throughFile(type: ColumnType, values: readonly unknown[]): Promise<unknown[]> {
  const path = join(folder, "x.parquet");
  async function* rows() {
    for (const value of values) yield { value };
  }
  await writeParquet(path, { value: type }, rows());
  const bytes = readFileSync(path);
  const read = await parquetReadObjects({ file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) });
  return read.map((row) => plain(row.value));
}

/** As it was before: no 64-bit integers, no fields that only others have. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, field]) => (field === null || field === undefined ? [] : [[name, plain(field)]])));
}

describe("commonType", () => {
  test.each<[string, readonly unknown[], ColumnType | null]>([
    ["texts", ["a", null], "text"],
    ["whole numbers", [1, 2], "integer"],
    ["numbers", [1, 2.5], "double"],
    ["nothing", [null, undefined], null],
    ["empty objects cannot be written", [{}, {}], null],
    ["what no type holds together", ["a", 1], "text"],
    ["the union of fields", [{ a: 1 }, { b: "x" }], { fields: { a: "integer", b: "text" } }],
    ["lists of lists", [[[1]], [[]]], { list: { list: "integer" } }],
  ])("%s", (_name, values, type) => {
    expect(commonType(values)).toEqual(type);
  });
});

test("tool schemas that differ read back as they were, but for what others add as null", async () => {
  const tools = [
    [
      {
        type: "function",
        function: { name: "bash", parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] } },
      },
    ],
    [
      {
        type: "function",
        function: { name: "read", description: "Reads.", parameters: { type: "object", properties: { path: { type: "string", maxLength: 9 } } } },
      },
      { type: "function", function: { name: "wait" } },
    ],
  ];
  const type = commonType(tools);
  expect(type).not.toBeNull();
  expect(await throughFile(type ?? "text", tools)).toEqual(tools);
});

test("whatever has one type reads back", async () => {
  const leaf = fc.oneof(fc.string(), fc.constant("据 🙂"));
  const value = fc.record({
    name: leaf,
    list: fc.array(fc.integer()),
    inner: fc.record({ flags: fc.array(fc.boolean(), { minLength: 1 }), text: leaf }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 130 }), async (values) => {
      const type: ColumnType = {
        fields: { name: "text", list: { list: "integer" }, inner: { fields: { flags: { list: "boolean" }, text: "text" } } },
      };
      expect(await throughFile(type, values)).toEqual(values);
    }),
    { numRuns: 20 },
  );
});
