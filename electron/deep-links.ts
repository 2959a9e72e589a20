/**
 * `openforge://…` links from other programs: the system starts the app with one, hands it to the running one, or (macOS) tells it. The
 * window says when it listens; a link that came before that waits. The shell only passes links on: what one names, and that it starts
 * nothing, is the window's to know.
 */
const scheme = "openforge://";
const longest = 2000;

/** The link among the arguments of a start; null when there is none. The last one counts: programs put it at the end. */
export function linkAmong(args: readonly string[]): string | null {
  return args.findLast((argument) => argument.startsWith(scheme) && argument.length <= longest) ?? null;
}

interface LinkDesk {
  arrived(link: string | null): void;
  /** The window listens, with this; it is told what waited. */
  listens(tell: (link: string) => void): void;
  /** The window is gone, or its page is read anew. */
  left(): void;
}

export function createLinkDesk(): LinkDesk {
  let waiting: string | null = null;
  let listener: ((link: string) => void) | null = null;
  const pass = (): void => {
    if (waiting === null || listener === null) return;
    const link = waiting;
    waiting = null;
    listener(link);
  };
  return {
    arrived(link) {
      if (link === null) return;
      waiting = link;
      pass();
    },
    listens(tell) {
      listener = tell;
      pass();
    },
    left() {
      listener = null;
    },
  };
}
