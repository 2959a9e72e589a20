/** What the desktop shell offers beside the service; null in a browser. */
interface DesktopShell {
  readonly pickFolder: () => Promise<string | null>;
}

declare global {
  interface Window {
    readonly openforgeShell?: DesktopShell;
  }
}

export const desktop: DesktopShell | null = window.openforgeShell ?? null;
