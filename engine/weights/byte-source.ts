/** Random access to a file's bytes, given by the caller: the engine opens nothing itself. */
export interface ByteSource {
  /** Name for messages. */
  readonly name: string;
  /** Length in bytes. */
  readonly size: number;
  /** Exactly `length` bytes from `offset`; both lie inside the file. */
  read(offset: number, length: number): Uint8Array;
}
