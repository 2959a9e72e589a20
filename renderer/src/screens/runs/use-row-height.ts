import { useEffect, useState } from "react";
import { useAppearance } from "../../state/appearance.ts";

/** Height of a table row in px: a token in rem, so it follows density and the size of text. */
export function useRowHeight(): number {
  const density = useAppearance((state) => state.density);
  const [height, setHeight] = useState(28);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the density is what changes the token
  useEffect(() => {
    const root = getComputedStyle(document.documentElement);
    const rem = Number.parseFloat(root.fontSize);
    setHeight(Number.parseFloat(root.getPropertyValue("--of-row")) * rem || 28);
  }, [density]);
  return height;
}
