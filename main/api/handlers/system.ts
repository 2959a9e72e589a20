import { cpus } from "node:os";
import { WorkbenchError } from "../../errors.ts";
import { examineMachine } from "../../machine/index.ts";
import { prepareImages } from "../../sandboxes/index.ts";
import type { WorkbenchParts } from "../context.ts";
import { followEvents } from "../event-stream.ts";
import type { contractImplementer } from "../implementer.ts";
import { eventView } from "../present.ts";
import { asContractError, streamWork } from "../work-stream.ts";

export function systemHandlers(os: ReturnType<typeof contractImplementer>, parts: WorkbenchParts) {
  const { store } = parts;
  return {
    info: os.system.info.handler(() => ({
      version: parts.version,
      dataFolder: store.dataFolder,
      proxyAddress: parts.proxy.address,
      empty: store.experiments().length === 0,
      ...store.usage(),
      platform: process.platform,
      node: process.version,
      cpus: cpus().length,
    })),
    address: os.system.address.handler(() => {
      if (parts.address === undefined) throw new WorkbenchError("unavailable", "This service serves no window.", "Run `openforge serve`.");
      return { url: parts.address() };
    }),
    doctor: os.system.doctor.handler(() => examineMachine(parts)),
    events: os.system.events.handler(async function* ({ input, signal }) {
      try {
        const { onUnwritable } = parts.rollouts;
        for await (const event of followEvents(store, input.after ?? null, signal, onUnwritable)) yield eventView(event);
      } catch (error) {
        throw asContractError(error);
      }
    }),
    prepareImages: os.system.prepareImages.handler(({ signal }) => streamWork(signal, (report, stop) => prepareImages(report, stop))),
    checkStore: os.system.checkStore.handler(async () => [...(await store.check())]),
    setting: os.system.setting.handler(({ input }) => ({ json: store.setting(input.key) })),
    setSetting: os.system.setSetting.handler(({ input }) => {
      store.setSetting(input.key, input.json);
      return {};
    }),
  };
}
