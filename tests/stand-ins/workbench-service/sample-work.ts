/** Long work of the stand-in service: lines now and then, and one result. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function* lines<R>(texts: readonly string[], result: R) {
  for (const line of texts) {
    yield { type: "progress" as const, line };
    await pause(60);
  }
  yield { type: "result" as const, result };
}
