/** The child's side: opens once, answers what it is asked, ends when its parent does. */
import type { ChildFailure, FromChild, ToChild } from "./messages.ts";

export interface AskContext {
  /** Aborts when the asker has gone. */
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
  /** Of an answer that is still being sampled. */
  readonly onToken: (token: number) => void;
}

export interface ChildHandler<Request, Reply> {
  answer(request: Request, context: AskContext): Promise<Reply>;
}

export interface ChildProgram<Options, Info, Request, Reply> {
  open(options: Options): Promise<{ readonly info: Info; readonly handler: ChildHandler<Request, Reply> }>;
  /** What is expected to go wrong, by kind; null = told as `failed`. */
  failureOf(error: unknown): ChildFailure | null;
}

export function serveParent<Options, Info, Request, Reply>(program: ChildProgram<Options, Info, Request, Reply>): void {
  const running = new Map<number, AbortController>();
  let opened: Promise<ChildHandler<Request, Reply>> | null = null;
  const send = (message: FromChild<Info, Reply>): void => {
    if (process.connected) process.send?.(message);
  };

  async function answer(handler: ChildHandler<Request, Reply>, id: number, request: Request): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const onProgress = (done: number, total: number): void => send({ type: "progress", id, done, total });
      const onToken = (token: number): void => send({ type: "token", id, token });
      send({ type: "answered", id, reply: await handler.answer(request, { signal: controller.signal, onProgress, onToken }) });
    } catch (error) {
      send({ type: "failed", id, failure: program.failureOf(error) ?? { kind: "failed", message: sentence(error) } });
    } finally {
      running.delete(id);
    }
  }

  process.on("message", (message: ToChild<Options, Request>) => {
    if (message.type === "open") {
      opened = program.open(message.options).then(({ info, handler }) => {
        send({ type: "opened", info });
        return handler;
      });
      opened.catch((error: unknown) => send({ type: "not-opened", message: sentence(error) }));
    } else if (message.type === "cancel") {
      running.get(message.id)?.abort(new Error("cancelled"));
    } else {
      void opened?.then((handler) => answer(handler, message.id, message.request));
    }
  });
  // The channel closes when the parent ends, however it ends.
  process.on("disconnect", () => process.exit(0));
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
