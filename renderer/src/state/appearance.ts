/** Theme, contrast and density: roles on the document element, the system's wishes where the person has none. */
import { z } from "zod";
import { create } from "zustand";

const themes = ["system", "light", "dark"] as const;
const contrasts = ["system", "more", "normal"] as const;
const densities = ["compact", "regular", "comfortable"] as const;

const appearanceSchema = z.object({
  theme: z.enum(themes).catch("system"),
  contrast: z.enum(contrasts).catch("system"),
  density: z.enum(densities).catch("regular"),
});
export type Appearance = z.infer<typeof appearanceSchema>;

export const useAppearance = create<Appearance>(() => appearanceSchema.parse({}));

const wantsContrast = "(prefers-contrast: more)";

function apply({ theme, contrast, density }: Appearance): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  if (contrast === "more" || (contrast === "system" && matchMedia(wantsContrast).matches)) dataset.contrast = "more";
  else delete dataset.contrast;
  if (density === "regular") delete dataset.density;
  else dataset.density = density;
}

/** Applies the appearance now and on every change, of the person's mind or of the system's. */
export function startAppearance(): void {
  apply(useAppearance.getState());
  useAppearance.subscribe(apply);
  matchMedia(wantsContrast).addEventListener("change", () => apply(useAppearance.getState()));
}

/** Reads what was stored; unknown words keep their default. */
export const restoreAppearance = (json: string): void => useAppearance.setState(appearanceSchema.parse(JSON.parse(json)));
