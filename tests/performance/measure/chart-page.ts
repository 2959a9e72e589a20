/** What the benchmark of the charts runs inside a browser: long curves, and one redraw of a chart of them. */
import { type Curve, columnCount } from "../../../renderer/src/charts/columns.ts";
import { axisFor, paintedGroup } from "../../../renderer/src/charts/group.ts";
import { paint } from "../../../renderer/src/charts/paint.ts";

/** As much of the page as is used here: these files are not checked as the window's are. */
declare const document: {
  createElement(name: "canvas"): { width: number; height: number; getContext(kind: "2d"): Parameters<typeof paint>[0] | null };
};

function longCurve(seed: number, length: number): Curve {
  const values = new Float64Array(length);
  let state = seed;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    values[index] = Math.log1p(index / 500) + (state / 0x7fffffff - 0.5) * 0.4;
  }
  return { steps: values.map((_, index) => index + 1), values, ends: null };
}

const domain = { from: 0, to: 0 };
let groups: { name: string; slot: number; curves: Curve[] }[] = [];

/** `runs` curves of `steps` points each, in five configurations. */
function prepare(runs: number, steps: number): void {
  domain.to = steps;
  groups = Array.from({ length: 5 }, (_, slot) => ({
    name: `configuration ${slot}`,
    slot,
    curves: Array.from({ length: runs / 5 }, (_unused, seed) => longCurve(slot * 100 + seed + 1, steps)),
  }));
}

/** Milliseconds for columns, axis and paint. Another width than before: nothing is remembered. `appended`: one curve is new instead. */
function redraw(width: number, appended: boolean): number {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, 230];
  const context = canvas.getContext("2d");
  const [first] = groups;
  if (context === null || first === undefined) throw new Error("there is nothing to draw on, or nothing to draw");
  if (appended) first.curves = first.curves.map((curve, index) => (index === 0 ? { ...curve } : curve));
  const began = performance.now();
  const count = columnCount(domain, width);
  const painted = groups.map((group) => paintedGroup(group, domain, count, 9));
  const inks = { series: ["#2757cf", "#b3590a", "#0b7a6b", "#8a2f73", "#50524b"], grid: "#ebe9e4", surface: "#fcfcfa" };
  paint(context, { width, height: 230, domain, axis: axisFor(painted), count }, painted, inks);
  // Reading a pixel waits until all is drawn.
  context.getImageData(0, 0, 1, 1);
  return performance.now() - began;
}

Object.assign(globalThis, { prepare, redraw });
