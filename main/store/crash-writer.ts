/**
 * The victim of the crash test: writes calls as fast as it can, in groups and one by one, deletes and compacts meanwhile, and prints
 * each call's line only after the store has acknowledged it. It never ends by itself.
 */
import { writeSync } from "node:fs";
import { openStore } from "./open-store.ts";
import { sampleCall, sampleExperiment, sampleNode, sampleRollout } from "./records/sample-records.ts";

const [folder = "", generation = "0"] = process.argv.slice(2);
const store = openStore(folder);
const rollouts = [0, 1, 2, 3].map((number) => `g${generation}-r${number}`);
store.createExperiment(sampleExperiment(`g${generation}`));
store.createRollouts(rollouts.map((id) => sampleRollout(id, `g${generation}`)));
writeSync(1, "ready\n");

async function runRollout(id: string): Promise<never> {
  let messages = "";
  let parent: string | null = null;
  for (let index = 0; ; index++) {
    messages += `{"role":"user","content":"${id} ${index} ${String(index * 7919).repeat(60)}"},`;
    const request = Buffer.from(`{"model":"m","messages":[${messages}],"tools":"${"t".repeat(2000)}"}`);
    const call = sampleCall(store, id, index, request, Buffer.from(`${id} answer ${index}`));
    const node = { ...sampleNode(call.id, parent), promptLength: index * 8 + 5 };
    if (index % 7 === 0) store.recordCall(call, node);
    else await store.recordCallDurably(call, node);
    writeSync(1, `${call.id} ${call.requestBody} ${call.responseBody}\n`);
    parent = call.id;
    if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (index > 150) messages = "";
  }
}

async function churn(): Promise<never> {
  for (let round = 0; ; round++) {
    const id = `g${generation}-gone-${round}`;
    store.createExperiment(sampleExperiment(id));
    store.createRollouts([sampleRollout(`${id}-r`, id)]);
    store.recordCall(sampleCall(store, `${id}-r`, 0, Buffer.from(`short-lived ${id} `.repeat(300)), Buffer.from("gone")), null);
    await new Promise((resolve) => setTimeout(resolve, 5));
    store.deleteExperiment(id);
    await store.compact();
  }
}

await Promise.all([...rollouts.map(runRollout), churn()]);
