/** Colours for canvases: a canvas cannot read light-dark(), so a probe element resolves the roles, anew when the theme changes. */
import { useEffect, useState } from "react";
import { useAppearance } from "../state/appearance.ts";
import { type Inks, seriesCount } from "./paint.ts";

function readInks(): Inks {
  const probe = document.createElement("span");
  document.body.append(probe);
  const ink = (role: string): string => {
    probe.style.color = `var(--of-${role})`;
    return getComputedStyle(probe).color;
  };
  const inks = {
    series: Array.from({ length: seriesCount }, (_, slot) => ink(`series-${slot + 1}`)),
    grid: ink("grid"),
    surface: ink("surface"),
  };
  probe.remove();
  return inks;
}

const wishes = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"] as const;

export function useInks(): Inks {
  const [inks, setInks] = useState(readInks);
  useEffect(() => {
    // The appearance is applied by a listener of its own; one frame later it holds.
    const again = (): void => void requestAnimationFrame(() => setInks(readInks()));
    const end = useAppearance.subscribe(again);
    const media = wishes.map((wish) => matchMedia(wish));
    for (const each of media) each.addEventListener("change", again);
    return () => {
      end();
      for (const each of media) each.removeEventListener("change", again);
    };
  }, []);
  return inks;
}
