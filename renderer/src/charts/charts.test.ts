import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Curve, columnCount, columnsOf, smoothed, spikeOf, stepOfColumn, together, valueAt } from "./columns.ts";
import { axisOf, stepTicks, tickWords } from "./scale.ts";

const curveOf = (values: readonly number[], first = 1): Curve => ({
  steps: Float64Array.from(values, (_, index) => first + index),
  values: Float64Array.from(values),
  ends: null,
});
const value = fc.oneof({ weight: 9, arbitrary: fc.double({ min: -50, max: 50, noNaN: true }) }, { weight: 1, arbitrary: fc.constant(Number.NaN) });

describe("columns", () => {
  it("loses no extreme, whatever the width", () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 900 }), fc.integer({ min: 1, max: 400 }), (values, pixels) => {
        const curve = curveOf(values);
        const domain = { from: 1, to: values.length };
        const count = columnCount(domain, pixels);
        const { low, high, mean } = columnsOf(curve, domain, count);
        const known = values.filter((each) => !Number.isNaN(each));
        const there = (all: Float64Array) => [...all].filter((each) => !Number.isNaN(each));
        expect(there(mean).length > 0).toBe(known.length > 0);
        if (known.length === 0) return;
        expect(Math.min(...there(low))).toBe(Math.min(...known));
        expect(Math.max(...there(high))).toBe(Math.max(...known));
        for (const each of there(mean)) {
          expect(each).toBeGreaterThanOrEqual(Math.min(...known) - 1e-9);
          expect(each).toBeLessThanOrEqual(Math.max(...known) + 1e-9);
        }
      }),
    );
  });

  it("is one a step where there is room, at the step itself", () => {
    const domain = { from: 1, to: 5 };
    const count = columnCount(domain, 400);
    expect(count).toBe(5);
    expect([0, 1, 4].map((column) => stepOfColumn(domain, count, column))).toEqual([1, 2, 5]);
    expect([...columnsOf(curveOf([1, 2, Number.NaN, 4, 5]), domain, count).mean]).toEqual([1, 2, Number.NaN, 4, 5]);
  });

  it("smooths around the middle and keeps what is missing", () => {
    expect([...smoothed(Float64Array.of(0, 3, 6, Number.NaN, 9), 3)]).toEqual([1.5, 3, 4.5, Number.NaN, 9]);
    expect([...smoothed(Float64Array.of(0, 3), 1)]).toEqual([0, 3]);
  });

  it("takes seeds together: the mean of those that are there, all within the band", () => {
    const domain = { from: 1, to: 3 };
    const both = together([columnsOf(curveOf([1, 2, 3]), domain, 3), columnsOf(curveOf([3, 6]), domain, 3)]);
    expect([...both.mean]).toEqual([2, 4, 3]);
    expect([...both.low]).toEqual([1, 2, 3]);
    expect([...both.high]).toEqual([3, 6, 3]);
  });

  it("finds the value at a step, and a spike", () => {
    const noise = Array.from({ length: 60 }, (_, index) => Math.sin(index * 7) * 0.01);
    noise[40] = 0.5;
    expect(spikeOf(curveOf(noise))).toBe(41);
    expect(spikeOf(curveOf(noise.slice(0, 40)))).toBeNull();
    expect(spikeOf(curveOf([1, 1, 1]))).toBeNull();
    expect(valueAt(curveOf([5, Number.NaN, 7]), 2)).toBe(5);
    expect(valueAt(curveOf([5, 6, 7]), 9)).toBe(7);
    expect(valueAt(curveOf([5]), 0)).toBeNaN();
  });
});

describe("axes", () => {
  it("hold every value between three and seven round lines", () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.double({ min: 0, max: 1e6, noNaN: true }), (low, span) => {
        const axis = axisOf(low, low + span);
        // Rounding, far below what a pixel shows.
        const slack = 1e-6 * Math.max(1, Math.abs(low), span);
        expect(axis.low).toBeLessThanOrEqual(low + slack);
        expect(axis.high).toBeGreaterThanOrEqual(low + span - slack);
        expect(axis.ticks.length).toBeGreaterThanOrEqual(2);
        expect(axis.ticks.length).toBeLessThanOrEqual(7);
      }),
    );
    expect(axisOf(-999_884.1883604731, -999_884.188360473).ticks.length).toBeGreaterThanOrEqual(2);
    expect(axisOf(0.34, 0.62).ticks.map((tick) => tick.toFixed(1))).toEqual(["0.3", "0.4", "0.5", "0.6", "0.7"]);
    expect(axisOf(0.34, 0.62).digits).toBe(1);
    expect(axisOf(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY).ticks).toEqual([0, 0.5, 1]);
  });

  it("have labels that fit, also of what is flat or tiny", () => {
    const words = (low: number, high: number): readonly string[] => {
      const { ticks, digits } = axisOf(low, high);
      return ticks.map((tick) => tickWords(tick, digits));
    };
    expect(words(0, 0)).toEqual(["−0.010", "−0.005", "0.000", "0.005", "0.010"]);
    expect(words(2e-6, 8e-6)).toContain("4.0e−6");
    expect(words(1600, 2400)).toContain("1,800");
    for (const word of [...words(17, 17), ...words(-3e-7, 9e-7), ...words(0.1234, 0.1235)]) expect(word.length).toBeLessThanOrEqual(8);
  });

  it("put whole steps below", () => {
    expect(stepTicks(0, 200)).toEqual([0, 50, 100, 150, 200]);
    expect(stepTicks(1, 4)).toEqual([1, 2, 3, 4]);
    expect(stepTicks(0, 0)).toEqual([0]);
  });
});
