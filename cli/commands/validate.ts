import { statSync } from "node:fs";
import { realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { didYouMean } from "../../grammar/did-you-mean.ts";
import {
  applyEdits,
  describe,
  editsTogether,
  type Fix,
  LineIndex,
  type Problem,
  renderProblem,
} from "../../grammar/problem.ts";
import { doubtsOf, parsePipeline, stagesNamedIn, withoutComments } from "../../grammar/query/index.ts";
import { parseTemplate } from "../../grammar/template/index.ts";
import { parseDuration } from "../../grammar/units/duration.ts";
import { visible } from "../../grammar/visible-text.ts";
import { ignoreProblems } from "../../schema/ignore/index.ts";
import {
  type ConfigCheckOptions,
  checkConfig,
  checkTemplate,
  developmentLogOf,
  fixAll,
  isLogPart,
  type LogFacts,
  maskProblems,
  maskSecrets,
  migrateConfig,
  notUtf8,
  partOf,
  stageNames,
  unknownStages,
  withQueryFixes,
} from "../../schema/index.ts";
import { memberOf, type Node, parseJson } from "../../schema/json.ts";
import { RULES } from "../../schema/rules.ts";
import type { Format } from "../argv.ts";
import { CONFIG_FILE, decodeText, readTextFile, SMALLEST } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { publishedReference } from "../docs/reference-file.ts";
import { edition } from "../edition.ts";
import type { CheckedFile } from "../output/checked-file.ts";
import { renderGithub } from "../output/github.ts";
import { toCodeQuality } from "../output/gitlab.ts";
import { toSarif } from "../output/sarif.ts";
import { checkableFiles, type FileLanguage, languageOf, UnreadableFolder } from "../project/checkable-files.ts";
import { diskDirectory } from "../project/directory.ts";
import { readStream } from "../read-stream.ts";
import type { Options } from "../table.ts";
import { version } from "../version.ts";

/**
 * `tool validate [file...]`: prints every problem on stdout: text for people, or for programs one JSON document, one SARIF
 * log, the commands of a GitHub workflow, or a report for GitLab. A folder means the files of ours below it.
 */
export async function validate(context: Context, options: Options<"validate">): Promise<number> {
  const written = options.file.length === 0 ? [CONFIG_FILE] : options.file;
  const names: string[] = [];
  for (const name of written) {
    const inside = options.file.length === 0 ? undefined : await filesIn(context, name);
    if (inside?.length === 0) {
      const what = `there is no ${CONFIG_FILE} and no *.logq below ${visible(name)}`;
      return context.misuse(what, `minimal ${CONFIG_FILE}: ${SMALLEST}`);
    }
    // A file in a given folder may be given by name as well.
    for (const one of inside ?? [name]) if (one === "-" || !names.includes(one)) names.push(one);
  }
  const wrong = options.ignore.find((rule) => !isRule(rule));
  if (wrong !== undefined) {
    const near = didYouMean(wrong, Object.keys(RULES));
    const hint =
      near === undefined ? "problems name theirs in brackets; query/* is all of an area" : `did you mean ${near}?`;
    return context.misuse(`there is no rule ${JSON.stringify(wrong)}`, hint);
  }
  if (names.filter((name) => name === "-").length > 1)
    return context.misuse("stdin can be read only once", "write - once");
  const days = trafficDays(context, options.traffic);
  const document = DOCUMENTS[context.format ?? "text"];
  if (options.fix && names.includes("-") && document !== undefined) {
    return context.misuse(`--fix writes the fixed text of stdin to stdout, where the ${document} would go`);
  }

  // All are read before anything is printed or written: a missing file is misuse.
  const inputs: Input[] = [];
  for (const name of names) {
    const file =
      name === "-"
        ? decodeText(await readStream(context.io.stdin))
        : await readTextFile(resolve(context.directory, name));
    if (file.ok) {
      inputs.push({ name, text: file.value });
      continue;
    }
    const [problem] = file.problems;
    if (problem.kind === "encoding") {
      inputs.push({ name, text: problem.text, unreadable: notUtf8(problem.at) });
      continue;
    }
    // Node reads the names of a folder as UTF-8, and what it makes of others is no name that it finds again.
    if (problem.kind === "absent" && name.includes("\ufffd") && !written.includes(name))
      return context.misuse(`cannot read ${displayName(name)}: its name is not UTF-8`, "rename it");
    const hint = problem.kind === "absent" && options.file.length === 0 ? `minimal tool.json: ${SMALLEST}` : undefined;
    return context.misuse(`cannot read ${displayName(name)}: ${problem.message}`, hint);
  }

  const reports: Report[] = [];
  for (const input of inputs) {
    const written =
      input.unreadable === undefined ? await check(context, input, options.fix) : [unreadable(context, input)];
    const checked = days === undefined ? written : await withTraffic(context, written, days);
    for (const whole of checked) {
      const report = { ...whole, problems: whole.problems.filter((problem) => !isIgnored(problem, options.ignore)) };
      // A page may be given by name and found by its tool.json as well.
      if (report.path === undefined || !reports.some(({ path }) => path === report.path)) reports.push(report);
    }
  }
  await writeReports(context, reports, options);
  if (edition === "free" && !options.ignore.some((rule) => rule === "config/pro" || rule === "config/*")) {
    // Not a problem: the file is right, and another build deploys it.
    const { proRemark } = await import("../pro.ts");
    for (const { name, text, configName } of reports) {
      const isConfig = configName === undefined && languageOf(name) === "config";
      const remark = isConfig ? proRemark(text, displayName(name)) : undefined;
      if (remark !== undefined) await context.say(remark);
    }
  }
  // Traffic is no mistake of the file: it fails nothing.
  const fails = ({ problems, ofTraffic }: Report) =>
    problems.some((problem) => problem.severity === "error" || (options.strict && !ofTraffic?.has(problem)));
  return reports.some(fails) ? EXIT.failed : EXIT.ok;
}

const MAX_TRAFFIC_DAYS = 365;

/** The days of `--traffic`; undefined without it. */
function trafficDays(context: Context, written: string | undefined): number | undefined {
  if (written === undefined) return undefined;
  const duration = parseDuration(written);
  const days = duration.ok ? duration.value / 86_400_000 : 0;
  if (Number.isInteger(days) && days >= 1 && days <= MAX_TRAFFIC_DAYS) return days;
  return context.misuse(
    `${JSON.stringify(written)} is not a number of days`,
    `write --traffic 30d, with 1 to ${MAX_TRAFFIC_DAYS} days`,
  );
}

/** The reports with what the log knows of the rules of each tool.json, and of the fields in its queries. */
async function withTraffic(context: Context, reports: readonly Report[], days: number): Promise<readonly Report[]> {
  const { trafficWarnings } = await import("../rule-traffic.ts");
  const all: Report[] = [];
  for (const report of reports) {
    const { path, text, problems } = report;
    if (path === undefined || basename(path) !== CONFIG_FILE || report.configName !== undefined) {
      all.push(report);
      continue;
    }
    const directory = diskDirectory(dirname(path));
    // A text compared with a field of numbers may have been reported already, by the check that needs no log.
    const isNew = ({ code, span }: Problem) =>
      !problems.some(
        (problem) =>
          (problem.code === code || problem.code === "query/text-for-number") && problem.span.start === span.start,
      );
    const ofFields = (log: LogFacts) =>
      maskProblems(text, checkConfig(text, { directory, log }).problems).filter(
        (problem) => problem.code === "query/other-type" && problem.elsewhere === undefined && isNew(problem),
      );
    const { root } = parseJson(text);
    const ofTraffic = await trafficWarnings(context, { root, directory, days, ofFields });
    const sorted = [...problems, ...ofTraffic].sort((a, b) => a.span.start - b.span.start);
    all.push({ ...report, problems: sorted, ofTraffic: new Set(ofTraffic) });
  }
  return all;
}

const isRule = (rule: string) =>
  Object.hasOwn(RULES, rule) ||
  (rule.endsWith("/*") && Object.keys(RULES).some((code) => code.startsWith(rule.slice(0, -1))));

/** Warnings alone: a file with an error is refused by every other command, whatever is left out here. */
const isIgnored = ({ code, severity }: Problem, rules: readonly string[]) =>
  severity === "warning" &&
  rules.some((rule) => rule === code || (rule.endsWith("/*") && code.startsWith(rule.slice(0, -1))));

interface Input {
  readonly name: string;
  readonly text: string;
  /** Why the file cannot be read, which is then its only known problem. */
  readonly unreadable?: Problem;
}

interface Report extends CheckedFile {
  /** As written on the command line. */
  readonly name: string;
  /** For an error page: the name of its tool.json. */
  readonly configName?: string;
  /** Those of its problems that are known by the traffic alone. */
  readonly ofTraffic?: ReadonlySet<Problem>;
}

/** The kind of document that a format puts on stdout. */
const DOCUMENTS: Readonly<Record<Format, string | undefined>> = {
  text: undefined,
  json: "JSON document",
  csv: undefined,
  github: "workflow commands",
  gitlab: "Code Quality report",
  sarif: "SARIF log",
};

async function writeReports(context: Context, reports: readonly Report[], { fix }: Options<"validate">): Promise<void> {
  // These have paths relative to the top of the repository, and a step of a job may run in a folder of it.
  const base = context.io.env.GITHUB_WORKSPACE || context.io.env.CI_PROJECT_DIR || context.io.cwd;
  switch (context.format) {
    case "json": {
      // Problems of pages are listed with their tool.json, so that one file always gives one document.
      const documents = reports
        .filter(({ configName }) => configName === undefined)
        .map((report) =>
          toJson(
            report,
            reports.filter(({ configName }) => configName === report.name),
          ),
        );
      return context.print(JSON.stringify(documents.length === 1 ? documents[0] : { files: documents }, null, 2));
    }
    case "sarif":
      return context.print(
        JSON.stringify(toSarif(reports, { version, base, documentation: publishedReference(context.io.env) }), null, 2),
      );
    case "gitlab":
      return context.print(JSON.stringify(toCodeQuality(reports, base), null, 2));
    case "github": {
      const commands = renderGithub(reports, base);
      return commands === "" ? undefined : context.print(commands);
    }
    default:
      for (const report of reports) await sayReport(context, report, { quiet: fix && report.name === "-" });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Reading it says why.
    return false;
  }
}

/** The files in a folder, as they would be written; undefined if the name is not a folder. */
async function filesIn(context: Context, name: string): Promise<string[] | undefined> {
  const path = resolve(context.directory, name);
  if (name === "-" || !isFolder(path)) return undefined;
  const prefix = name.replace(/^\.\/+|\/+$/g, "").replace(/^\.$/, "");
  const written = (file: string) => (prefix === "" || file === "" ? file || name : `${prefix}/${file}`);
  const files = await checkableFiles(path).catch((error: unknown) => {
    if (!(error instanceof UnreadableFolder)) throw error;
    const hint = error.isNamedInUtf8 ? "make it readable, or name the files to check" : "rename it";
    return context.misuse(`cannot read ${displayName(written(error.path))}: ${error.message}`, hint);
  });
  return files.map(written);
}

function unreadable(context: Context, { name, text, unreadable }: Input): Report {
  const path = name === "-" ? undefined : resolve(context.directory, name);
  return { name, path, text, problems: unreadable === undefined ? [] : [unreadable] };
}

/** Checks a file. A tool.json is followed by its error pages that have problems. */
async function check(context: Context, input: { name: string; text: string }, fix: boolean): Promise<Report[]> {
  const { name } = input;
  const language = languageOf(name);
  if (language !== "config") {
    const path = resolve(context.directory, name);
    const file = { text: input.text, problems: await problemsOf(language, path, input.text) };
    const fixed = fix ? await withFixes(file, (text) => problemsOf(language, path, text)) : file;
    if (fixed.text !== input.text) {
      await replaceFile(path, fixed.text);
      await context.say(`${displayName(name)} rewritten`);
    } else if (fix) await context.say(`${displayName(name)}: nothing to rewrite`);
    return [{ name, path, ...fixed }];
  }
  const path = resolve(context.directory, name);
  let { text } = input;
  // Files with other names (fixtures, drafts) are not in their project's folder, unless its tool.json includes them.
  const options: ConfigCheckOptions =
    basename(name) === CONFIG_FILE
      ? { directory: diskDirectory(dirname(path), { sizes: true, reasons: true }) }
      : name === "-"
        ? {}
        : await partOptions(path);
  if (fix) {
    const migrated = migrateConfig(text);
    const fixed = fixAll(migrated.text, options);
    if (name === "-") await context.io.stdout.write(fixed.text);
    else if (fixed.text !== text) {
      await replaceFile(path, fixed.text);
      await context.say(`${displayName(name)} rewritten`);
    } else await context.say(`${displayName(name)}: nothing to rewrite`);
    for (const note of [...migrated.notes, ...fixed.notes]) await context.say(`  ${note}`);
    text = fixed.text;
  }
  const problems = maskProblems(text, checkConfig(text, options).problems);
  const own = problems.filter(({ elsewhere }) => elsewhere === undefined);
  return [{ name, path: name === "-" ? undefined : path, text, problems: own }, ...pages(name, path, problems)];
}

/** The text after all safe fixes, applied in rounds as long as each leaves fewer problems. */
async function withFixes(
  file: { readonly text: string; readonly problems: readonly Problem[] },
  problemsIn: (text: string) => Promise<readonly Problem[]>,
): Promise<{ readonly text: string; readonly problems: readonly Problem[] }> {
  let last = file;
  for (;;) {
    const text = applyEdits(last.text, editsTogether(last.problems));
    const problems = await problemsIn(text);
    if (problems.length >= last.problems.length) return last;
    last = { text, problems };
  }
}

/** The problems of error pages, file by file. */
function pages(name: string, configPath: string, problems: readonly Problem[]): Report[] {
  const byPath = new Map<string, { text: string; problems: Problem[] }>();
  for (const { elsewhere } of problems) {
    if (elsewhere === undefined) continue;
    const page = byPath.get(elsewhere.path) ?? { text: elsewhere.text, problems: [] };
    page.problems.push(elsewhere.problem);
    byPath.set(elsewhere.path, page);
  }
  const folder = name.slice(0, name.lastIndexOf("/") + 1);
  return [...byPath].map(([page, rest]) => ({
    name: folder + page,
    path: resolve(dirname(configPath), page),
    ...rest,
    configName: name,
  }));
}

/** The problems of a file that is not a tool.json. The project's tool.json, if there is one, has the names it may use. */
async function problemsOf(
  language: Exclude<FileLanguage, "config">,
  path: string,
  text: string,
): Promise<readonly Problem[]> {
  if (language === "ignore") return ignoreProblems(text);
  const config = await configAbove(dirname(path));
  const root = config?.root;
  if (language === "template") {
    if (root === undefined) {
      const parsed = parseTemplate(text);
      return parsed.ok ? [] : parsed.problems;
    }
    return checkTemplate(text, memberOf(memberOf(root, "error_pages")?.value, "variables")?.value);
  }
  const query = withoutComments(text);
  const parsed = parsePipeline(query);
  if (!parsed.ok) return withQueryFixes(query, parsed.problems);
  const directory = config && diskDirectory(config.folder);
  const warnings = doubtsOf(parsed.value, developmentLogOf(directory).fields);
  return root === undefined ? warnings : [...unknownStages(stagesNamedIn(parsed.value), stageNames(root)), ...warnings];
}

/** How a file is checked that `logs.include` of a tool.json above it names. */
async function partOptions(path: string): Promise<ConfigCheckOptions> {
  const config = await configAbove(dirname(path));
  const inside = config && relative(config.folder, path).replaceAll("\\", "/");
  if (config === undefined || inside === undefined || !isLogPart(config.root, inside)) return {};
  const directory = diskDirectory(config.folder);
  return { directory, partOf: partOf(config.root, inside, directory) };
}

/** The nearest tool.json, a few folders up at most, as the language server looks for it. */
async function configAbove(
  folder: string,
): Promise<{ readonly folder: string; readonly root: Node | undefined } | undefined> {
  let at = folder;
  for (let level = 0; level < MAX_LEVELS_UP; level++) {
    const file = await readTextFile(join(at, CONFIG_FILE));
    if (file.ok) return { folder: at, root: parseJson(file.value).root };
    if (dirname(at) === at) break;
    at = dirname(at);
  }
  return undefined;
}

const MAX_LEVELS_UP = 4;

async function sayReport(
  context: Context,
  { name, text, problems }: CheckedFile & { readonly name: string },
  { quiet }: { quiet: boolean },
) {
  const file = displayName(name);
  if (problems.length === 0) {
    if (quiet) await context.say(`${file} is valid`);
    else await context.print(`${file} is valid`);
    return;
  }
  // Problems are the output, so that they can be kept in a file. If stdout holds the rewritten text, they go to stderr.
  const write = quiet ? context.say : context.print;
  const terminal = quiet ? context.io.stderr : context.io.stdout;
  // The output may end up in logs.
  const source = languageOf(name) === "config" ? maskSecrets(text) : text;
  const lines = new LineIndex(source);
  for (const problem of problems) {
    const { color, columns } = terminal;
    await write(`${renderProblem(problem, { source, file, color, columns, lines })}\n`);
  }
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const counts = [count(errors, "error"), count(problems.length - errors, "warning")].filter((part) => part !== "");
  await write(`${counts.join(", ")} in ${file}`);
}

/** A file and its problems. Problems of its error pages name their page in `file`. */
function toJson(report: Report, pages: readonly Report[]) {
  const ofPages = pages.flatMap((page) => problemsToJson(page).map((problem) => ({ file: page.name, ...problem })));
  return { file: report.name, problems: [...problemsToJson(report), ...ofPages] };
}

/** Lines and columns from 1, offsets and lengths in UTF-16 units, as editors count. */
function problemsToJson({ text, problems }: Report) {
  const lines = new LineIndex(text);
  return problems.map((problem) => {
    const { start, end } = problem.span;
    const { line, column } = lines.position(start);
    const stop = lines.position(end);
    return {
      code: problem.code,
      severity: problem.severity,
      message: describe(problem),
      line,
      column,
      endLine: stop.line,
      endColumn: stop.column,
      offset: start,
      length: end - start,
      ...(problem.fix !== undefined && { fix: fixToJson(problem.fix) }),
      ...(problem.alternatives !== undefined && { alternatives: problem.alternatives.map(fixToJson) }),
    };
  });
}

const fixToJson = ({ title, edits, isSuggestion }: Fix) => ({
  title,
  // `--fix` does not apply it: only the user can tell whether it is right.
  ...(isSuggestion && { suggestion: true }),
  edits: edits.map(({ span, text }) => ({ offset: span.start, length: span.end - span.start, text })),
});

/** Replaces a file by a rename, so that a reader sees the old text or the new one. Keeps its mode, and a link to it. */
async function replaceFile(name: string, text: string): Promise<void> {
  const path = await realpath(name);
  const beside = `${path}.${process.pid}.tmp`;
  const { mode } = await stat(path);
  try {
    await writeFile(beside, text, { mode, flag: "wx" });
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw new Error(`cannot write ${path}`, { cause: error });
  }
}

/** In one line: a name that others chose would begin lines of a job's log, which runners of CI read commands from. */
const displayName = (name: string) => (name === "-" ? "stdin" : visible(name));

function count(amount: number, noun: string): string {
  return amount === 0 ? "" : `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
