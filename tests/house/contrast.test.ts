/**
 * WCAG contrast of every text role on the surfaces it is used on, in light, dark and both high-contrast themes, and that outcome
 * colours stay apart under simulated colour-vision deficiency (Machado et al. 2009, severity 1; distance in OKLab × 100).
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("../../renderer/src/styles/tokens.css", import.meta.url), "utf8");

type Colours = Readonly<Record<string, readonly [light: string, dark: string]>>;

function parse(block: string): Colours {
  const found = block.matchAll(/--of-([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)/g);
  return Object.fromEntries([...found].map((match) => [match[1] ?? "", [match[2] ?? "", match[3] ?? ""] as const]));
}
function block(start: string): string {
  const at = css.indexOf(start);
  return css.slice(at, css.indexOf("\n}", at));
}

const base = parse(block(":root {"));
const more: Colours = { ...base, ...parse(block('[data-contrast="more"] {')) };

const linear = (hex: string): number[] =>
  [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = linear(hex);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
function ratio(left: string, right: string): number {
  const [low = 0, high = 0] = [luminance(left), luminance(right)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

type Pair = readonly [text: string, background: string, minimum: number, highContrastMinimum: number];

function pairs(): Pair[] {
  const surfaces = ["chrome", "surface", "surface-header", "surface-sunken", "surface-raised", "hover", "selected", "selected-idle"];
  const plain = ["surface", "surface-header", "surface-sunken", "surface-raised", "hover", "selected"];
  const states = ["sampled", "edited", "faulted", "success", "failed", "paused", "infra", "running", "neutral"];
  const codeGrounds = ["surface", "surface-sunken", "surface-raised", "diff-add", "diff-del"];
  const steps = [0, 1, 2, 3, 4, 5, 6];
  const on = (texts: readonly string[], grounds: readonly string[], aa: number, aaa: number): Pair[] =>
    texts.flatMap((text) => grounds.map((ground): Pair => [text, ground, aa, aaa]));
  return [
    ...on(["text", "text-secondary", "text-muted", "link"], surfaces, 4.5, 7),
    ...on(["accent", "masked", ...states], plain, 4.5, 7),
    ...states.flatMap((state): Pair[] => [
      [state, `${state}-tint`, 4.5, 7],
      ["text", `${state}-tint`, 4.5, 7],
    ]),
    ...on(["text-secondary", "text-muted"], ["paused-tint"], 4.5, 7),
    ["accent", "accent-tint", 4.5, 4.5],
    ...on(["masked", "edited"], ["hatch"], 4.5, 4.5),
    ...on(["on-accent"], ["accent-fill", "accent-fill-hover"], 4.5, 7),
    ["text-inverse", "text", 4.5, 7],
    ...on(["text", "text-secondary"], ["diff-add", "diff-add-word", "diff-del", "diff-del-word"], 4.5, 4.5),
    ...steps.map((step): Pair => [step < 5 ? "on-reward-low" : "on-reward-high", `reward-${step}`, 4.5, 4.5]),
    ...steps.map((step): Pair => [step < 5 ? "on-heat-low" : `on-heat-${step}`, `heat-${step}`, 4.5, 4.5]),
    ...on(
      ["key", "string", "number", "keyword", "comment"].map((kind) => `code-${kind}`),
      codeGrounds,
      4.5,
      4.5,
    ),
    ...on(["series-1", "series-2", "series-3", "series-4", "series-5"], ["surface"], 3, 3),
    ...on(["border-control", "focus"], ["surface", "surface-raised", "chrome"], 3, 3),
    ["focus", "selected", 3, 3],
    ["axis", "surface", 4.5, 7],
  ];
}

type Matrix = readonly (readonly number[])[];
const deficiencies: Readonly<Record<string, Matrix>> = {
  none: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function oklab([red = 0, green = 0, blue = 0]: readonly number[]): readonly [number, number, number] {
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const middle = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
  ];
}
function seen(hex: string, matrix: Matrix): readonly [number, number, number] {
  const colour = linear(hex);
  return oklab(
    matrix.map((row) =>
      Math.min(
        1,
        Math.max(
          0,
          row.reduce((sum, weight, at) => sum + weight * (colour[at] ?? 0), 0),
        ),
      ),
    ),
  );
}

const colour = (set: Colours, name: string, mode: 0 | 1): string => {
  const found = set[name]?.[mode];
  if (found === undefined) throw new Error(`no token --of-${name}`);
  return found;
};

describe("tokens", () => {
  for (const [name, set, mode, high] of [
    ["light", base, 0, false],
    ["dark", base, 1, false],
    ["high contrast, light", more, 0, true],
    ["high contrast, dark", more, 1, true],
  ] as const) {
    it(`have enough contrast: ${name}`, () => {
      const low = pairs().flatMap(([text, ground, aa, aaa]) => {
        const found = ratio(colour(set, text, mode), colour(set, ground, mode));
        return found < (high ? aaa : aa) ? [`${text} on ${ground} = ${found.toFixed(2)}`] : [];
      });
      expect(low).toEqual([]);
    });
  }

  it("keep outcomes apart for every kind of sight", () => {
    const names = ["success", "failed", "paused", "infra", "running"];
    for (const mode of [0, 1] as const)
      for (const [kind, matrix] of Object.entries(deficiencies))
        for (const [index, left] of names.entries())
          for (const right of names.slice(index + 1)) {
            const [p, q] = [seen(colour(base, left, mode), matrix), seen(colour(base, right, mode), matrix)];
            const distance = 100 * Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
            expect(distance, `${left} and ${right}, ${kind}`).toBeGreaterThanOrEqual(4);
          }
  });

  it("have scales whose lightness goes one way", () => {
    for (const mode of [0, 1] as const)
      for (const matrix of Object.values(deficiencies))
        for (const scale of ["reward", "heat"])
          for (let step = 0; step < 6; step += 1) {
            const rise = seen(colour(base, `${scale}-${step + 1}`, mode), matrix)[0] - seen(colour(base, `${scale}-${step}`, mode), matrix)[0];
            expect(mode === 0 ? rise < 0 : rise > 0, `${scale} ${step}`).toBe(true);
          }
  });
});
