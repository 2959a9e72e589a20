import type { Tokenizer } from "../../engine/tokenizers/index.ts";
import { WorkbenchError } from "../errors.ts";
import type { PolicyRegistry } from "./policy-contract.ts";
import { loadPolicyText } from "./policy-text.ts";

const builtIn = "scripted";

/**
 * The tokenizer that a rollout's ids belong to; null when its policy has none here. A scripted policy whose rule file is gone (a
 * recording from elsewhere) had the tokenizer that ships.
 */
export async function policyTokenizer(policies: PolicyRegistry, policy: string): Promise<Tokenizer | null> {
  const folder = (await tokenizerFolder(policies, policy)) ?? (policy.startsWith(`${builtIn}:`) ? await tokenizerFolder(policies, builtIn) : null);
  return folder === null ? null : (await loadPolicyText(folder)).tokenizer;
}

async function tokenizerFolder(policies: PolicyRegistry, policy: string): Promise<string | null> {
  try {
    return await policies.tokenizerFolder(policy);
  } catch (error) {
    if (error instanceof WorkbenchError) return null;
    throw error;
  }
}
