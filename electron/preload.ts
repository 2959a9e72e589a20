/** What the window may ask of the shell; everything else goes to the service over the contract. */
import { contextBridge, ipcRenderer } from "electron";

contextBridge.exposeInMainWorld("openforgeShell", {
  platform: process.platform,
  pickFolder: (): Promise<string | null> => ipcRenderer.invoke("pick-folder"),
  pickFile: (): Promise<string | null> => ipcRenderer.invoke("pick-file"),
  /** Calls back with each `openforge://…` link that another program opens, also with one that came before. */
  onLink: (take: (link: string) => void): void => {
    ipcRenderer.on("link", (_event, link: string) => take(link));
    ipcRenderer.send("listens-for-links");
  },
});
