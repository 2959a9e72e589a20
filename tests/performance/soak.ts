import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { type BenchmarkRow, rowOf } from "./measure/compare.ts";
import { type SoakResult, soak } from "./soak/soak.ts";

const counts = { local: 1000, docker: 100 } as const;

/** 1,000 local rollouts and 100 in Docker through one service: what is left, and whether memory stays flat. */
export async function benchmark(note: (line: string) => void): Promise<readonly BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  for (const kind of ["local", "docker"] as const) {
    const { ready, detail } = await sandboxProviders({ stateFolder: "/nonexistent" }).docker.probe();
    if (kind === "docker" && !ready) {
      note(`Docker cannot be used: ${detail}`);
      continue;
    }
    const result = await soak({ kind, rollouts: counts[kind], note: (line) => note(`${kind}: ${line}`) });
    for (const line of result.left) note(`${kind}: left behind: ${line}`);
    rows.push(...rowsOf(kind, result));
  }
  return rows;
}

function rowsOf(kind: keyof typeof counts, result: SoakResult): readonly BenchmarkRow[] {
  const what = `${counts[kind]} rollouts in a row, ${kind}`;
  return [
    rowOf({ name: `${what}: solved`, unit: "rollouts", aim: `${counts[kind]}` }, [result.solved], null),
    rowOf({ name: `${what}: processes, containers, sockets, folders left`, unit: "", aim: "0" }, [result.left.length], null),
    rowOf({ name: `${what}: open descriptors more than before`, unit: "", aim: "0" }, [result.descriptors], null),
    rowOf({ name: `${what}: memory that grows`, unit: "bytes a rollout", aim: "about 0" }, [result.bytesARollout], null),
    rowOf({ name: `${what}: wall time`, unit: "ms a rollout", aim: "-" }, [result.msARollout], null),
  ];
}
