/** A service that starts one local sandbox after another until it is killed. */
import { sandboxProviders } from "../../main/sandboxes/index.ts";
import { run, sandboxRequest } from "./sandbox-contract.ts";

const [stateFolder = "", ownerId = ""] = process.argv.slice(2);
const provider = sandboxProviders({ stateFolder }).local;
await provider.probe();
console.log("begun");
const startForEver = async (): Promise<void> => {
  for (;;) {
    const box = await provider.create(sandboxRequest({ ownerId }), () => undefined);
    void run(box, "sleep 600").catch(() => undefined);
    await run(box, "true");
  }
};
await Promise.all([startForEver(), startForEver(), startForEver()]);
