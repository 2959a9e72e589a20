/** Types of parquet columns as JavaScript reads them, and the schema elements they are written as. Every value may be null. */
import type { SchemaElement } from "hyparquet";

export type ColumnType = "text" | "boolean" | "integer" | "float" | "double" | { readonly list: ColumnType } | { readonly fields: Fields };
export type Fields = Readonly<Record<string, ColumnType>>;

const scalars = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  boolean: { type: "BOOLEAN" },
  integer: { type: "INT64" },
  float: { type: "FLOAT" },
  double: { type: "DOUBLE" },
} as const satisfies Readonly<Record<string, Partial<SchemaElement>>>;

export function schemaOf(columns: Fields): SchemaElement[] {
  const names = Object.keys(columns);
  return [{ name: "root", num_children: names.length }, ...names.flatMap((name) => elements(name, columns[name] ?? "text"))];
}

function elements(name: string, type: ColumnType): SchemaElement[] {
  if (typeof type === "string") return [{ name, ...scalars[type], repetition_type: "OPTIONAL" }];
  if ("list" in type)
    return [
      { name, converted_type: "LIST", num_children: 1, repetition_type: "OPTIONAL" },
      { name: "list", num_children: 1, repetition_type: "REPEATED" },
      ...elements("element", type.list),
    ];
  const names = Object.keys(type.fields);
  return [
    { name, num_children: names.length, repetition_type: "OPTIONAL" },
    ...names.flatMap((field) => elements(field, type.fields[field] ?? "text")),
  ];
}

/** The value as the column takes it: integers as 64-bit, what does not fit a text column as JSON, absent fields as null. */
export function cell(value: unknown, type: ColumnType): unknown {
  if (value === null || value === undefined) return null;
  if (type === "text") return typeof value === "string" ? value : JSON.stringify(value);
  if (type === "integer") return BigInt(Number(value));
  if (typeof type === "string") return value;
  if ("list" in type) return Array.from(value as ArrayLike<unknown>, (element) => cell(element, type.list));
  const given = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, cell(given[name], field)]));
}

/**
 * The one type that holds all of these values; null where there is nothing to hold (only nulls and empty objects). Objects become the
 * union of their fields. Values that no type holds together become JSON text.
 */
export function commonType(values: readonly unknown[]): ColumnType | null {
  const given = values.filter((value) => value !== null && value !== undefined);
  if (given.length === 0) return null;
  if (given.every((value) => typeof value === "boolean")) return "boolean";
  if (given.every((value) => typeof value === "number")) return given.every((value) => Number.isSafeInteger(value)) ? "integer" : "double";
  if (given.every((value) => Array.isArray(value))) {
    const element = commonType(given.flat(1));
    return element === null ? null : { list: element };
  }
  if (given.every((value): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value))) {
    const names = [...new Set(given.flatMap((value) => Object.keys(value)))];
    const fields = names.flatMap((name) => {
      const type = commonType(given.map((value) => (Object.hasOwn(value, name) ? value[name] : null)));
      return type === null ? [] : [[name, type] as const];
    });
    return fields.length === 0 ? null : { fields: Object.fromEntries(fields) };
  }
  return "text";
}
