/** What the desktop shell offers beside the service; null in a browser. */
interface DesktopShell {
  readonly pickFolder: () => Promise<string | null>;
  readonly pickFile: () => Promise<string | null>;
  /** Calls back with each `openforge://…` link that another program opens. */
  readonly onLink: (take: (link: string) => void) => void;
}

declare global {
  interface Window {
    readonly openforgeShell?: DesktopShell;
  }
}

export const desktop: DesktopShell | null = window.openforgeShell ?? null;
