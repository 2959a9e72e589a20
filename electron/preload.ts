/** What the window may ask of the shell; everything else goes to the service over the contract. */
import { contextBridge, ipcRenderer } from "electron";

contextBridge.exposeInMainWorld("openforgeShell", {
  platform: process.platform,
  pickFolder: (): Promise<string | null> => ipcRenderer.invoke("pick-folder"),
});
