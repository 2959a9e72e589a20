import type { ReactNode } from "react";
import { requestCheckAgain } from "../../actions/first-run.ts";
import { runCommand } from "../../commands/handlers.ts";
import { commandById } from "../../commands/table.ts";
import { Button } from "../../parts/button.tsx";
import type { GlyphName } from "../../parts/glyphs.tsx";
import { Icon, ProductMark } from "../../parts/icon.tsx";
import { KeyCaps } from "../../parts/key-caps.tsx";
import { Ready } from "../../parts/states.tsx";
import { useQuery } from "../../service/use-query.ts";
import { type DoctorRow, doctorQuery } from "../../service/views.ts";
import { RecordingFigure, StarterFigure } from "./figures.tsx";
import { cutCall, recordedPrompts, recordingKilobytes } from "./recording.ts";

const run = (id: string) => () => void runCommand(commandById(id));

function Card({
  figure,
  title,
  text,
  facts,
  children,
}: {
  readonly figure: ReactNode;
  readonly title: string;
  readonly text: string;
  readonly facts: string;
  readonly children: ReactNode;
}) {
  return (
    <section className="flex flex-col rounded-3 border border-line-strong bg-raised px-4.5 pt-4 pb-4.5">
      <div className="-mx-4.5 -mt-4 rounded-t-[7px] border-b border-line bg-sunken px-4.5 pt-4 pb-2">{figure}</div>
      <h2 className="mt-3 mb-0 text-md font-strong">{title}</h2>
      <p className="mt-1 mb-2 flex-1 text-sm text-secondary">{text}</p>
      <p className="mt-0.5 mb-3.5 text-2xs font-medium text-muted">{facts}</p>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
    </section>
  );
}

function glyphOfPart(name: string): GlyphName {
  const word = name.toLowerCase();
  if (word.includes("gpu") || word.includes("cuda")) return "gpu";
  if (word.includes("proxy") || word.includes("network")) return "proxy";
  if (word.includes("disk") || word.includes("store")) return "disk";
  if (word.includes("harness") || word.includes("node") || word.includes("runtime")) return "harness";
  if (word.includes("policy") || word.includes("endpoint") || word.includes("model")) return "rec";
  if (word.includes("display")) return "bottom";
  if (/sandbox|docker|kubernetes/.test(word)) return "sandbox";
  return "info";
}

const light = { ready: "bg-success", degraded: "bg-paused", missing: "shadow-[inset_0_0_0_1.5px_var(--of-border-control)]" } as const;

function Found({ row }: { readonly row: DoctorRow }) {
  return (
    <li className="border-b border-line py-1.25 text-xs">
      <div className="grid grid-cols-[1rem_8.25rem_minmax(0,1fr)_0.625rem] items-center gap-2">
        <Icon name={glyphOfPart(row.name)} size={0.875} className="text-muted" />
        <b className="truncate font-medium" title={row.name}>
          {row.name}
        </b>
        <span className="text-secondary">{row.detail}</span>
        <i className={`size-2 rounded-full ${light[row.status]}`} title={row.status} />
        <span className="sr-only">{row.status}</span>
      </div>
      {row.status !== "ready" && row.remedy !== null && <p className="m-0 pl-[10.25rem] text-2xs leading-4 text-muted">{row.remedy}</p>}
    </li>
  );
}

interface NextProps {
  readonly glyph: GlyphName;
  readonly command: string;
  readonly title: string;
  readonly about: string;
}

function Next({ glyph, command, title, about }: NextProps) {
  const [key] = commandById(command).keys;
  return (
    <li className="flex h-7 items-center gap-2 border-b border-line text-xs">
      <Icon name={glyph} size={0.875} className="text-muted" />
      <button type="button" className="font-medium text-link hover:underline" onClick={run(command)}>
        {title}
      </button>
      <span className="min-w-0 flex-1 truncate text-muted">{about}</span>
      {key !== undefined && <KeyCaps value={key} />}
    </li>
  );
}

const listHead = "m-0 border-b border-line-strong pb-1.25 text-xs font-strong";

/** An empty store: two things that work now, what this computer has, and where to go from here. */
export function FirstRun() {
  const doctor = useQuery(doctorQuery);
  return (
    <div className="grid min-h-0 flex-1 place-items-center overflow-auto p-6" data-pane tabIndex={-1}>
      <div className="w-full max-w-[62.5rem]">
        <div className="mb-6.5 flex items-center gap-4">
          <ProductMark size={3} />
          <div>
            <h1 className="m-0 text-xl font-strong tracking-[-0.02em]">Two things to try first</h1>
            <p className="m-0 mt-1 text-sm text-secondary">Both work now, on this computer. They need no GPU, no Docker and no account.</p>
          </div>
        </div>
        <div className="grid grid-cols-2 gap-5 slim:grid-cols-1">
          <Card
            figure={<RecordingFigure />}
            title="Open the bundled recording"
            text={`A ReACT harness repairs a price list and fails: call ${cutCall} reads a cut tool result. Read its ${recordedPrompts.length} calls, its tokens with their masks, and what the verifier said.`}
            facts={`${recordedPrompts.length} calls, 1 rollout, ${recordingKilobytes} kB on disk`}
          >
            <Button look="primary" glyph="rec" onClick={run("recording.open")} autoFocus>
              Open recording
            </Button>
            <span className="text-2xs font-medium text-muted">recorded replay, nothing is executed</span>
          </Card>
          <Card
            figure={<StarterFigure />}
            title="Run the starter experiment"
            text="A small policy works on shell tasks through the ReACT harness, as a real process in local sandboxes, and GRPO makes it better at them. You see its curves live, every rollout behind every step, and before and after on tasks it was not trained on."
            facts="a few minutes on 2 cores, nothing to download"
          >
            <Button glyph="play" onClick={run("experiment.starter")}>
              Run starter
            </Button>
            <Button look="ghost" onClick={run("screen.tasks")}>
              Look at the tasks first
            </Button>
          </Card>
        </div>
        <div className="mt-5.5 grid grid-cols-2 gap-5 slim:grid-cols-1">
          <section>
            <h3 className={listHead}>Found on this computer</h3>
            <Ready state={doctor} reading="Looking at this computer">
              {(rows) => (
                <ul className="m-0 list-none p-0">
                  {rows.map((row) => (
                    <Found key={row.name} row={row} />
                  ))}
                </ul>
              )}
            </Ready>
            <div className="mt-2.5 flex gap-2">
              <Button small onClick={run("policy.add")}>
                Add a policy…
              </Button>
              <Button small look="ghost" glyph="refresh" onClick={requestCheckAgain}>
                Check again
              </Button>
            </div>
          </section>
          <section>
            <h3 className={listHead}>When you are ready</h3>
            <ul className="m-0 list-none p-0">
              <Next glyph="train" command="train.new" title="Train a policy of your own" about="from a run file" />
              <Next glyph="plus" command="experiment.new" title="Plan an experiment" about="tasks, harnesses and a policy of your choice" />
              <Next glyph="tasks" command="task.new" title="Write a task" about="instruction, verifier, gold solution" />
              <Next glyph="link" command="attach.start" title="Attach a program" about="record an agent that runs outside any sandbox" />
              <Next glyph="download" command="recordings.import" title="Import recordings" about="Harbor jobs, Inspect logs, ATIF documents" />
              <Next glyph="harness" command="screen.harnesses" title="Install a harness" about="and probe whether its calls arrive" />
              <Next glyph="keyboard" command="keys.show" title="Keys" about="every command, one page" />
            </ul>
          </section>
        </div>
      </div>
    </div>
  );
}
