/**
 * The noisy teacher: it knows how each family is done, and mostly does something worse. So a policy that imitates it is mediocre by construction, and the
 * good ways are in what it has seen: what reinforcement learning then has to choose.
 */
import type { StarterTask } from "./contract.ts";
import { finalWord, pick, type Random } from "./families.ts";
import type { CommandResult } from "./simulated-shell.ts";
import { words } from "./vocabulary.ts";

/** Yields commands, is told their results, returns its last words. */
export type TeacherRun = Generator<string, string, CommandResult>;

const givesUp = "I could not do it.";

const chances = {
  /** write: a word is lost or replaced. */
  slip: 0.35,
  /** Looks at what it did. */
  verify: 0.3,
  /** calc: writes a number without having read one. */
  blind: 0.3,
  /** calc: lets the shell calculate. */
  shell: 0.35,
  /** calc in the head: comes out wrong. */
  wrong: 0.35,
  /** find, rename: looks before it acts. */
  look: 0.4,
  /** dir, rename: goes on after an error. */
  recover: 0.3,
} as const;

export function teach(task: StarterTask, random: Random): TeacherRun {
  const happens = (chance: keyof typeof chances): boolean => random() < chances[chance];
  switch (task.family) {
    case "write":
      return write(task, random, happens);
    case "calc":
      return calculate(task, random, happens);
    case "find":
      return find(task, random, happens);
    case "dir":
      return writeInFolder(task, happens);
    case "rename":
      return rename(task, happens);
  }
}

type Of<Family extends StarterTask["family"]> = Extract<StarterTask, { family: Family }>;
type Happens = (chance: keyof typeof chances) => boolean;

function* write(task: Of<"write">, random: Random, happens: Happens): TeacherRun {
  const command = (written: readonly string[]): string => `echo ${written.join(" ")} > ${task.file}`;
  const written = happens("slip") ? withSlip(task.words, random) : task.words;
  yield command(written);
  if (!happens("verify")) return finalWord;
  yield `cat ${task.file}`;
  if (written.join(" ") === task.words.join(" ")) return finalWord;
  yield command(task.words);
  if (random() < 0.5) yield `cat ${task.file}`;
  return finalWord;
}

function withSlip(given: readonly string[], random: Random): readonly string[] {
  const at = Math.floor(random() * given.length);
  if (given.length > 1 && random() < 0.5) return given.filter((_word, index) => index !== at);
  return given.map((word, index) => (index === at ? pick(random, words) : word));
}

function* calculate({ source, target, number, operator, operand, result }: Of<"calc">, random: Random, happens: Happens): TeacherRun {
  if (happens("blind")) {
    yield `echo ${10 + Math.floor(random() * 900)} > ${target}`;
    return finalWord;
  }
  yield `cat ${source}`;
  if (happens("shell")) yield `echo $((${number}${operator}${operand})) > ${target}`;
  else yield `echo ${happens("wrong") ? result + pick(random, [-10, -1, 1, 2, 10]) : result} > ${target}`;
  if (happens("verify")) yield `cat ${target}`;
  return finalWord;
}

function* find({ candidates, word, target }: Of<"find">, random: Random, happens: Happens): TeacherRun {
  if (happens("look")) {
    const { output } = yield `grep -l ${word} *`;
    yield `cp ${output.split("\n")[0]} ${target}`;
  } else yield `cp ${pick(random, candidates)} ${target}`;
  if (happens("verify")) yield `cat ${target}`;
  return finalWord;
}

function* writeInFolder({ folder, word, file }: Of<"dir">, happens: Happens): TeacherRun {
  const command = `echo ${word} > ${file}`;
  const { exitCode } = yield command;
  if (exitCode !== 0) {
    if (!happens("recover")) return givesUp;
    yield `mkdir ${folder}`;
    yield command;
  }
  if (happens("verify")) yield `cat ${file}`;
  return finalWord;
}

function* rename({ name, source, target }: Of<"rename">, happens: Happens): TeacherRun {
  const move = (from: string): string => `mv ${from} ${target}`;
  if (happens("look")) {
    yield "ls";
    yield move(source);
  } else {
    const { exitCode } = yield move(`${name}.txt`);
    if (exitCode !== 0) {
      if (!happens("recover")) return givesUp;
      yield "ls";
      yield move(source);
    }
  }
  if (happens("verify")) yield "ls";
  return finalWord;
}
