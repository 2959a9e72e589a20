/** Rows as a parquet file, a group of rows in memory at a time. */
import { fileWriter, parquetWriteRows } from "hyparquet-writer";
import { cell, type Fields, schemaOf } from "./column-type.ts";

/** Rows of tokens are long: a few of them fill a group. */
const rowsOfGroup = 100;

/** Resolves with the number of rows. Columns that a row lacks are null. */
export async function writeParquet(path: string, columns: Fields, rows: AsyncIterable<Readonly<Record<string, unknown>>>): Promise<number> {
  let count = 0;
  async function* cells(): AsyncGenerator<Record<string, unknown>> {
    for await (const row of rows) {
      count += 1;
      yield Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, cell(row[name], type)]));
    }
  }
  await parquetWriteRows({
    writer: fileWriter(path),
    rows: cells(),
    columns: Object.keys(columns).map((name) => ({ name })),
    schema: schemaOf(columns),
    rowGroupSize: rowsOfGroup,
    statistics: false,
    createdBy: "openforge-workbench",
  });
  return count;
}
