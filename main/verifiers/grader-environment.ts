/**
 * The environment of the test script: nothing in it leads to a file that the agent could have written. The agent's processes never
 * reach it (each exec starts anew); what is fixed here is where programs look for code by themselves.
 */

/** Variables that make a program load code or another configuration. */
const loaders = [
  ..."LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT BASH_ENV ENV SHELLOPTS BASHOPTS PROMPT_COMMAND CDPATH GLOBIGNORE".split(" "),
  ..."PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONPLATLIBDIR PYTEST_ADDOPTS PYTEST_PLUGINS".split(" "),
  ..."NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE PERL5LIB PERL5OPT PERLLIB RUBYLIB RUBYOPT".split(" "),
  ..."JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME".split(" "),
  ..."GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_EXEC_PATH GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_TEMPLATE_DIR GIT_CONFIG".split(" "),
  ..."GIT_CONFIG_GLOBAL GIT_CONFIG_PARAMETERS GIT_EDITOR GIT_ASKPASS EDITOR VISUAL LESSOPEN TAR_OPTIONS GREP_OPTIONS".split(" "),
];

/** Repository configuration that would run a program of the agent's choice, or refuse to look at its files. */
const gitSettings: readonly (readonly [string, string])[] = [
  ["safe.directory", "*"],
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.pager", "cat"],
  ["core.editor", "true"],
  ["core.sshCommand", "false"],
  ["protocol.ext.allow", "never"],
  ["gpg.program", "false"],
];

export interface GraderEnvironment {
  /** `env -u …`, to be put before the script. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface GraderPlaces {
  /** Empty folder of the grader's own. */
  readonly home: string;
  /** Search path without folders of the agent. */
  readonly path: readonly string[];
  readonly workdir: string;
  /** The script runs in the agent's folder without having asked for it: Python must not take modules from there. */
  readonly inAgentsFolder: boolean;
}

const ownPath = "/opt/openforge/bin";
const standardPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** `task`: the environment's values, less what loads code; `verifier`: the verifier's own, which may set anything. */
export function graderEnvironment(
  places: GraderPlaces,
  task: Readonly<Record<string, string>>,
  verifier: Readonly<Record<string, string>>,
): GraderEnvironment {
  const path = places.path.length > 0 ? places.path : standardPath;
  const harmless = Object.entries(task).filter(([name]) => name !== "PATH" && !loaders.includes(name));
  const git: Record<string, string> = { GIT_CONFIG_COUNT: String(gitSettings.length), GIT_CONFIG_NOSYSTEM: "1", GIT_OPTIONAL_LOCKS: "0" };
  for (const [index, [key, value]] of gitSettings.entries()) {
    git[`GIT_CONFIG_KEY_${index}`] = key;
    git[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  const env = {
    ...Object.fromEntries(harmless),
    ...git,
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
    PATH: [...path, ...(path.includes(ownPath) ? [] : [ownPath])].join(":"),
    HOME: places.home,
    TMPDIR: `${places.home}/tmp`,
    OPENFORGE_WORKDIR: places.workdir,
    ...(places.inAgentsFolder ? { PYTHONSAFEPATH: "1", PYTHONPATH: "/tests" } : {}),
    ...verifier,
  };
  const unset = loaders.filter((name) => !(name in env)).flatMap((name) => ["-u", name]);
  return { prefix: ["/usr/bin/env", ...unset], env };
}
