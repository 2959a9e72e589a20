import { Menu } from "@base-ui/react/menu";
import type { ReactNode } from "react";
import { Hint } from "../parts/hint.tsx";
import { Icon } from "../parts/icon.tsx";
import { useConnection } from "../service/connection.ts";
import { useQuery } from "../service/use-query.ts";
import { doctorQuery, type ExperimentView, experimentsQuery, type PolicyView, policiesQuery, tasksQuery, trainingsQuery } from "../service/views.ts";
import { useNotices } from "../state/notices.ts";
import { openScreen, openTrain, togglePanel } from "../state/workspace.ts";
import { policyWords } from "../words/names.ts";
import { bytes, plural } from "../words/numbers.ts";
import { captureWords } from "../words/policies.ts";
import { moment } from "../words/times.ts";
import { isUnderWay, statusWords } from "../words/training.ts";
import { problemsOf } from "./problems.ts";

function Item({ hint, onClick, children }: { readonly hint: string; readonly onClick: () => void; readonly children: ReactNode }) {
  return (
    <Hint text={hint}>
      <button type="button" onClick={onClick} className="focus-inside inline-flex items-center gap-1.25 px-2 tabular-nums hover:bg-hover">
        {children}
      </button>
    </Hint>
  );
}

const Divider = () => <span className="mx-0.75 inline-block h-2.5 w-px bg-line-strong" />;

/** Quiet about a restart of the service: the light changes, and the word says what happens. */
function ProxyState() {
  const status = useConnection((state) => state.status);
  const address = useConnection((state) => state.info?.proxyAddress ?? null);
  const online = status === "online";
  return (
    <Item
      hint={online ? "Model calls are recorded at this address" : "The service is away; the window reconnects by itself"}
      onClick={() => togglePanel("logs")}
    >
      <span className={`size-1.75 rounded-full ${online ? "bg-success" : "bg-paused"}`} />
      {online ? "Proxy" : status === "connecting" ? "Connecting" : "Reconnecting"} <b className="font-medium text-fg">{online ? address : "…"}</b>
    </Item>
  );
}

/** The policy of the newest experiment: what the recordings of now rest on. */
function policyInUse(
  experiments: readonly ExperimentView[],
  policies: readonly PolicyView[],
): { readonly name: string; readonly capture: string } | null {
  // A recording that nobody has used yet names none.
  const newest = experiments.filter((each) => each.policies.length > 0).sort((left, right) => right.createdAt - left.createdAt)[0];
  const name = newest?.policies[0];
  if (newest === undefined || name === undefined) return null;
  return {
    name: newest.policies.length > 1 ? `${newest.policies.length} policies` : policyWords(name),
    capture: captureWords(newest.policies, policies),
  };
}

function PolicyState() {
  const { value: experiments } = useQuery(experimentsQuery);
  const { value: policies } = useQuery(policiesQuery);
  const inUse = policyInUse(experiments ?? [], policies ?? []);
  return (
    <Item hint="Policy of the newest experiment, and what it gives back with an answer" onClick={() => openScreen("settings")}>
      <Icon name="rec" size={0.75} />
      {inUse === null ? "no policy" : <b className="font-medium text-fg">{inUse.name}</b>}
      <Divider />
      {inUse === null ? "nothing recorded" : inUse.capture}
    </Item>
  );
}

/** The training run that goes on, and how far it is. */
function TrainingState() {
  const { value: runs } = useQuery(trainingsQuery);
  const under = (runs ?? []).filter((run) => isUnderWay(run.status));
  const [first] = under;
  if (first === undefined) return null;
  return (
    <Item
      hint={`${first.name}, seed ${first.seed}: ${first.activity || statusWords(first).word}`}
      onClick={() => openTrain({ id: first.id, step: null })}
    >
      <Icon name="train" size={0.75} />
      {under.length > 1 ? plural(under.length, "training run") : statusWords(first).word}
    </Item>
  );
}

function SandboxState() {
  const { value: doctor } = useQuery(doctorQuery);
  const ready = (doctor ?? [])
    .filter((row) => row.status === "ready" && /sandbox|docker|kubernetes/i.test(row.name))
    .map((row) => row.name.toLowerCase());
  return (
    <Item hint="Where rollouts can run on this computer" onClick={() => openScreen("settings")}>
      <Icon name="sandbox" size={0.75} />
      {doctor === undefined ? "–" : ready.length === 0 ? "no sandbox" : ready.join(", ")}
    </Item>
  );
}

function ProblemState() {
  const { value: tasks } = useQuery(tasksQuery);
  const { value: doctor } = useQuery(doctorQuery);
  const problems = problemsOf(tasks ?? [], doctor ?? []);
  const errors = problems.filter((problem) => problem.severity === "error").length;
  return (
    <Item hint="Problems" onClick={() => togglePanel("problems")}>
      {problems.length === 0 ? (
        "0 problems"
      ) : (
        <>
          <Icon name="fail" size={0.75} />
          {errors} <Icon name="warn" size={0.75} />
          {problems.length - errors}
          <span className="sr-only">
            {plural(errors, "error")}, {plural(problems.length - errors, "warning")}
          </span>
        </>
      )}
    </Item>
  );
}

function Bell() {
  const kept = useNotices((state) => state.kept);
  return (
    <Menu.Root>
      <Menu.Trigger className="focus-inside inline-flex items-center gap-1.25 px-2 hover:bg-hover" aria-label={`Messages, ${kept.length}`}>
        <Icon name="bell" size={0.75} />
        {kept.length > 0 && <span className="tabular-nums">{kept.length}</span>}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="z-40" sideOffset={6} align="end">
          <Menu.Popup className="max-h-96 w-80 overflow-auto rounded-3 border border-line-strong bg-raised p-1 text-xs shadow-2 outline-none">
            {kept.length === 0 && <p className="m-0 p-2 text-muted">No messages. What ends elsewhere is said here.</p>}
            {kept.map((notice) => (
              <Menu.Item
                key={notice.id}
                className="block rounded-2 px-2 py-1.5 outline-none data-[highlighted]:bg-hover"
                onClick={() => notice.action?.run()}
              >
                <span className="float-right pl-2 text-2xs text-muted tabular-nums">{moment(notice.at)}</span>
                <b className="font-medium">{notice.title}</b>
                {notice.text !== null && <span className="block text-secondary">{notice.text}</span>}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

export function StatusBar() {
  const info = useConnection((state) => state.info);
  return (
    <footer className="col-span-2 flex justify-between overflow-hidden border-t border-line bg-chrome px-1.5 text-2xs whitespace-nowrap text-secondary">
      <div className="flex">
        <ProxyState />
        <PolicyState />
        <TrainingState />
      </div>
      <div className="flex slim:hidden">
        <SandboxState />
        <Item hint={info === null ? "Disk used" : `Recordings in ${info.dataFolder}`} onClick={() => openScreen("settings")}>
          <Icon name="disk" size={0.75} />
          {info === null ? "–" : bytes(info.databaseBytes + info.packBytes)}
        </Item>
        <ProblemState />
        <Bell />
      </div>
    </footer>
  );
}
