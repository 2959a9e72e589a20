/**
 * TRL's supervised trainer reads JSON Lines of `messages` and `tools`. A file whose rows have `input_ids` is taken as tokenised: then
 * `assistant_masks` says which tokens are trained, so the trainer learns on the very tokens that were sampled and no template comes
 * between. A column stands in every row or in none, so ids are written only when every row has them.
 */
import { writeLines } from "../destination.ts";
import { chatMessages, chatTools } from "../rows/chat-form.ts";
import type { TrainingRow } from "../rows/training-row.ts";
import { advantageList, origin, type TrainerFile, unsayable } from "./trainer-file.ts";

/** Resolves with the number of rows. */
export async function writeTrl(file: TrainerFile): Promise<number> {
  let all = 0;
  let withIds = 0;
  for await (const { tokens } of file.rows()) {
    all += 1;
    if (tokens !== null) withIds += 1;
  }
  const tokenised = withIds === all;
  if (!tokenised && withIds > 0)
    file.note(`${all - withIds} of ${all} rows have no token ids, so no row carries them: the trainer tokenises by its own template.`);
  let count = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const row of file.rows()) {
      const line = trlRow(row, tokenised);
      if (line === null) {
        file.leaveOut(row, unsayable);
        continue;
      }
      count += 1;
      yield `${JSON.stringify(line)}\n`;
    }
  }
  await writeLines(file.path, lines());
  return count;
}

function trlRow(row: TrainingRow, tokenised: boolean): Readonly<Record<string, unknown>> | null {
  const messages = chatMessages(row.messages);
  if (messages === null) return null;
  const { tokens } = row;
  return {
    messages,
    tools: chatTools(row.tools),
    ...(tokenised && tokens !== null
      ? { input_ids: Array.from(tokens.ids), assistant_masks: Array.from(tokens.mask), advantages: advantageList(row) }
      : {}),
    reward: row.rollout.reward,
    origin: origin(row),
  };
}
