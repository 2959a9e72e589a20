/** A number, or the name of a dimension that is known only when the graph runs. */
export type Dimension = number | string;
/** Outermost first; [] is a scalar. */
export type Shape = readonly Dimension[];

/** Elements of a tensor whose dimensions are all known. */
export function elementCount(shape: Shape): number {
  return shape.reduce<number>((product, size) => product * knownSize(size), 1);
}

/** A dimension that must be known when the graph is built. */
export function knownSize(dimension: Dimension | undefined): number {
  if (typeof dimension !== "number") throw new RangeError(`the dimension ${dimension ?? "beyond the last"} is not known before the graph runs`);
  return dimension;
}

/** Shape of an elementwise operation on two tensors (NumPy's rule). Throws RangeError when they do not fit. */
export function broadcast(left: Shape, right: Shape): Shape {
  const rank = Math.max(left.length, right.length);
  return Array.from({ length: rank }, (_unused, index) => {
    const a = left[left.length - rank + index] ?? 1;
    const b = right[right.length - rank + index] ?? 1;
    if (a !== b && a !== 1 && b !== 1) throw new RangeError(`shapes [${left.join()}] and [${right.join()}] do not broadcast`);
    return a === 1 ? b : a;
  });
}

/** `axis` counted from the front; negative ones count from the back. */
export function frontAxis(shape: Shape, axis: number): number {
  return axis < 0 ? axis + shape.length : axis;
}

/** The shape with one dimension replaced. */
export function withDimension(shape: Shape, axis: number, size: Dimension): Shape {
  return shape.map((old, index) => (index === frontAxis(shape, axis) ? size : old));
}
