/** What the benchmark of the charts runs inside a browser: long curves, and one redraw of a chart of them. (Not typed: it needs a page's types.) */
import { columnCount } from "../../../renderer/src/charts/columns.ts";
import { axisFor, paintedGroup } from "../../../renderer/src/charts/group.ts";
import { paint } from "../../../renderer/src/charts/paint.ts";

const height = 230;
const inks = { series: ["#2757cf", "#b3590a", "#0b7a6b", "#8a2f73", "#50524b"], grid: "#ebe9e4", surface: "#fcfcfa" };

function longCurve(seed, length) {
  let state = seed;
  const values = new Float64Array(length).map((_, index) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.log1p(index / 500) + (state / 0x7fffffff - 0.5) * 0.4;
  });
  return { steps: values.map((_, index) => index + 1), values, ends: null };
}

let domain = { from: 0, to: 0 };
let groups = [];

/** `runs` curves of `steps` points each, in five configurations. */
function prepare(runs, steps) {
  domain = { from: 0, to: steps };
  groups = Array.from({ length: 5 }, (_, slot) => ({
    name: `configuration ${slot}`,
    slot,
    curves: Array.from({ length: runs / 5 }, (_unused, seed) => longCurve(slot * 100 + seed + 1, steps)),
  }));
}

/** Milliseconds for columns, axis and paint. Another width than before: nothing is remembered. `appended`: one curve is new instead. */
function redraw(width, appended) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  if (appended) groups[0].curves = groups[0].curves.map((curve, index) => (index === 0 ? { ...curve } : curve));
  const began = performance.now();
  const count = columnCount(domain, width);
  const painted = groups.map((group) => paintedGroup(group, domain, count, 9));
  paint(context, { width, height, domain, axis: axisFor(painted), count }, painted, inks);
  // Reading a pixel waits until all is drawn.
  context.getImageData(0, 0, 1, 1);
  return performance.now() - began;
}

Object.assign(globalThis, { prepare, redraw });
