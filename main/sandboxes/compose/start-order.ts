/** The order in which services can be started. */

/** `needs`: names that must come before. Null when some need each other; then `circle` names them. */
export function startOrder(
  names: readonly string[],
  needs: (name: string) => readonly string[],
): { readonly order: readonly string[] } | { readonly circle: readonly string[] } {
  const order: string[] = [];
  const path: string[] = [];
  const place = (name: string): readonly string[] | null => {
    if (order.includes(name)) return null;
    const at = path.indexOf(name);
    if (at >= 0) return [...path.slice(at), name];
    path.push(name);
    for (const needed of needs(name)) {
      const circle = place(needed);
      if (circle !== null) return circle;
    }
    path.pop();
    order.push(name);
    return null;
  };
  for (const name of names) {
    const circle = place(name);
    if (circle !== null) return { circle };
  }
  return { order };
}
