/**
 * The desktop shell: one window on the service's own page. It starts the service as a plain Node child (native addons then
 * always fit), shows it, and survives its restart. With `--attach=URL` it shows a service that somebody else runs.
 * Closing the window never stops work: while rollouts or training are under way the shell stays, and ends when they have.
 */
import { join } from "node:path";
import { app, BrowserWindow, dialog, ipcMain, Menu, screen, session, shell } from "electron";
import { createLinkDesk, linkAmong } from "./deep-links.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { waitingPage } from "./waiting-page.ts";
import { clampBounds, readBounds, writeBounds } from "./window-state.ts";

const argument = (name: string): string | null => process.argv.find((value) => value.startsWith(`--${name}=`))?.slice(name.length + 3) ?? null;
const product = app.isPackaged ? join(process.resourcesPath, "app.asar.unpacked") : join(__dirname, "../..");
const bundledNode = join(process.resourcesPath, "node", process.platform === "win32" ? "node.exe" : "bin/node");
const attachedUrl = argument("attach");

const links = createLinkDesk();
let window: BrowserWindow | null = null;
let service: ServiceProcess | null = null;
let currentUrl: string | null = attachedUrl;
let busy = false;

function denyStrayNavigation(): void {
  app.on("web-contents-created", (_event, contents) => {
    contents.setWindowOpenHandler(({ url }) => {
      if (url.startsWith("https:")) void shell.openExternal(url);
      return { action: "deny" };
    });
    contents.on("will-navigate", (event, url) => {
      if (currentUrl === null || new URL(url).origin !== new URL(currentUrl).origin) event.preventDefault();
    });
  });
  session.defaultSession.setPermissionRequestHandler((_contents, permission, decide) => decide(permission === "clipboard-sanitized-write"));
}

function openWindow(): void {
  const boundsFile = join(app.getPath("userData"), "window.json");
  const [first, ...others] = screen.getAllDisplays().map((display) => display.workArea);
  const area = first ?? { x: 0, y: 0, width: 1440, height: 900 };
  const wanted = readBounds(boundsFile) ?? { x: area.x, y: area.y, width: Math.min(1440, area.width), height: Math.min(900, area.height) };
  const opened = new BrowserWindow({
    ...clampBounds(wanted, [area, ...others]),
    title: "OpenForge Workbench",
    backgroundColor: "#1a1a18",
    webPreferences: { preload: join(__dirname, "preload.cjs"), contextIsolation: true, sandbox: true, nodeIntegration: false },
  });
  window = opened;
  opened.on("close", () => writeBounds(boundsFile, opened.getNormalBounds()));
  opened.on("closed", () => {
    window = null;
    links.left();
  });
  opened.webContents.on("did-start-navigation", ({ isMainFrame, isSameDocument }) => {
    if (isMainFrame && !isSameDocument) links.left();
  });
  opened.webContents.on("render-process-gone", () => show());
  show();
}

/** The service's page, or a sentence while there is none. */
function show(title = "Starting the workbench…", detail = "The service is being started."): void {
  void window?.loadURL(currentUrl ?? waitingPage(title, detail));
}

function startService(): void {
  if (attachedUrl !== null) return;
  service = startServiceProcess({
    nodeBinary: process.env.OPENFORGE_NODE ?? (app.isPackaged ? bundledNode : "node"),
    cliFile: join(product, "dist/main/cli.js"),
    dataFolder: argument("data"),
    onReady: (url) => {
      currentUrl = url;
      show();
    },
    onBusy: (now) => {
      busy = now;
      if (!busy && window === null) app.quit();
    },
    onDown: (message, willRestart) => {
      currentUrl = null;
      if (willRestart) show("The service ended and is being started again.", message);
      else show("The service does not stay up.", `${message} Close the window and start the workbench again.`);
    },
  });
}

/** To the front, opened again when it was closed. */
function showWindow(): void {
  if (window === null) openWindow();
  if (window?.isMinimized() === true) window.restore();
  window?.focus();
}

if (app.requestSingleInstanceLock({ data: argument("data") })) {
  links.arrived(linkAmong(process.argv));
  app.on("second-instance", (_event, args) => {
    showWindow();
    links.arrived(linkAmong(args));
  });
  app.on("open-url", (event, url) => {
    event.preventDefault();
    if (app.isReady()) showWindow();
    links.arrived(linkAmong([url]));
  });
  app.on("window-all-closed", () => {
    if (!busy) app.quit();
  });
  app.on("will-quit", (event) => {
    const running = service;
    if (running === null) return;
    event.preventDefault();
    service = null;
    void running.stop().finally(() => app.quit());
  });
  ipcMain.handle("pick-folder", async () => (await dialog.showOpenDialog({ properties: ["openDirectory", "createDirectory"] })).filePaths[0] ?? null);
  ipcMain.handle("pick-file", async () => (await dialog.showOpenDialog({ properties: ["openFile"] })).filePaths[0] ?? null);
  ipcMain.on("listens-for-links", (event) => links.listens((link) => event.sender.send("link", link)));
  // From a checkout the links stay with the installed app, if there is one.
  if (app.isPackaged) app.setAsDefaultProtocolClient("openforge");
  Menu.setApplicationMenu(null);
  void app.whenReady().then(() => {
    denyStrayNavigation();
    startService();
    openWindow();
  });
} else {
  app.quit();
}
