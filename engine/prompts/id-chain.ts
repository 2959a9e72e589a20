/** Ids of a prompt held as what it adds to an earlier call, so that a rollout whose prompt grows costs linear space. */

interface Sampled<Call> {
  readonly prompt: IdChain<Call>;
  readonly sampledIds: Int32Array;
}

export interface IdChain<Call> {
  /** The call whose prompt and sampled ids come first; null for none. */
  readonly before: Call | null;
  readonly added: Int32Array;
}

export function concatenateIds(parts: readonly Int32Array[]): Int32Array {
  const ids = new Int32Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    ids.set(part, offset);
    offset += part.length;
  }
  return ids;
}

/** All ids of the chain. */
export function idsOf<Call extends Sampled<Call>>(chain: IdChain<Call>): Int32Array {
  const parts = [chain.added];
  for (let call = chain.before; call !== null; call = call.prompt.before) parts.push(call.sampledIds, call.prompt.added);
  return concatenateIds(parts.reverse());
}
