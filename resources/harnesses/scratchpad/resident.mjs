/**
 * A resident harness: one process, many tasks. It is told by lines of JSON on its standard input and answers by lines on its standard
 * output; docs/harnesses.md describes them ("Resident harnesses"). Nothing of one task stays for the next.
 */
import { createInterface } from "node:readline";

/**
 * Serves until its input ends. `runTask(config, task, { events, signal, shell })` does one task and resolves with
 * `{ exitCode, text, error }`; `shell({ command, seconds, outputBytes, stdin })` runs bash text in the task's own sandbox and resolves
 * with `{ output, exitCode, timedOut }`.
 */
export async function serve(runTask) {
  const sessions = new Map();
  const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  say({ type: "ready" });
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    const { session } = message;
    if (message.type === "start") {
      const opened = openSession(runTask, message, say);
      sessions.set(session, opened);
      opened.ended.then((end) => {
        sessions.delete(session);
        say({ type: "end", session, ...end });
      });
    } else if (message.type === "result") sessions.get(session)?.answer(message);
    else if (message.type === "stop") sessions.get(session)?.stop();
  }
  process.exit(0);
}

function openSession(runTask, { session, baseUrl, key, model, task, workdir, contextWindow, maxTokens, settings }, say) {
  const stop = new AbortController();
  const waiting = new Map();
  let lastId = 0;
  const shell = ({ command, seconds, outputBytes, stdin }) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      say({ type: "exec", session, id: lastId, command, seconds, outputBytes, stdin });
    });
  const events = (event) => say({ type: "log", session, line: { at: new Date().toISOString(), ...event } });
  const config = { ...settings, baseUrl, key, model, workdir, contextWindow, maxTokens };
  return {
    ended: runTask(config, task, { events, signal: stop.signal, shell }),
    stop() {
      stop.abort(new Error("stopped by the workbench"));
      for (const { reject } of waiting.values()) reject(stop.signal.reason);
      waiting.clear();
    },
    answer({ id, error, output, exitCode, timedOut }) {
      const asked = waiting.get(id);
      waiting.delete(id);
      if (error === null) asked?.resolve({ output, exitCode, timedOut });
      else asked?.reject(new Error(error));
    },
  };
}
