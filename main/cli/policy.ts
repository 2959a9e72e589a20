import { resolve } from "node:path";
import type { Command } from "commander";
import { type PolicyPrices, type PolicyView, serverKinds } from "../api/policy-views.ts";
import { WorkbenchError } from "../errors.ts";
import { dataFolder, productVersion } from "../machine/index.ts";
import { absolutePolicy, importModel } from "../models/index.ts";
import { openLocalPolicy, servePolicy } from "../proxy/index.ts";
import { note, print, printJson, table } from "./output.ts";
import { portNumber } from "./serve.ts";
import { untilStopped } from "./service.ts";
import { type CommonOptions, guarded, runVerb, verb, verbGroup } from "./verb.ts";

interface AddOptions extends CommonOptions {
  readonly kind?: string;
  readonly model?: string;
  readonly keyVariable?: string;
  readonly tokenizer?: string;
  readonly contextWindow?: string;
  readonly priceInput?: string;
  readonly priceOutput?: string;
  readonly priceCachedInput?: string;
  readonly spendingLimit?: string;
  readonly replace?: boolean;
}

export function policyCommand(): Command {
  const policy = verbGroup("policy", "what answers model calls");
  policy.addCommand(
    verb("list", "endpoints and built-in policies", "openforge policy list").action((options: CommonOptions) =>
      runVerb(options, async ({ client, json }) => {
        const policies = await client.policies.list();
        if (json) printJson(policies);
        else
          print(
            table(
              ["id", "kind", "address", "capture", "token-in", "spent"],
              policies.map((row) => [
                row.id,
                row.kind,
                row.address,
                row.capture ?? "not probed",
                row.takesTokenIds ? "yes" : "no",
                spendingText(row.spending),
              ]),
            ),
          );
        return 0;
      }),
    ),
  );
  policy.addCommand(
    verb("add", "save an endpoint", "openforge policy add my-vllm http://127.0.0.1:8000/v1 --kind vllm --model my-model --key-variable VLLM_KEY")
      .argument("<id>")
      .argument("<url>")
      .option("--kind <kind>", `${serverKinds.join(", ")} (default: the server is asked)`)
      .option("--model <name>", "model name to ask for")
      .option("--key-variable <NAME>", "environment variable that holds the key; the key itself is never stored")
      .option("--tokenizer <folder>", "Hugging Face folder with tokenizer and chat template, for token-in (vLLM, SGLang, llama.cpp)")
      .option("--context-window <n>", "tokens of prompt and answer together (Ollama only)")
      .option("--price-input <amount>", "for a million prompt tokens; with --price-output, what the policy costs is counted")
      .option("--price-output <amount>", "for a million tokens of answers")
      .option("--price-cached-input <amount>", "for a million prompt tokens that the server had cached (default: as --price-input)")
      .option("--spending-limit <amount>", "once its calls have cost this much, no further call is sent")
      .option("--replace", "take the place of a policy of this id")
      .action((id: string, url: string, options: AddOptions) =>
        runVerb(options, async ({ client, json }) => {
          const { model, keyVariable, replace } = options;
          const tokenizer = options.tokenizer === undefined ? undefined : resolve(options.tokenizer);
          const added = await client.policies.add({
            ...{ id, url, model, keyVariable, tokenizer, replace },
            kind: kindOf(options.kind),
            contextWindow: amountOf("--context-window", options.contextWindow),
            prices: pricesOf(options),
            spendingLimit: amountOf("--spending-limit", options.spendingLimit),
          });
          if (json) printJson(added);
          else print(`Saved ${added.id} (${added.address}). Next: openforge policy probe ${added.id}`);
          return 0;
        }),
      ),
  );
  policy.addCommand(
    verb("remove", "forget a saved endpoint, and what it has cost", "openforge policy remove my-vllm")
      .argument("<id>")
      .action((id: string, options: CommonOptions) =>
        runVerb(options, async ({ client, json }) => {
          await client.policies.remove({ id });
          if (json) printJson({ id });
          else print(`Removed ${id}.`);
          return 0;
        }),
      ),
  );
  policy.addCommand(
    verb("probe", "ask an endpoint how much of the tokens it gives back", "openforge policy probe my-vllm")
      .argument("<policy>")
      .action((id: string, options: CommonOptions) =>
        runVerb(options, async ({ client, json }) => {
          const { policy: probed, lost } = await client.policies.probe({ id: absolutePolicy(id, process.cwd()) });
          if (json) printJson({ ...probed, lost });
          else {
            print(`${probed.id} (${probed.kind}): ${probed.capture ?? "nothing"}`);
            if (probed.spending !== null) print(`  spent: ${spendingText(probed.spending)}`);
            for (const line of lost) print(`  lost: ${line}`);
          }
          return probed.capture === "nothing" ? 1 : 0;
        }),
      ),
  );
  policy.addCommand(
    verb("import", "take a model into the data folder: a GGUF file, dequantised once", "openforge policy import SmolLM2-135M-Instruct.Q4_1.gguf")
      .argument("<path>", "GGUF file, or a Hugging Face folder, which is checked and used where it lies")
      .option("--name <name>", "what it is called here (default: from the file's name)")
      .action((path: string, options: CommonOptions & { readonly name?: string }) =>
        guarded(options.json === true, async (signal) => {
          const imported = await importModel(path, {
            dataFolder: dataFolder(options.data),
            signal,
            onProgress: showProgress,
            ...(options.name === undefined ? {} : { name: options.name }),
          });
          if (options.json === true) printJson(imported);
          else print(`Ready: ${imported.policy} (${imported.folder}). Next: openforge policy probe ${imported.policy}`);
          return 0;
        }),
      ),
  );
  policy.addCommand(serveCommand());
  return policy;
}

function kindOf(text: string | undefined): (typeof serverKinds)[number] | undefined {
  if (text === undefined) return undefined;
  const kind = serverKinds.find((each) => each === text);
  if (kind === undefined)
    throw new WorkbenchError("usage", `There is no kind of endpoint called \`${text}\`.`, `Use --kind with one of ${serverKinds.join(", ")}.`);
  return kind;
}

function pricesOf({ priceInput, priceOutput, priceCachedInput }: AddOptions): PolicyPrices | undefined {
  const input = amountOf("--price-input", priceInput);
  const output = amountOf("--price-output", priceOutput);
  const cachedInput = amountOf("--price-cached-input", priceCachedInput);
  if (input === undefined && output === undefined && cachedInput === undefined) return undefined;
  if (input === undefined || output === undefined)
    throw new WorkbenchError(
      "usage",
      "A policy's prices are for its prompts and for its answers.",
      "Give both --price-input and --price-output (0 where nothing is charged).",
    );
  return { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
}

function amountOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (text.trim() === "" || !Number.isFinite(amount) || amount < 0)
    throw new WorkbenchError("usage", `${option} wants a number, not \`${text}\`.`, `For example ${option} 3.5.`);
  return amount;
}

function spendingText(spending: PolicyView["spending"]): string {
  if (spending === null) return "";
  const cost = spending.cost.toFixed(4);
  return spending.limit === null ? `${cost} in ${spending.calls} calls` : `${cost} of ${spending.limit} in ${spending.calls} calls`;
}

interface ServeOptions extends CommonOptions {
  readonly port?: string;
  readonly lanes?: string;
  readonly adapter?: string;
}

function serveCommand(): Command {
  return verb(
    "serve",
    "a model of this machine as an OpenAI-compatible server, without recording",
    "openforge policy serve SmolLM2-135M-Instruct --port 8000",
  )
    .argument("<policy>", "a model folder, an imported model, or training:RUN@STEP")
    .option("--port <n>", "port on 127.0.0.1 (default: any free one)")
    .option("--lanes <n>", "requests answered at the same time (default: by the memory of this machine)")
    .option("--adapter <folder>", "an adapter in PEFT's form, put on the model")
    .action((name: string, options: ServeOptions) =>
      guarded(options.json === true, async (signal) => {
        const port = portNumber(options.port);
        const policy = await openLocalPolicy(name, {
          dataFolder: dataFolder(options.data),
          lanes: laneCount(options.lanes),
          adapter: options.adapter,
        });
        try {
          const server = await servePolicy(policy, { port, version: productVersion() });
          const { contextWindow } = policy.upstream;
          if (options.json === true) printJson({ url: server.url, model: policy.name, contextWindow });
          else print(`${policy.name} at ${server.url} (window ${contextWindow} tokens). Ctrl-C ends it.`);
          if (!signal.aborted) await untilStopped(signal);
          await server.close();
        } finally {
          await policy.close();
        }
        return 0;
      }),
    );
}

function laneCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const lanes = Number(text);
  if (!Number.isInteger(lanes) || lanes < 1 || lanes > 256)
    throw new WorkbenchError("usage", `--lanes wants a number from 1 to 256, not \`${text}\`.`, "For example --lanes 4.");
  return lanes;
}

/** A line now and then, on stderr. */
function showProgress(done: number, total: number): void {
  if (done % 50 === 0 || done === total) note(`${done} of ${total} weights`);
}
