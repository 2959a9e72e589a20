/** The starter policy's tokenizer: the words of the tasks, the shell's usual phrases, and each harness's system turn as one token. */
import { seededRandom } from "../../engine/statistics/index.ts";
import { learnTokenizer } from "../../engine/tokenizers/index.ts";
import { specialTokens } from "./chat-template.ts";
import { starterFamilies, starterHarnesses } from "./contract.ts";
import { drawTask, instructionEnding, pick } from "./families.ts";
import { harnessFormats } from "./harness-formats.ts";
import { systemText, teacherTranscript } from "./transcript.ts";

/** Enough that every word is seen in every place where it can stand. */
const transcripts = 4_000;

export function starterTokenizer(): { readonly tokenizerJson: string; readonly configJson: string } {
  const [, endOfTurn] = specialTokens;
  return learnTokenizer({ texts: texts(), pattern: pattern(), specialTokens, leastCount: 3, endOfTurn, padding: specialTokens[0] });
}

function* texts(): Generator<string> {
  const random = seededRandom(12_345);
  for (let count = 0; count < transcripts; count += 1) {
    const task = drawTask(pick(random, starterFamilies), "train", random);
    const format = harnessFormats[pick(random, starterHarnesses)];
    const { parts } = teacherTranscript(task, format, random);
    for (const { text } of parts) yield text;
  }
}

/** Whole phrases first, then words with the space before them, endings of file names, digits and signs one by one. */
function pattern(): string {
  const openings = ["react", "console"] as const;
  const phrases = [
    ...starterHarnesses.map((harness) => systemText(harnessFormats[harness])),
    ...openings.map((harness) => harnessFormats[harness].call("").split('"}}')[0] ?? ""),
    ...['"}}\n</tool_call>', "Action:", "Answer:", "Observation:", instructionEnding],
    ...[" (no output)", ": No such file or directory", " bash: line 1:", "bash: line 1:", " cannot stat '", " $((", ")) >", " >", " -l"],
  ];
  const counted = ["Observation \\(exit [0-9]+\\):", "\\[exit [0-9]+\\]", " exit=[0-9]+", " ?(?:Done|I could not do it)\\."];
  return [...phrases.map((phrase) => phrase.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")), ...counted, " ?[A-Za-z]+", "\\.[a-z]+", "[\\s\\S]"].join("|");
}
