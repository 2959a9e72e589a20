/** Links lead to places. The address bar names the open place, so that a reload, a link from the shell and the back button find it. */
import { desktop } from "./desktop.ts";
import { notify } from "./notices.ts";
import { parsePlace, placePath } from "./places.ts";
import { activePlace, openPlace, useWorkspace } from "./workspace.ts";

function openNamed(): void {
  const place = parsePlace(location.hash);
  if (place !== null) openPlace(place);
}

/** A link from another program; it leads somewhere and starts nothing. */
function openLink(link: string): void {
  const place = parsePlace(link);
  if (place !== null) openPlace(place);
  else notify({ tone: "failed", title: "The link names no place here.", text: `${link} is of another version, or was cut.` });
}

export function startLocation(): void {
  openNamed();
  desktop?.onLink(openLink);
  window.addEventListener("hashchange", openNamed);
  useWorkspace.subscribe((state, before) => {
    const path = placePath(activePlace(state));
    if (path !== placePath(activePlace(before))) history.replaceState(null, "", `#/${path}`);
  });
}
