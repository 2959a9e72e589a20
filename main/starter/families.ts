/** The five families as pure, seeded generators. */
import { deriveSeed } from "../../engine/statistics/index.ts";
import type { StarterFamily, StarterSplit, StarterTask } from "./contract.ts";
import { endings, fileNames, folderNames, words } from "./vocabulary.ts";

/** Uniform in [0, 1). */
export type Random = () => number;

export function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)];
  if (picked === undefined) throw new RangeError("there is nothing to pick from");
  return picked;
}

function distinct<T>(random: Random, from: readonly T[], count: number): T[] {
  const chosen = new Set<T>();
  while (chosen.size < count) chosen.add(pick(random, from));
  return [...chosen];
}

/** Part of what an agent leaves behind, so the instruction says it. */
export const finalWord = "Done.";
/** Of every instruction. */
export const instructionEnding = `\n\nWhen it is done, answer: ${finalWord}`;

/** One task in four is held out, by its content. */
const heldOutShare = 4;

/** The first task of that split that the random numbers give. */
export function drawTask(family: StarterFamily, split: StarterSplit, random: Random): StarterTask {
  for (;;) {
    const task = generators[family](random);
    if (splitOf(task) === split) return task;
  }
}

function splitOf(task: StarterTask): StarterSplit {
  return taskHash(task) % heldOutShare === 0 ? "held-out" : "train";
}

/** Names what an agent is given: tasks with one hash are one task. */
export function taskHash({ instruction, files, folders }: StarterTask): number {
  return deriveSeed("starter", instruction, JSON.stringify(files), ...folders);
}

const generators: Readonly<Record<StarterFamily, (random: Random) => StarterTask>> = {
  write(random) {
    const chosen = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, words));
    const file = `${pick(random, fileNames)}.txt`;
    const text = chosen.join(" ");
    const instruction = pick(random, [`Write the word${chosen.length > 1 ? "s" : ""} ${text} to ${file}`, `Put ${text} into the file ${file}`]);
    return {
      ...{ family: "write", words: chosen, file, instruction: instruction + instructionEnding },
      ...{ files: {}, folders: [], wanted: { [file]: text }, solution: `echo ${text} > ${file}` },
    };
  },

  calc(random) {
    const [source = "", target = ""] = distinct(random, fileNames, 2).map((name) => `${name}.txt`);
    const number = 10 + Math.floor(random() * 490);
    const [operator, operand, text] = pick(random, operations);
    const instruction = pick(random, [
      `Read the number in ${source}, ${text} and write the result to ${target}`,
      `Take the number in ${source}, ${text} and save it in ${target}`,
    ]);
    const result = operator === "*" ? number * operand : operator === "+" ? number + operand : number - operand;
    return {
      ...{ family: "calc", source, target, number, operator, operand, result, instruction: instruction + instructionEnding },
      ...{ files: { [source]: `${number}` }, folders: [], wanted: { [target]: `${result}` } },
      solution: `echo $(($(cat ${source})${operator}${operand})) > ${target}`,
    };
  },

  find(random) {
    const [target = "", ...candidates] = distinct(random, fileNames, 4).map((name) => `${name}.txt`);
    const inside = distinct(random, words, 2 * candidates.length);
    const files = Object.fromEntries(candidates.map((name, index) => [name, inside.slice(2 * index, 2 * index + 2).join(" ")]));
    const holder = pick(random, candidates);
    const line = files[holder] ?? "";
    const word = pick(random, line.split(" "));
    return {
      ...{ family: "find", candidates, holder, word, target },
      instruction: `One of the files ${candidates.join(" ")} has the word ${word}. Copy that file to ${target}${instructionEnding}`,
      ...{ files, folders: [], wanted: { [target]: line, [holder]: line }, solution: `cp "$(grep -l ${word} *)" ${target}` },
    };
  },

  dir(random) {
    const [folder, word, name] = [pick(random, folderNames), pick(random, words), `${pick(random, fileNames)}.txt`];
    const isThere = random() < 0.3;
    const file = `${folder}/${name}`;
    const instruction = pick(random, [`Write the word ${word} to ${file}`, `Save ${word} in the file ${name} in the folder ${folder}`]);
    return {
      ...{ family: "dir", folder, word, file, instruction: instruction + instructionEnding },
      ...{ files: {}, folders: isThere ? [folder] : [], wanted: { [file]: word }, solution: `mkdir -p ${folder} && echo ${word} > ${file}` },
    };
  },

  rename(random) {
    const [name = "", other = "", third = "", newName = ""] = distinct(random, fileNames, 4);
    const [source, target] = [`${name}.${pick(random, endings)}`, `${newName}.txt`];
    const files = Object.fromEntries(
      [source, `${other}.${pick(random, endings)}`, `${third}.${pick(random, endings)}`].map((file) => [file, pick(random, words)]),
    );
    const instruction = pick(random, [`Rename the ${name} file to ${target}`, `Give the ${name} file the name ${target}`]);
    return {
      ...{ family: "rename", name, source, target, instruction: instruction + instructionEnding },
      ...{ files, folders: [], wanted: { [target]: files[source] ?? "", [source]: null }, solution: `mv ${source} ${target}` },
    };
  },
};

const operations: readonly (readonly ["*" | "+" | "-", number, string])[] = [
  ["*", 2, "double it"],
  ["*", 3, "triple it"],
  ...[5, 7, 9].map((operand) => ["+", operand, `add ${operand}`] as const),
  ...[4, 6].map((operand) => ["-", operand, `subtract ${operand}`] as const),
];
