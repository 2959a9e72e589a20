/** What the window shows while the service is not there: one sentence, in the workbench's colours, no script. */

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function waitingPage(title: string, detail: string): string {
  const plain = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
  const html = `<!doctype html><meta charset="utf-8"><title>OpenForge Workbench</title>
<style>body{margin:0;height:100vh;display:grid;place-content:center;font:13px system-ui;background:#1a1a18;color:#e8e6e1}
@media (prefers-color-scheme:light){body{background:#faf9f7;color:#262522}}
h1{font-size:17px;margin:0 0 8px}p{margin:0;opacity:.75;max-width:60ch}</style><main><h1>${plain(title)}</h1><p>${plain(detail)}</p></main>`;
  return `data:text/html;charset=utf-8,${encodeURIComponent(html)}`;
}
