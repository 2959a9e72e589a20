/** The token of this service: it arrives in the fragment of the printed address and stays in this tab, for this origin. */
const storageKey = "openforge.token";

/** Splits `#token=…` from a fragment. The rest is the place to open. */
export function splitFragment(fragment: string): { readonly token: string | null; readonly place: string } {
  const parts = fragment.replace(/^#/, "").split("&");
  const found = parts.find((part) => part.startsWith("token="));
  const token = found === undefined ? null : decodeURIComponent(found.slice("token=".length));
  return { token, place: parts.filter((part) => part !== found).join("&") };
}

/** Takes the token out of the address bar, so that it is in no bookmark and no screenshot, and gives the one to use. */
export function takeToken(): string | null {
  const { token, place } = splitFragment(location.hash);
  if (token !== null) {
    sessionStorage.setItem(storageKey, token);
    history.replaceState(null, "", `${location.pathname}${location.search}${place === "" ? "" : `#${place}`}`);
  }
  return sessionStorage.getItem(storageKey);
}
