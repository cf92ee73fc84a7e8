import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { readProjectText } from "../../language-server/node-project-file.ts";
import { parseByLines } from "../../schema/json.ts";
import { logNamesOf } from "../../schema/log-parts.ts";
import { type CompletionWord, complete, type ProjectWords } from "../completion/complete.ts";
import { SCRIPTS, type Shell } from "../completion/scripts.ts";
import { afterBreak, splitLine } from "../completion/shell-words.ts";
import { CONFIG_FILE } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { HOOKS, stagesOf } from "../hooks/hooks.ts";
import { diskDirectory } from "../project/directory.ts";
import { describeTable, type Options } from "../table.ts";
import { CredentialsFile } from "../team/credentials-file.ts";
import { readTeamConfig } from "../team/team-config.ts";

/**
 * `tool completion <shell>`: prints the completion script of a shell; with `--line`, the candidates for the last word of
 * the line, which that script asks for. It passes a line because each shell splits words in its own way.
 */
export async function completion(context: Context, { shell, line }: Options<"completion">): Promise<number> {
  if (!isShell(shell)) {
    return context.misuse(`there are no completions for ${JSON.stringify(shell)}`, "the shells are: bash, zsh, fish");
  }
  if (line === undefined) {
    await context.io.stdout.write(SCRIPTS[shell]);
    return EXIT.ok;
  }
  const all = splitLine(line);
  // The command may come after sudo and the like.
  const words = all.slice(
    Math.max(
      0,
      all.findIndex((word) => basename(word) === "tool"),
    ) + 1,
  );
  const typed = words.at(-1) ?? "";
  const completion = complete(words, describeTable(), projectWords(context, words));
  if (completion.kind !== "words") await context.print(`:${completion.kind}`);
  else {
    const lines = completion.candidates
      .filter(({ value }) => value.startsWith(typed))
      .map((candidate) => LINES[shell](candidate, typed));
    if (lines.length > 0) await context.print(lines.join("\n"));
  }
  return EXIT.ok;
}

function isShell(name: string): name is Shell {
  return Object.hasOwn(SCRIPTS, name);
}

/** A candidate and its description in the form that each shell takes; bash shows no descriptions. */
const LINES: Readonly<Record<Shell, (candidate: CompletionWord, typed: string) => string>> = {
  bash: ({ value }, typed) => afterBreak(typed, value),
  zsh: ({ value, description }) =>
    `${value.replaceAll(":", "\\:")}${description === undefined ? "" : `:${description}`}`,
  fish: ({ value, description }) => (description === undefined ? value : `${value}\t${description}`),
};

/** The words that tool.json adds, as far as it can be read. Its problems are not shown while a command is typed. */
function projectWords(context: Context, words: readonly string[]): ProjectWords {
  const at = words.findLastIndex((word, i) => i < words.length - 2 && (word === "-C" || word === "--chdir"));
  const directory = at < 0 ? context.directory : resolve(context.directory, words[at + 1]!);
  let config: { stages?: object; profile?: unknown } = {};
  let queries: readonly string[] = [];
  try {
    const text = readProjectText(join(directory, CONFIG_FILE));
    config = JSON.parse(text);
    queries = [...logNamesOf(parseByLines(text).root, diskDirectory(directory)).queries.keys()];
  } catch {
    // There is none, or it is being edited.
  }
  const names = (value: unknown) => (typeof value === "object" && value !== null ? Object.keys(value) : []);
  const stages = stagesOf({ stages: Object.fromEntries(names(config?.stages).map((stage) => [stage, {}])) });
  const variables = takesVariable(words) ? variableNames(context, directory, words, config?.profile) : [];
  return { stages, queries, hooks: HOOKS, variables, teams: teamKeys(context) };
}

/** The teams of the file that keeps who is signed in, as far as it can be read. */
function teamKeys({ io }: Context): readonly string[] {
  try {
    const { path } = new CredentialsFile({ env: io.env, clock: io.clock, say: () => {} });
    const read = readTeamConfig(readFileSync(path, "utf8"));
    return read.ok ? read.value.credentials.map(({ key }) => key) : [];
  } catch {
    return [];
  }
}

/** Whether the word at the cursor may be the name of a variable that exists. */
function takesVariable(words: readonly string[]): boolean {
  const at = words.indexOf("env");
  return (
    at >= 0 && /^(add|set|get|rm)$/.test(words[at + 1] ?? "") && words.length > at + 2 && !/^-/.test(words.at(-1)!)
  );
}

/** Longer than the store takes, and short enough to wait for after a Tab. */
const NAMES_LIMIT_MS = 1_500;

/** Asks the store as `tool env ls` does, if credentials are named or the sandbox is used. Nothing is said if that fails. */
function variableNames(
  { io }: Context,
  directory: string,
  words: readonly string[],
  profile: unknown,
): readonly string[] {
  const { CLOUD_PROFILE, CLOUD_ACCESS_KEY_ID, TOOL_SANDBOX = "" } = io.env;
  const inSandbox = words.includes("--sandbox") || /^(1|true|yes|on)$/i.test(TOOL_SANDBOX);
  if (!inSandbox && !CLOUD_PROFILE && !CLOUD_ACCESS_KEY_ID && typeof profile !== "string") return [];
  const argv = ["-C", directory, "env", "ls", "--format", "json", ...(inSandbox ? ["--sandbox"] : [])];
  const { stdout } = spawnSync(process.execPath, [process.argv[1]!, ...argv], {
    encoding: "utf8",
    timeout: NAMES_LIMIT_MS,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const { variables } = JSON.parse(stdout) as { variables: readonly { readonly name: string }[] };
    return [...new Set(variables.map(({ name }) => name))];
  } catch {
    return [];
  }
}
