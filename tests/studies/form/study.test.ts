import { expect, test } from "vitest";
import { markdownOf } from "./study.ts";

test("a result is written with its tables, promises and findings", () => {
  const text = markdownOf(
    {
      title: "Controls",
      method: ["One run each."],
      tables: [
        {
          title: "Gain",
          columns: ["control", "gain"],
          rows: [
            ["shuffled", "0.1 [−2, 2]"],
            ["a|b", "1"],
          ],
        },
      ],
      promised: [
        { statement: "the interval contains 0", holds: true },
        { statement: "success falls", holds: false },
      ],
      found: ["nothing else"],
    },
    ["Commit abc."],
  );
  expect(text).toBe(`# Controls

Commit abc.

One run each.

## Gain

| control | gain |
| --- | --- |
| shuffled | 0.1 [−2, 2] |
| a\\|b | 1 |

## Promised

- holds: the interval contains 0
- **does not hold**: success falls

## Found

- nothing else
`);
});
