/** YAML files that people write: one reader, one way to say what is wrong. */
export { issueSentence, telling } from "./issue-sentence.ts";
export { readYaml, type YamlReading } from "./read-yaml.ts";
