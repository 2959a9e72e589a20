/** One rollout as a page that stands alone: no scripts, nothing from elsewhere, light and dark, readable when printed. */
import { type BehaviourMeasures, behaviourDefinitions, behaviourMeasureNames } from "../../../engine/behaviour/index.ts";
import type { ExperimentRecord, RolloutRecord, Store } from "../../store/index.ts";
import { readTranscript, rebuildTrajectories, type Trajectories } from "../../trajectories/index.ts";
import { callPanel } from "./call-panel.ts";
import { html, Markup } from "./markup.ts";
import { pageStyle } from "./style.ts";

export interface PageSource {
  readonly store: Store;
  readonly experiment: ExperimentRecord | null;
  readonly rollout: RolloutRecord;
  readonly measures: BehaviourMeasures;
  readonly version: string;
}

export function rolloutPage(source: PageSource): string {
  const { store, rollout, experiment, version } = source;
  const trajectories = rebuildTrajectories(store, rollout.id);
  const calls = readTranscript(store, rollout.id, trajectories);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="OpenForge Workbench ${version}">
<title>${rollout.taskName} · ${rollout.harness} · ${rollout.id}</title>
<style>${new Markup(pageStyle)}</style>
</head>
<body>
<header>
<div class="top">
<h1>${rollout.taskName}</h1>
${outcomeChip(rollout)}
<fieldset class="theme" aria-label="Theme">
<label><input type="radio" name="theme" checked>System</label>
<label><input type="radio" name="theme" id="theme-light">Light</label>
<label><input type="radio" name="theme" id="theme-dark">Dark</label>
</fieldset>
</div>
<p class="sub">${rollout.harness} ${rollout.harnessVersion} · ${rollout.policy} · ${experiment?.name ?? rollout.experimentId} · <span class="mono">${rollout.id}</span></p>
${rollout.outcome?.detail == null ? null : html`<p class="sub">${rollout.outcome.detail}</p>`}
</header>
<main>
<section class="panel"><div class="head"><h2>Rollout</h2></div>${facts(rollout, trajectories)}</section>
${calls.length === 0 ? html`<section class="panel"><div class="head"><h2>Calls</h2></div><p class="message muted">No model call was recorded.</p></section>` : null}
${calls.map((call) => callPanel(store, call))}
<section class="panel"><div class="head"><h2>Behaviour</h2></div>${behaviour(source.measures)}</section>
${trajectories.chains.length === 0 ? null : html`<section class="panel"><div class="head"><h2>Chains</h2><span class="muted">what is trained</span></div>${chainTable(trajectories)}</section>`}
</main>
</body>
</html>
`.html;
}

function outcomeChip({ outcome, phase }: RolloutRecord): Markup {
  if (outcome === null) return html`<span class="chip">${phase}</span>`;
  const cause = outcome.cause === null ? "" : ` · ${outcome.cause}`;
  switch (outcome.status) {
    case "succeeded":
      return html`<span class="chip good">✓ succeeded</span>`;
    case "failed":
      return html`<span class="chip bad">✕ failed${cause}</span>`;
    case "agent-timeout":
      return html`<span class="chip late">◷ agent-timeout${cause}</span>`;
    case "cancelled":
      return html`<span class="chip">– cancelled${cause}</span>`;
    default:
      return html`<span class="chip infra">! ${outcome.status}${cause}</span>`;
  }
}

function facts(rollout: RolloutRecord, trajectories: Trajectories): Markup {
  const seconds = rollout.startedAt === null || rollout.endedAt === null ? null : (rollout.endedAt - rollout.startedAt) / 1000;
  const rewards = rollout.rewards === null ? [] : Object.entries(rollout.rewards).filter(([name]) => name !== "reward");
  const rows: readonly (readonly [string, string])[] = [
    ["reward", shown(rollout.reward, 4)],
    ...rewards.map(([name, value]) => [`reward: ${name}`, shown(value, 4)] as const),
    ["training", rollout.outcome?.action ?? "–"],
    ["trainable", trajectories.trainable ? `yes, ${trajectories.trainedTokens} tokens` : (trajectories.reason ?? "no")],
    ["wall time", seconds === null ? "–" : `${seconds.toFixed(1)} s`],
    ["tokens", `${rollout.promptTokens} prompt, ${rollout.completionTokens} sampled`],
    ["policy version", rollout.policyVersion ?? "–"],
    ["sandbox", rollout.sandbox],
    ["seed", String(rollout.seed)],
    ["attempts", String(rollout.attempts)],
    ["started", rollout.startedAt === null ? "–" : new Date(rollout.startedAt).toISOString()],
    ["task digest", rollout.taskDigest],
  ];
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>${isolation(rollout)}`;
}

function isolation({ isolation: report }: RolloutRecord): Markup | null {
  if (report === null) return null;
  const lines = Object.entries(report).map(([what, how]) => html`<tr><td>${what}</td><td class="muted">${how}</td></tr>`);
  return html`<details class="note"><summary>What the sandbox isolated</summary><table><tbody>${lines}</tbody></table></details>`;
}

function behaviour(measures: BehaviourMeasures): Markup {
  const rows = behaviourMeasureNames.flatMap((name) => {
    const value = measures[name];
    const { name: title, definition, unit } = behaviourDefinitions[name];
    if (value === null) return [];
    const written = unit === "share" ? `${Math.round(value * 100)} %` : unit === "seconds" ? `${value.toFixed(1)} s` : shown(value, 1);
    return [html`<tr><td>${title}</td><td class="num">${written}</td><td class="muted">${definition}</td></tr>`];
  });
  const tools = Object.entries(measures.tools).toSorted(([, left], [, right]) => right - left);
  const used = tools.length === 0 ? null : html`<p class="note muted">Tools: ${tools.map(([tool, count]) => `${tool} × ${count}`).join(", ")}</p>`;
  return html`<div class="wide"><table><thead><tr><th>measure</th><th class="num">value</th><th>definition</th></tr></thead><tbody>${rows}</tbody></table></div>${used}`;
}

function chainTable({ chains }: Trajectories): Markup {
  const rows = chains.map(
    (chain) =>
      html`<tr><td class="num">${chain.number}</td><td>${chain.calls.join(" ")}</td><td class="num">${chain.tokens}</td><td class="num">${chain.trained}</td><td>${chain.breakCause ?? "–"}</td><td>${chain.reason ?? "–"}</td></tr>`,
  );
  return html`<div class="wide"><table><thead><tr><th class="num">chain</th><th>calls</th><th class="num">tokens</th><th class="num">trained</th><th>break</th><th>not trained because</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** Whole numbers as they are; a missing value is a dash. */
function shown(value: number | null, digits: number): string {
  if (value === null) return "–";
  return Number.isInteger(value) ? String(value) : String(Number(value.toFixed(digits)));
}
