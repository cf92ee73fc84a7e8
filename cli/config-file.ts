import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Elsewhere, LineIndex, type Problem, renderProblem } from "../grammar/problem.ts";
import { requireProjectFile } from "../language-server/node-project-file.ts";
import { type Config, checkConfig, logParts, maskProblems, maskSecrets } from "../schema/index.ts";
import { type Member, memberOf, type Node, parseByLines, plainValue } from "../schema/json.ts";
import { type Context, EXIT } from "./context.ts";
import { edition, releaseAccount } from "./edition.ts";
import { diskDirectory } from "./project/directory.ts";
import { readFailure } from "./project/read-failure.ts";

export const CONFIG_FILE = "tool.json";

/** A minimal valid tool.json. */
export const SMALLEST = '{ "name": "my-app" }';

/** A tool.json without errors. */
export interface ConfigFile {
  readonly config: Config;
  readonly text: string;
}

interface ReadOptions {
  /** The files that are deployed are checked, too, as `validate` does. */
  readonly sizes?: boolean;
  /** The command makes something of the settings of Pro: they end it if they may not be used. */
  readonly appliesPro?: boolean;
  /** The command is for an account in the cloud: warned of what an app does not reach from there. */
  readonly isForCloud?: boolean;
}

/** A warning that is about apps in the cloud alone. */
const isOfCloud = ({ code, severity }: Problem) => code === "config/logs-service" && severity === "warning";

/** Reads and checks the project's tool.json. Problems and warnings are printed on stderr with carets; errors end the command. */
export async function readConfigFile(
  context: Context,
  { sizes = false, appliesPro = false, isForCloud = false }: ReadOptions = {},
): Promise<ConfigFile> {
  const { text, config, problems } = await checkedFile(context, sizes);
  const show = (some: readonly Problem[]) => sayProblems(context, some, { file: CONFIG_FILE, text });
  await show(isForCloud ? problems : problems.filter((problem) => !isOfCloud(problem)));
  if (config === undefined || problems.some(isError)) return context.exit(EXIT.failed);
  if (appliesPro && (edition === "free" || releaseAccount !== undefined)) {
    await (await import("./pro.ts")).requireProKeys(context, text, show);
  }
  return { config, text };
}

/** Whether `readConfigFile` would not end the command; says nothing. */
export async function isConfigValid(context: Context): Promise<boolean> {
  const file = await readTextFile(join(context.directory, CONFIG_FILE));
  if (!file.ok) return false;
  const { config, problems } = checkConfig(file.value, {
    directory: diskDirectory(context.directory),
    triesFixes: false,
  });
  return config !== undefined && !problems.some(isError);
}

/**
 * The same for `tool env`, which is how what is wrong with `environment` is put right: problems there do not count, and
 * warnings are not shown.
 */
export async function readConfigForVariables(context: Context): Promise<Config> {
  const { text, config, problems } = await checkedFile(context, false);
  if (config !== undefined) return config;
  const { root } = parseByLines(text);
  const rest = root?.type === "object" ? withoutEnvironment(plainValue(root) as Written) : undefined;
  const checked = rest && checkConfig(JSON.stringify(rest), { triesFixes: false }).config;
  if (checked !== undefined) return checked;
  await sayProblems(context, problems, { file: CONFIG_FILE, text });
  return context.exit(EXIT.failed);
}

interface Written {
  readonly environment?: unknown;
  readonly stages?: unknown;
}

function withoutEnvironment({ environment: _, ...rest }: Written): object {
  const { stages } = rest;
  if (typeof stages !== "object" || stages === null) return rest;
  const without = (stage: unknown) =>
    typeof stage === "object" && stage !== null ? withoutEnvironment(stage as Written) : stage;
  return { ...rest, stages: Object.fromEntries(Object.entries(stages).map(([name, one]) => [name, without(one)])) };
}

/**
 * The same for commands that may be needed in a hurry and take little of the file (the name, the place, stages, the log
 * service): errors in the rest are printed as warnings, and the rest is left out of what they get.
 */
export async function readNeededConfig(context: Context): Promise<ConfigFile> {
  const { text, config, problems } = await checkedFile(context, false);
  const errors = problems.filter(isError);
  const isValid = config !== undefined && errors.length === 0;
  const needed = isValid ? { config, text } : withoutProblems(text, errors);
  const said = problems.filter((problem) => !isOfCloud(problem));
  await sayProblems(context, needed === undefined ? said : said.map(asWarning), { file: CONFIG_FILE, text });
  if (needed === undefined) return context.exit(EXIT.failed);
  if (!isValid) await context.say("this command does not need that part of tool.json, and goes on without it");
  return needed;
}

/** Undefined if one of the problems is in what is needed. */
function withoutProblems(text: string, errors: readonly Problem[]): ConfigFile | undefined {
  const { root, problems } = parseByLines(text);
  if (root?.type !== "object" || problems.some(isError)) return undefined;
  const rest = plainValue(root) as Members;
  for (const { span } of errors) {
    const path = pathOf(root, span);
    if (!isSpare(path)) return undefined;
    // Several may be in one member.
    const parent = path.slice(0, -1).reduce<Members | undefined>((members, key) => members?.[key] as Members, rest);
    if (parent !== undefined) delete parent[path.at(-1)!];
  }
  const reduced = JSON.stringify(rest);
  const checked = checkConfig(reduced, { triesFixes: false });
  if (checked.config === undefined || checked.problems.some(isError)) return undefined;
  return { config: checked.config, text: reduced };
}

interface Members {
  [key: string]: unknown;
}

/** The keys of the smallest member that has a place, down to the settings of a stage. */
function pathOf(root: Node, span: Problem["span"]): readonly string[] {
  const path: string[] = [];
  let node: Node | undefined = root;
  while (node?.type === "object" && path.length < (path[0] === "stages" ? 3 : 2)) {
    const around: Member | undefined = node.members.find(
      ({ key, value = key }) => span.start >= key.span.start && span.end <= value.span.end,
    );
    if (around === undefined) break;
    path.push(around.key.value);
    node = around.value;
  }
  return path;
}

/** Names that are known: an unknown one may be that of the region, misspelt. */
function isSpare([first = "", second, third]: readonly string[]): boolean {
  if (first === "stages") return third !== undefined && ["hooks", "function", "proxy"].includes(third);
  if (first === "logs") return second !== undefined && !["service", "project", "delivery"].includes(second);
  return SPARE.includes(first);
}

const SPARE = [
  "description",
  "type",
  "function",
  "hooks",
  "static",
  "environment",
  "headers",
  "error_pages",
  "inject",
].concat(...["redirects", "cors", "proxy", "dns", "actions", "alerts", "tags"]);

function asWarning(problem: Problem): Problem {
  const { elsewhere } = problem;
  const own: Problem = isError(problem) ? { ...problem, severity: "warning" } : problem;
  return elsewhere === undefined ? own : { ...own, elsewhere: { ...elsewhere, problem: asWarning(elsewhere.problem) } };
}

const isError = ({ severity }: Problem) => severity === "error";

/** `logs.queries` of tool.json and of the files that it includes. Of those in tool.json only the named ones must be right. */
export async function readSavedQueries(
  context: Context,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const { text, problems } = await checkedFile(context, false);
  const queries = queriesIn(text);
  const others = queries?.type === "object" ? queries.members.filter(({ key }) => !names.includes(key.value)) : [];
  const ownProblems = problems.filter(
    ({ span }) => !others.some(({ key, value = key }) => span.start >= key.span.start && span.end <= value.span.end),
  );
  await sayProblems(context, ownProblems, { file: CONFIG_FILE, text });
  return ownProblems.some(isError) ? context.exit(EXIT.failed) : savedQueriesOf(context, text);
}

/** The same without a word, also if there is no tool.json. */
export async function savedQueriesIn(context: Context): Promise<Readonly<Record<string, string>>> {
  const file = await readTextFile(join(context.directory, CONFIG_FILE));
  return file.ok ? savedQueriesOf(context, file.value) : {};
}

/** A name that two of the files have is reported as an error of the second. */
function savedQueriesOf({ directory }: Context, text: string): Readonly<Record<string, string>> {
  const parts = logParts(parseByLines(text).root, diskDirectory(directory));
  return Object.assign({}, ...[text, ...parts.map((part) => part.text)].map((one) => textsOf(queriesIn(one))));
}

const queriesIn = (text: string) => memberOf(memberOf(parseByLines(text).root, "logs")?.value, "queries")?.value;

function textsOf(queries: Node | undefined): Readonly<Record<string, string>> {
  const value = queries?.type === "object" ? plainValue(queries) : {};
  return Object.fromEntries(
    Object.entries(value as object).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

async function checkedFile(context: Context, sizes: boolean) {
  const path = join(context.directory, CONFIG_FILE);
  const file = await readTextFile(path);
  if (!file.ok) {
    const [{ kind, message }] = file.problems;
    if (kind !== "absent") return context.fail(`cannot read ${path}: ${message}`);
    return context.misuse(`there is no ${CONFIG_FILE} in ${context.directory}`, `minimal tool.json: ${SMALLEST}`);
  }
  const directory = diskDirectory(context.directory, { sizes });
  return { text: file.value, ...checkConfig(file.value, { directory, triesFixes: false }) };
}

/**
 * Prints all problems of a file on stderr, each with its caret, separated by empty lines. Values of variables are masked.
 */
async function sayProblems(
  context: Context,
  problems: readonly Problem[],
  { file, text }: { readonly file: string; readonly text: string },
): Promise<void> {
  const { color, columns } = context.io.stderr;
  if (problems.length === 0) return;
  const source = basename(file) === CONFIG_FILE ? maskSecrets(text) : text;
  const lines = new LineIndex(source);
  const said = basename(file) === CONFIG_FILE ? maskProblems(text, problems) : problems;
  for (const problem of said) {
    const { elsewhere } = problem;
    const [actual, where] =
      elsewhere === undefined
        ? [problem, { source, file, lines }]
        : [elsewhere.problem, { source: masked(elsewhere), file: elsewhere.path }];
    if (isError(actual)) {
      const { line, column } = new LineIndex(where.source).position(actual.span.start);
      context.noteError(`${where.file}:${line}:${column}: ${actual.message}`, actual.hint);
    }
    await context.say(`${renderProblem(actual, { ...where, color, columns })}\n`);
  }
}

/** An included file may hold a secret where only its name belongs; other files are pages. */
const masked = ({ path, text }: Elsewhere) => (path.endsWith(".json") ? maskSecrets(text) : text);

/** The text of a file, or the problem that prevents reading it. */
export type TextFile =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly problems: readonly [TextFileProblem] };

/** The message is to be read after "cannot read tool.json:". */
type TextFileProblem =
  | { readonly kind: "absent" | "unreadable"; readonly message: string }
  /** The text has U+FFFD in the place of bytes that are not UTF-8, the first of them at `at`. */
  | { readonly kind: "encoding"; readonly message: string; readonly text: string; readonly at: number };

/** Reads the text of a file. */
export async function readTextFile(path: string): Promise<TextFile> {
  try {
    requireProjectFile(path);
    return decodeText(await readFile(path));
  } catch (error) {
    const message = readFailure(error);
    const kind = (error as NodeJS.ErrnoException).code === "ENOENT" ? "absent" : "unreadable";
    return { ok: false, problems: [{ kind, message }] };
  }
}

/** Decodes UTF-8 only: a replaced character could end up in a value that is deployed. */
export function decodeText(bytes: Uint8Array): TextFile {
  try {
    return { ok: true, value: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const at = text.indexOf("\ufffd");
    const line = text.slice(0, at).split("\n").length;
    const message = `it is not UTF-8 (line ${line}): save it as UTF-8`;
    return { ok: false, problems: [{ kind: "encoding", message, text, at }] };
  }
}
