import { expect, test } from "vitest";
import { Opened } from "./opened.ts";

test("closes in reverse, and goes on when one fails", async () => {
  const closed: string[] = [];
  const opened = new Opened();
  await opened.keep("first", (name) => void closed.push(name));
  await opened.keep("second", () => Promise.reject(new Error("stuck")));
  await opened.keep("third", (name) => void closed.push(name));
  await opened.close();
  expect(closed).toEqual(["third", "first"]);
});

test("what is opened too late is closed at once", async () => {
  const closed: string[] = [];
  const opened = new Opened();
  await opened.close();
  await expect(opened.keep("late", (name) => void closed.push(name))).rejects.toThrow(/had ended/);
  expect(closed).toEqual(["late"]);
});
