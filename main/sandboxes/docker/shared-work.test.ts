import { expect, it } from "vitest";
import { SharedWork } from "./shared-work.ts";

function heldWork() {
  let finish: (value: string) => void = () => undefined;
  const state = { runs: 0, stopped: false };
  const work = (report: (line: string) => void, signal: AbortSignal): Promise<string> => {
    state.runs += 1;
    queueMicrotask(() => report("begun"));
    return new Promise((resolve, reject) => {
      finish = resolve;
      signal.addEventListener("abort", () => {
        state.stopped = true;
        reject(signal.reason);
      });
    });
  };
  return { work, state, finish: (value: string) => finish(value) };
}

it("runs once for all who ask, tells each, and again only after it ended", async () => {
  const shared = new SharedWork<string>();
  const { work, state, finish } = heldWork();
  const heard: string[] = [];
  const first = shared.share("key", (line) => heard.push(`1 ${line}`), undefined, work);
  const second = shared.share("key", (line) => heard.push(`2 ${line}`), new AbortController().signal, work);
  await Promise.resolve();
  finish("done");
  expect(await Promise.all([first, second])).toEqual(["done", "done"]);
  expect(heard).toEqual(["1 begun", "2 begun"]);
  const third = shared.share("key", () => undefined, undefined, work);
  finish("again");
  expect(await third).toBe("again");
  expect(state).toEqual({ runs: 2, stopped: false });
});

it("goes on while one still waits, stops with the last, and starts anew for a newcomer", async () => {
  const shared = new SharedWork<string>();
  const { work, state, finish } = heldWork();
  const stops = [new AbortController(), new AbortController()];
  const waiting = stops.map((stop) => shared.share("key", () => undefined, stop.signal, work).catch((error: Error) => error.message));
  stops[0]?.abort(new Error("one left"));
  expect(await waiting[0]).toBe("one left");
  expect(state.stopped).toBe(false);
  stops[1]?.abort(new Error("two left"));
  expect(await waiting[1]).toBe("two left");
  expect(state.stopped).toBe(true);
  const newcomer = shared.share("key", () => undefined, undefined, work);
  finish("fresh");
  expect(await newcomer).toBe("fresh");
});
