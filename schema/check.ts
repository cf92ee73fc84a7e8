import type { Problem } from "../grammar/problem.ts";
import { checkActions, checkAlerts } from "./checks/alerts.ts";
import { checkCommandSecrets, checkInferredCommand } from "./checks/commands.ts";
import { checkCors } from "./checks/cors.ts";
import { checkDirectory } from "./checks/directory.ts";
import { checkDns } from "./checks/dns.ts";
import { checkEnvironment } from "./checks/environment.ts";
import { checkFunction } from "./checks/function.ts";
import { checkHeaders } from "./checks/headers.ts";
import { checkIgnoreFile } from "./checks/ignore-file.ts";
import { checkInject } from "./checks/inject.ts";
import { checkLogAlerts, checkPart } from "./checks/log-alerts.ts";
import { checkLogDelivery } from "./checks/logs.ts";
import { checkQueryStages } from "./checks/query-stages.ts";
import { checkRedirects } from "./checks/redirects.ts";
import { checkRegions } from "./checks/regions.ts";
import {
  checkAppName,
  checkBackoff,
  checkErrorPageVariables,
  checkSavedQueries,
  checkStaticPrefix,
} from "./checks/settings.ts";
import { checkSite } from "./checks/site.ts";
import { checkStages } from "./checks/stages.ts";
import { type AppType, checkServedFiles } from "./checks/static.ts";
import { checkTags } from "./checks/tags.ts";
import { checkVariablesSize } from "./checks/variables-size.ts";
import { checkEffects } from "./checks/without-effect.ts";
import type { Config } from "./config.generated.ts";
import { developmentLogOf, type LogFacts } from "./development-log.ts";
import { checkDialect } from "./dialect.ts";
import type { Directory } from "./directory.ts";
import { inferRuntime } from "./infer.ts";
import { memberOf, type Node, type ObjectNode, type ParsedJson, parseByLines, plainValue } from "./json.ts";
import { checkLanguages } from "./languages.ts";
import { type PartOf, partOf as partAt } from "./log-parts.ts";
import { Memory } from "./memory.ts";
import { withValues } from "./missing-values.ts";
import { ProblemReport } from "./report.ts";
import { checkShape } from "./shape.ts";
import { withSoundFixes } from "./sound-fixes.ts";

export interface ConfigCheckOptions {
  /** The project's files, for a file named tool.json. Without it only the text is checked. */
  readonly directory?: Directory;
  /** The fields of the app's log; by default those of the development log in the directory. */
  readonly log?: LogFacts;
  /** Set if the text is not a tool.json but a file that `logs.include` of one names. `directory` is the tool.json's. */
  readonly partOf?: PartOf;
  /** The result of `parseJson` for the text, if it was called: used if it has no problems, and never changed. */
  readonly parsed?: ParsedJson;
  /** False if no fixes will be offered: then they are not tried out, which takes longer than all checks. */
  readonly triesFixes?: boolean;
  /** Results for earlier versions of the text, so that only changed parts are checked again. */
  readonly memory?: Memory;
}

/**
 * Checks the text of a tool.json: syntax, shape, meaning and, with a directory, the files that it names. Everything
 * that is wrong is found in one pass, sorted by place; codes are `config/...`, or those of the language inside
 * a string. `config` is set if there is no error (warnings do not count). Pure, never throws.
 */
export function checkConfig(text: string, options: ConfigCheckOptions = {}): Checked {
  const { root, problems } = checkAtOnce(text, options);
  const isValid = root !== undefined && problems.every(({ severity }) => severity !== "error");
  // The text differs with each fix that is tried, and most of its strings do not.
  const { directory, partOf, memory = new Memory() } = options;
  const again = { memory, ...(directory && { directory }), ...(partOf && { partOf }) };
  return {
    config: isValid ? (plainValue(root) as Config) : undefined,
    problems:
      options.triesFixes === false
        ? problems
        : withSoundFixes(text, problems, (fixed) => checkAtOnce(fixed, again).problems),
  };
}

function checkAtOnce(text: string, options: ConfigCheckOptions) {
  const steps = checkInSteps(text, options);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

export interface Checked {
  config: Config | undefined;
  problems: Problem[];
}

/**
 * The same in short steps: between them an editor answers other requests, or cancels a check whose result is no longer
 * wanted. `root` is the tree with repairs applied. Fixes are not tried out: see `withSoundFixes`.
 */
export function* checkInSteps(
  text: string,
  options: ConfigCheckOptions = {},
): Generator<undefined, { readonly root: Node | undefined; readonly problems: Problem[] }> {
  const { memory = new Memory(), directory, log, partOf } = options;
  // If something is missing, indentation helps to say what; a text without slips need not be read twice.
  const parsed = options.parsed?.problems.length === 0 ? options.parsed : parseByLines(text);
  const report = new ProblemReport(text);
  const syntax = withValues(text, parsed.root, parsed.problems);
  for (const problem of syntax) report.add(problem);
  for (const problem of parsed.repaired) report.coerced(problem);
  yield;
  let { root } = parsed;
  if (root?.type === "object") {
    root = checkDialect(report, root);
    yield;
    if (partOf !== undefined) root = checkPart(report, root);
    root = checkShape(report, root, { isPart: partOf !== undefined });
    yield;
    yield* checkMeaning(report, root, { memory, directory, log, partOf });
  } else if (root !== undefined && root.type !== "broken") {
    report.error("config/not-an-object", root.span, "the configuration must be an object", {
      hint: `write at least { "name": "app" }`,
    });
  }
  return { root, problems: report.sorted() };
}

interface MeaningCheck {
  readonly memory: Memory;
  readonly directory: Directory | undefined;
  readonly log: LogFacts | undefined;
  readonly partOf: PartOf | undefined;
}

function* checkMeaning(
  report: ProblemReport,
  root: ObjectNode,
  { memory, directory, log = developmentLogOf(directory, memory), partOf }: MeaningCheck,
): Generator<undefined, undefined> {
  const meanings = yield* checkLanguages(report, root, { memory, log });
  yield;
  const isNamed = (name: string) => (partOf ?? partAt(root, "tool.json", directory)).names.queries.has(name);
  checkSavedQueries(report, memberOf(root, "logs")?.value, isNamed);
  checkQueryStages(report, partOf?.root ?? root, meanings);
  const problemsOf = (text: string, part: PartOf) =>
    checkAtOnce(text, { partOf: part, ...(directory && { directory }) }).problems;
  checkLogAlerts(report, root, { meanings, memory, directory, part: partOf, problemsOf });
  if (partOf !== undefined) return;
  yield;
  const section = (name: string) => memberOf(root, name)?.value;
  checkAppName(report, section("name"));
  checkRegions(report, section("regions"), meanings);
  const settings = { meanings, name: section("name"), regions: section("regions") };
  checkFunction(report, section("function"), settings);
  checkStaticPrefix(report, section("static"));
  checkEnvironment(report, section("environment"));
  checkVariablesSize(report, root);
  checkHeaders(report, section("headers"));
  checkCommandSecrets(report, root);
  yield;
  checkErrorPageVariables(report, section("error_pages"));
  checkInject(report, section("inject"));
  const type = appType(root, directory);
  yield* checkRedirects(report, section("redirects"), { meanings, memory, isServer: type === "server" });
  yield;
  checkCors(report, section("cors"));
  checkBackoff(report, section("proxy"));
  checkDns(report, section("dns"));
  checkStages(report, section("stages"), settings);
  yield;
  checkLogDelivery(report, section("logs"));
  checkActions(report, root);
  checkAlerts(report, section("alerts"), meanings);
  checkTags(report, section("tags"));
  checkEffects(report, root, meanings);
  checkServedFiles(report, root, type, directory);
  if (directory === undefined) return;
  checkDirectory(report, root, directory);
  checkIgnoreFile(report, root, directory);
  if (isSite(root, directory)) checkSite(report, root, directory, "static");
  else if (type === "server" && memberOf(memberOf(root, "static")?.value, "dir") !== undefined) {
    checkSite(report, root, directory, "server");
  }
  if (type === "server") checkInferredCommand(report, root, directory);
}

/** Whether the app is certainly a static site. */
function isSite(root: ObjectNode, directory: Directory): boolean {
  const type = memberOf(root, "type")?.value;
  if (type !== undefined) return type.type === "string" && type.value === "static";
  if (memberOf(memberOf(root, "proxy")?.value, "command") !== undefined) return false;
  return inferRuntime(directory, { name: "" }, { development: true }).type === "static";
}

/** The type of the app, if it is certain: as tool.json says, or as the files of the app do. */
function appType(root: ObjectNode, directory: Directory | undefined): AppType | undefined {
  const type = memberOf(root, "type")?.value;
  if (type !== undefined) {
    return type.type === "string" && (type.value === "server" || type.value === "static") ? type.value : undefined;
  }
  // An app with a command of its own is not a static site, whatever its files say.
  if (memberOf(memberOf(root, "proxy")?.value, "command") !== undefined) return "server";
  if (directory === undefined) return undefined;
  const inference = inferRuntime(directory, { name: "" }, { development: true });
  return inference.marker === undefined ? undefined : inference.type;
}
