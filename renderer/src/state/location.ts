/** The address bar names the open place, so that a reload, a link from the shell and the back button find it. */
import { parsePlace, placePath } from "./places.ts";
import { activePlace, openPlace, useWorkspace } from "./workspace.ts";

function openNamed(): void {
  const place = parsePlace(location.hash);
  if (place !== null) openPlace(place);
}

export function startLocation(): void {
  openNamed();
  window.addEventListener("hashchange", openNamed);
  useWorkspace.subscribe((state, before) => {
    const path = placePath(activePlace(state));
    if (path !== placePath(activePlace(before))) history.replaceState(null, "", `#/${path}`);
  });
}
