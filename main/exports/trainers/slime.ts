/**
 * slime's samples as JSON Lines. `loss_mask`, `rollout_log_probs` and the advantages cover the response: everything after the prompt,
 * that is, from the first trained token on.
 */
import { writeLines } from "../destination.ts";
import { chatMessages, chatTools } from "../rows/chat-form.ts";
import { finiteOrZero, splitAtResponse } from "../rows/response.ts";
import type { TrainingRow } from "../rows/training-row.ts";
import { origin, type TrainerFile, unsayable } from "./trainer-file.ts";

/** Resolves with the number of samples. */
export async function writeSlime(file: TrainerFile): Promise<number> {
  let count = 0;
  const groups = new Map<string, number>();
  async function* lines(): AsyncGenerator<string> {
    for await (const row of file.rows()) {
      const group = groups.get(`${row.step} ${row.group}`) ?? groups.size;
      const sample = slimeSample(row, group, count);
      if (sample === null) {
        file.leaveOut(row, unsayable);
        continue;
      }
      groups.set(`${row.step} ${row.group}`, group);
      count += 1;
      yield `${JSON.stringify(sample)}\n`;
    }
  }
  await writeLines(file.path, lines());
  return count;
}

function slimeSample(row: TrainingRow, group: number, index: number): Readonly<Record<string, unknown>> | null {
  const prompt = chatMessages(row.messages.slice(0, row.prompt));
  if (prompt === null || row.tokens === null) return null;
  const { response, mask, logprobs, advantages } = splitAtResponse(row.tokens);
  return {
    group_index: group,
    index,
    rollout_id: row.rollout.id,
    prompt,
    tokens: Array.from(row.tokens.ids),
    response_length: response.length,
    label: row.rollout.taskName,
    reward: row.rollout.reward,
    loss_mask: Array.from(mask),
    rollout_log_probs: finiteOrZero(logprobs),
    weight_versions: row.policyVersions,
    status: row.truncated ? "truncated" : "completed",
    metadata: { ...origin(row), tools: chatTools(row.tools), advantages: advantages === null ? null : Array.from(advantages) },
  };
}
