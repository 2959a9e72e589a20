/** The page's style. Values of `--of-…` are those of the application's design tokens; a test holds them together. */

export const tokenValues = {
  chrome: "light-dark(#efeeea, #141513)",
  surface: "light-dark(#fcfcfa, #1a1b19)",
  "surface-header": "light-dark(#f6f5f2, #1f201e)",
  "surface-sunken": "light-dark(#f4f3ef, #161715)",
  "surface-raised": "light-dark(#ffffff, #262724)",
  hover: "light-dark(#f1f0ec, #242522)",
  selected: "light-dark(#e2eafb, #202b45)",
  text: "light-dark(#1d1e1b, #e9e9e4)",
  "text-secondary": "light-dark(#50524b, #b4b5ad)",
  "text-muted": "light-dark(#63655d, #969890)",
  border: "light-dark(#e2e0da, #2b2d29)",
  "border-strong": "light-dark(#cbc9c1, #3d403a)",
  accent: "light-dark(#2757cf, #8fb0ff)",
  focus: "light-dark(#2757cf, #8fb0ff)",
  sampled: "light-dark(#00697f, #55c4dc)",
  "sampled-tint": "light-dark(#dff2f6, #11303a)",
  hatch: "light-dark(#d6d4cc, #3a3d37)",
  success: "light-dark(#14714a, #5ac792)",
  "success-tint": "light-dark(#e1f3e9, #16321f)",
  failed: "light-dark(#9b1526, #ff917b)",
  "failed-tint": "light-dark(#fdeae5, #40201a)",
  paused: "light-dark(#875600, #f2b950)",
  "paused-tint": "light-dark(#fdf0d3, #3a2c0e)",
  infra: "light-dark(#44586e, #a3b9d1)",
  "infra-tint": "light-dark(#e7edf3, #232e3a)",
  neutral: "light-dark(#50524b, #b4b5ad)",
  "neutral-tint": "light-dark(#ecebe6, #2b2d29)",
} as const;

const variables = Object.entries(tokenValues)
  .map(([name, value]) => `--of-${name}:${value}`)
  .join(";");

export const pageStyle = `
:root{color-scheme:light dark;${variables};
--ui:"Inter Variable",Inter,system-ui,-apple-system,"Segoe UI","Noto Sans",sans-serif;
--mono:"JetBrains Mono",ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace}
:root:has(#theme-light:checked){color-scheme:light}
:root:has(#theme-dark:checked){color-scheme:dark}
*,*::before,*::after{box-sizing:border-box}
body{margin:0;background:var(--of-chrome);color:var(--of-text);font:400 .8125rem/1.25rem var(--ui)}
header,main{max-width:68rem;margin:0 auto;padding:0 1.5rem}
header{padding-top:1.5rem;padding-bottom:1rem}
h1{font-size:1.0625rem;line-height:1.5rem;font-weight:600;letter-spacing:-.011em;margin:0}
h2{font-size:.875rem;line-height:1.25rem;font-weight:600;margin:0}
.top{display:flex;gap:.75rem;align-items:center;flex-wrap:wrap}
.top h1{flex:1 1 20rem;min-width:0;overflow-wrap:anywhere}
.sub{color:var(--of-text-secondary);margin:.25rem 0 0;overflow-wrap:anywhere}
.mono,pre,code{font:400 .75rem/1.125rem var(--mono);font-variant-ligatures:none}
.num{font-variant-numeric:tabular-nums}
.muted{color:var(--of-text-muted)}
.theme{border:1px solid var(--of-border-strong);border-radius:5px;background:var(--of-surface-raised);display:inline-flex;overflow:hidden;margin:0;padding:0}
.theme label{padding:0 .625rem;font-size:.75rem;line-height:1.625rem;color:var(--of-text-secondary);border-right:1px solid var(--of-border);position:relative}
.theme label:last-child{border:0}
.theme label:has(:checked){background:var(--of-selected);color:var(--of-accent);font-weight:600}
.theme label:has(:focus-visible){outline:2px solid var(--of-focus);outline-offset:-2px}
.theme input{position:absolute;opacity:0;inset:0;margin:0;width:100%;height:100%;cursor:pointer}
.chip{display:inline-flex;align-items:center;gap:.25rem;min-height:1.25rem;padding:0 .4375rem;border-radius:3px;font-size:.6875rem;font-weight:500;background:var(--of-neutral-tint);color:var(--of-neutral)}
.chip.good{background:var(--of-success-tint);color:var(--of-success)}
.chip.bad{background:var(--of-failed-tint);color:var(--of-failed)}
.chip.late{background:var(--of-paused-tint);color:var(--of-paused)}
.chip.infra{background:var(--of-infra-tint);color:var(--of-infra);border:1px solid currentColor}
.panel{background:var(--of-surface);border:1px solid var(--of-border);border-radius:8px;margin-bottom:1rem;overflow:hidden}
.panel>.head{display:flex;gap:.75rem;align-items:baseline;padding:.375rem .75rem;background:var(--of-surface-header);border-bottom:1px solid var(--of-border)}
.panel>.head .muted{margin-left:auto;text-align:right}
dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));margin:0}
dl.facts div{padding:.5rem .75rem;border-bottom:1px solid var(--of-border)}
dt{font-size:.6875rem;line-height:1rem;color:var(--of-text-muted);font-weight:500}
dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
table{width:100%;border-collapse:collapse}
th,td{padding:.3125rem .75rem;text-align:left;border-bottom:1px solid var(--of-border);vertical-align:top}
th{font-size:.6875rem;font-weight:500;color:var(--of-text-muted)}
td.num,th.num{text-align:right}
.wide{overflow-x:auto}
.message{position:relative;margin:0;padding:.5rem .75rem .5rem 1rem;border-bottom:1px solid var(--of-border)}
.message::before{content:"";position:absolute;inset:0 auto 0 0;width:3px;background:var(--of-border-strong)}
.message.sampled::before{background:var(--of-sampled)}
.message.put-in::before{background:repeating-linear-gradient(-45deg,var(--of-hatch) 0 2px,transparent 2px 5px)}
.message:last-child{border-bottom:0}
.note{margin:0;padding:.5rem .75rem}
.role{display:flex;gap:.5rem;align-items:baseline;font-weight:600}
.role .muted{font-weight:400}
summary{cursor:pointer;list-style-position:outside}
summary:focus-visible{outline:2px solid var(--of-focus);outline-offset:1px}
details>summary{margin-left:1rem}
details.note>summary{margin-left:1rem}
pre{margin:.375rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere}
pre.code{background:var(--of-surface-sunken);border:1px solid var(--of-border);border-radius:5px;padding:.5rem .625rem}
.reasoning{color:var(--of-text-secondary);font-style:italic}
.error{color:var(--of-failed)}
img{max-width:100%;height:auto;border:1px solid var(--of-border);border-radius:5px;margin-top:.375rem}
@media (max-width:40rem){header,main{padding-left:.75rem;padding-right:.75rem}}
@media print{body{background:none}.theme{display:none}.panel{break-inside:avoid-page}}
`;
