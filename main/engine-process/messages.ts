/** The envelope between the service and an engine process, over the process's own channel (structured clones, typed arrays whole). */

export type ToChild<Options, Request> =
  | { readonly type: "open"; readonly options: Options }
  | { readonly type: "ask"; readonly id: number; readonly request: Request }
  | { readonly type: "cancel"; readonly id: number };

/** An expected failure, told as data: a word for the program and a sentence for people. */
export interface ChildFailure {
  readonly kind: string;
  readonly message: string;
}

export type FromChild<Info, Reply> =
  | { readonly type: "opened"; readonly info: Info }
  | { readonly type: "not-opened"; readonly message: string }
  | { readonly type: "progress"; readonly id: number; readonly done: number; readonly total: number }
  | { readonly type: "token"; readonly id: number; readonly token: number }
  | { readonly type: "answered"; readonly id: number; readonly reply: Reply }
  | { readonly type: "failed"; readonly id: number; readonly failure: ChildFailure };
