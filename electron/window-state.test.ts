import { expect, test } from "vitest";
import { clampBounds } from "./window-state.ts";

const screen = { x: 0, y: 0, width: 1920, height: 1040 };
const second = { x: 1920, y: 0, width: 1280, height: 1000 };

test("bounds on a connected display stay", () => {
  const saved = { x: 2000, y: 50, width: 1000, height: 800 };
  expect(clampBounds(saved, [screen, second])).toEqual(saved);
});

test("a window of a display that is gone comes to the middle of the first", () => {
  expect(clampBounds({ x: 5000, y: 50, width: 1000, height: 800 }, [screen])).toEqual({ x: 460, y: 120, width: 1000, height: 800 });
});

test("a window that is too large or hangs over is brought inside", () => {
  expect(clampBounds({ x: 1500, y: -20, width: 3000, height: 100 }, [screen])).toEqual({ x: 0, y: 0, width: 1920, height: 450 });
});
