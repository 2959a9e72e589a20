/**
 * The noisy teacher: it knows how each family is done, and mostly does something worse. So a policy that imitates it is mediocre by construction, and the
 * good ways are in what it has seen: what reinforcement learning then has to choose.
 */
import type { StarterTask } from "./contract.ts";
import { finalWord, pick, type Random } from "./families.ts";
import type { CommandResult } from "./simulated-shell.ts";

/** Yields commands, is told their results, returns its last words. */
export type TeacherRun = Generator<string, string, CommandResult>;

const givesUp = "I could not do it.";

const chances = {
  /** write: of several words the last is left out. */
  slip: 0.5,
  /** Looks at what it did. */
  verify: 0.3,
  /** calc: writes a number without having read one. */
  blind: 0.3,
  /** calc: lets the shell calculate. */
  shell: 0.4,
  /** calc in the head: comes out wrong. */
  wrong: 0.35,
  /** find, rename: looks before it acts. */
  look: 0.3,
  /** dir, rename: goes on after an error. */
  recover: 0.2,
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
  const isShort = task.words.length > 1 && happens("slip");
  yield command(isShort ? task.words.slice(0, -1) : task.words);
  if (!happens("verify")) return finalWord;
  yield `cat ${task.file}`;
  if (!isShort) return finalWord;
  yield command(task.words);
  if (random() < 0.5) yield `cat ${task.file}`;
  return finalWord;
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
