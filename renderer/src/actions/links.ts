import { notify, notifyFailure } from "../state/notices.ts";
import { type Place, placeLink } from "../state/places.ts";
import { activePlace, useWorkspace } from "../state/workspace.ts";

/** Puts text on the clipboard and says so where the person looks for it. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify({ tone: "neutral", title: `${what} copied`, text });
  } catch (error) {
    notifyFailure(error);
  }
}

export const copyLink = (place: Place): Promise<void> => copyText(placeLink(place), "Link");
export const copyPlaceLink = (): Promise<void> => copyLink(activePlace(useWorkspace.getState()));
