import { type ReactNode, useState } from "react";
import { useCommands } from "../../commands/handlers.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Chip } from "../../parts/chip.tsx";
import { Segmented } from "../../parts/choice.tsx";
import type { GlyphName } from "../../parts/glyphs.tsx";
import { Icon } from "../../parts/icon.tsx";
import { PaneHeader, PaneTitle } from "../../parts/pane.tsx";
import { FailureNote, Note } from "../../parts/states.tsx";
import { WorkLines } from "../../parts/work-lines.tsx";
import { presentClient } from "../../service/connection.ts";
import { type LongWork, startWork, stopWork, useLongWork } from "../../service/long-work.ts";
import { put } from "../../service/queries.ts";
import { useQuery } from "../../service/use-query.ts";
import { type TaskRunView, type TaskView, taskCheckQuery } from "../../service/views.ts";
import { notifyFailure } from "../../state/notices.ts";
import { openOverlay } from "../../state/overlays.ts";
import { plural, reward } from "../../words/numbers.ts";
import { seconds } from "../../words/times.ts";
import { type CheatResults, cheatHolds, cheatVerdict, runVerdict, type Verdict } from "./bench.ts";

interface CheckProps {
  readonly glyph: GlyphName;
  readonly title: string;
  readonly must: string;
  readonly about: string;
  readonly verdict: Verdict | null;
  readonly time: number | null;
  readonly running: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly children?: ReactNode;
}

const verdictGlyph = { success: "ok", failed: "fail", infra: "infra", running: "running", neutral: "cancelled", paused: "clock" } as const;

/** One check: what it must score, what it scored, and the button that runs it. */
function Check({ glyph, title, must, about, verdict, time, running, onRun, onStop, children }: CheckProps) {
  return (
    <div className="border-b border-line px-3 py-1.75 text-xs leading-[1.0625rem]">
      <div className="flex items-center gap-2.5">
        <Icon name={glyph} className="text-secondary" />
        <div className="min-w-0 flex-1">
          <b>{title}</b> <span className="text-muted">{must}</span>
          <span className="block truncate text-2xs text-muted">{about}</span>
        </div>
        {verdict !== null && (
          <Chip tone={verdict.tone} glyph={verdictGlyph[verdict.tone]}>
            {verdict.word}
          </Chip>
        )}
        <span className="w-11 text-right text-muted tabular-nums">{time === null ? "" : seconds(time)}</span>
        {running ? (
          <IconButton glyph="stop" label={`Stop ${title.toLowerCase()}`} onClick={onStop} />
        ) : (
          <IconButton glyph="play" label={`Run ${title.toLowerCase()}`} onClick={onRun} />
        )}
      </div>
      {children !== undefined && <div className="pl-6.5">{children}</div>}
    </div>
  );
}

function RunLines({ work, onStop }: { readonly work: LongWork<TaskRunView>; readonly onStop: () => void }) {
  const detail = work.result?.detail ?? (work.result?.cause == null ? null : work.result.cause);
  if (work.status === "done" && work.result?.ok === true) return null;
  return <WorkLines work={work} onStop={onStop} done={detail} failed />;
}

function Cheats({ work, onStop }: { readonly work: LongWork<CheatResults>; readonly onStop: () => void }) {
  if (work.result === null) return <WorkLines work={work} onStop={onStop} done={null} />;
  return (
    <ul className="m-0 mt-1.5 list-none p-0">
      {work.result.results.map((cheat) => {
        const holds = cheatHolds(cheat);
        return (
          <li key={cheat.name} className={`flex h-5 items-center gap-2 ${holds === false ? "font-strong text-failed" : "text-secondary"}`}>
            <code className="min-w-0 flex-1 truncate">{cheat.name}</code>
            {cheat.reward === null && <span className="text-2xs">{cheat.cause ?? cheat.status}</span>}
            <span className="tabular-nums">{reward(cheat.reward)}</span>
            <Icon name={holds === null ? "infra" : holds ? "check" : "close"} size={0.875} className={holds === true ? "text-success" : ""} />
          </li>
        );
      })}
    </ul>
  );
}

/** Validate, gold, empty, cheats: the same verbs as on the command line. */
export function TestBench({ task }: { readonly task: TaskView }) {
  const { path } = task;
  const [sandbox, setSandbox] = useState<"local" | "docker">("local");
  const check = useQuery(taskCheckQuery(path));
  const gold = useLongWork<TaskRunView>(`gold:${path}`);
  const empty = useLongWork<TaskRunView>(`empty:${path}`);
  const cheats = useLongWork<CheatResults>(`cheats:${path}`);
  const input = { path, sandbox };
  const runGold = () => startWork(`gold:${path}`, (client, signal) => client.tasks.runGold(input, { signal }));
  const runEmpty = () => startWork(`empty:${path}`, (client, signal) => client.tasks.runEmpty(input, { signal }));
  const runCheats = () => startWork(`cheats:${path}`, (client, signal) => client.tasks.runCheats(input, { signal }));
  const validate = async (): Promise<void> => {
    try {
      put(taskCheckQuery(path), await presentClient().tasks.check({ path }));
    } catch (error) {
      notifyFailure(error);
    }
  };
  const runAll = async (): Promise<void> => {
    await validate();
    await runGold();
    await runEmpty();
    await runCheats();
  };
  useCommands({ "tasks.check": () => void validate(), "tasks.all": () => void runAll() });
  const running = [gold, empty, cheats].some((work) => work.status === "running");
  const faults = check.value?.faults ?? task.faults;
  const errors = faults.filter((fault) => fault.severity === "error").length;
  const valid: Verdict | null =
    check.value === undefined ? null : check.value.valid ? { tone: "success", word: "valid" } : { tone: "failed", word: plural(errors, "error") };
  return (
    <>
      <PaneHeader>
        <PaneTitle>Test bench</PaneTitle>
        <Segmented
          small
          label="Sandbox"
          value={sandbox}
          onChange={setSandbox}
          options={[
            { value: "local", label: "Local" },
            { value: "docker", label: "Docker" },
          ]}
        />
        <span className="flex-1" />
        <Button small glyph="play" command="tasks.all" onClick={() => void runAll()} disabledBecause={running ? "A check is running" : null}>
          Run all
        </Button>
      </PaneHeader>
      <div className="min-h-0 flex-1 overflow-auto">
        <Check
          glyph="tasks"
          title="Validate"
          must="no errors"
          about={`${plural(faults.length - errors, "warning")}`}
          verdict={valid}
          time={null}
          running={false}
          onRun={() => void validate()}
          onStop={() => undefined}
        >
          {check.failure === null ? undefined : <FailureNote failure={check.failure} />}
        </Check>
        <Check
          glyph="gold"
          title="Gold"
          must="must score max"
          about="solution/solve.sh"
          verdict={runVerdict(gold)}
          time={gold.result?.seconds ?? null}
          running={gold.status === "running"}
          onRun={() => void runGold()}
          onStop={() => stopWork(`gold:${path}`)}
        >
          <RunLines work={gold} onStop={() => stopWork(`gold:${path}`)} />
        </Check>
        <Check
          glyph="empty"
          title="Empty"
          must="must score 0.00"
          about="nothing done"
          verdict={runVerdict(empty)}
          time={empty.result?.seconds ?? null}
          running={empty.status === "running"}
          onRun={() => void runEmpty()}
          onStop={() => stopWork(`empty:${path}`)}
        >
          <RunLines work={empty} onStop={() => stopWork(`empty:${path}`)} />
        </Check>
        <Check
          glyph="cheat"
          title="Cheats"
          must="must score 0.00"
          about="cheats/*/solve.sh"
          verdict={cheatVerdict(cheats)}
          time={null}
          running={cheats.status === "running"}
          onRun={() => void runCheats()}
          onStop={() => stopWork(`cheats:${path}`)}
        >
          <Cheats work={cheats} onStop={() => stopWork(`cheats:${path}`)} />
        </Check>
        <Check
          glyph="runs"
          title="Try"
          must="k rollouts"
          about="with a harness and a policy"
          verdict={null}
          time={null}
          running={false}
          onRun={() => openOverlay({ kind: "new-experiment", tasks: [path] })}
          onStop={() => undefined}
        />
        {errors > 0 && (
          <div className="p-3">
            <Note look="warn">A task with errors cannot run. Correct what is listed under Faults, then validate again.</Note>
          </div>
        )}
      </div>
    </>
  );
}
