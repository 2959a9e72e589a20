/** Do malformed requests and servers that garble their answers break the proxy or its record? Does it answer each in its client's form? */

import { fuzzRequests } from "../stand-ins/fuzz/fuzz-requests.ts";
import { fuzzStreams } from "../stand-ins/fuzz/fuzz-streams.ts";
import type { FuzzReport } from "../stand-ins/fuzz/fuzz-tally.ts";
import type { Study, Table } from "./form/study.ts";

/** Each is a proxy and a store of its own. */
const seeds = [1, 2, 3, 4, 5];

export const study: Study = async ({ short, report }) => {
  const all: { requests: FuzzReport[]; streams: FuzzReport[] } = { requests: [], streams: [] };
  for (const seed of short ? seeds.slice(0, 1) : seeds) {
    all.requests.push(await fuzzRequests(short ? 600 : 2_000, seed));
    all.streams.push(await fuzzStreams(short ? 150 : 400, seed));
    report(`seed ${seed}: ${[...all.requests, ...all.streams].reduce((sum, { faults }) => sum + faults.length, 0)} faults so far`);
  }
  const faults = [...all.requests, ...all.streams].flatMap((each) => each.faults);
  for (const fault of faults) report(fault);
  const [requests, streams] = [casesOf(all.requests), casesOf(all.streams)];
  return {
    title: "Fuzz",
    method: [
      `${requests} requests to sessions in every token mode and to attached addresses: OpenAI Chat Completions and Responses, Anthropic Messages, Gemini, token counts and lists of models, each with spoilt JSON, bytes, encodings, paths, methods, or keys, with its HTTP broken (first line, headers, length, chunks, something else than HTTP), or from a client that leaves. ${streams} calls whose upstream, of every kind there is, answers with spoilt JSON or events, cuts, resets, errors that say nothing, or not at all.`,
      "A case is a fault when there is no reply within its time, a reply that is neither an answer nor an error in its client's dialect, a bug that is owned up to, a record that differs from what was counted or can't be read again, anything that `store check` finds, or a socket that is left open. A seed and a number make a case again.",
    ],
    tables: [outcomes("Replies to malformed requests", "reply", all.requests), outcomes("Garbled answers", "upstream and reply", all.streams)],
    promised: [
      { statement: `${requests} malformed requests: ${faultsOf(all.requests)} faults`, holds: faultsOf(all.requests) === 0 },
      { statement: `${streams} garbled answers: ${faultsOf(all.streams)} faults`, holds: faultsOf(all.streams) === 0 },
    ],
    found: faults,
  };
};

function casesOf(reports: readonly FuzzReport[]): number {
  return reports.reduce((sum, { cases }) => sum + cases, 0);
}

function faultsOf(reports: readonly FuzzReport[]): number {
  return reports.reduce((sum, { faults }) => sum + faults.length, 0);
}

function outcomes(title: string, column: string, reports: readonly FuzzReport[]): Table {
  const totals = new Map<string, number>();
  for (const report of reports)
    for (const [outcome, count] of Object.entries(report.outcomes)) totals.set(outcome, (totals.get(outcome) ?? 0) + count);
  return {
    title,
    columns: [column, "number"],
    rows: [...totals].sort(([left], [right]) => (left < right ? -1 : 1)).map(([outcome, count]) => [outcome, String(count)]),
  };
}
