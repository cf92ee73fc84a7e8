import type { Problem } from "../grammar/problem.ts";
import { checkActions, checkAlerts } from "./checks/alerts.ts";
import { checkCors } from "./checks/cors.ts";
import { checkDns } from "./checks/dns.ts";
import { checkEnvironment } from "./checks/environment.ts";
import { checkFunction } from "./checks/function.ts";
import { checkHeaders } from "./checks/headers.ts";
import { checkInject } from "./checks/inject.ts";
import { checkRedirects } from "./checks/redirects.ts";
import { checkRegions } from "./checks/regions.ts";
import {
  checkBackoff,
  checkErrorPageVariables,
  checkName,
  checkQueryNames,
  checkStaticPrefix,
  warnStaticRoot,
} from "./checks/settings.ts";
import { checkStages } from "./checks/stages.ts";
import type { Config } from "./config.generated.ts";
import { checkDialect } from "./dialect.ts";
import { checkDirectory, type Directory } from "./directory.ts";
import { inferRuntime } from "./infer.ts";
import { memberOf, type ObjectNode, parseByLines, plainValue } from "./json.ts";
import { checkLanguages } from "./languages.ts";
import { Report } from "./report.ts";
import { checkShape } from "./shape.ts";

export interface CheckOptions {
  /** The project's files, for a file named tool.json; without it nothing beyond the text is looked at. */
  readonly directory?: Directory;
}

/**
 * Checks the text of a tool.json: syntax, shape, meaning and, with a directory, the files that it names. Everything
 * that is wrong is found in one pass, sorted by where it stands; codes are `config/...`, or those of the language inside
 * a string. `config` is set where no error stands in its way (warnings do not). Pure, never throws.
 */
export function checkConfig(text: string, options: CheckOptions = {}): Checked {
  const steps = checkInSteps(text, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export interface Checked {
  config: Config | undefined;
  problems: Problem[];
}

/**
 * The same in steps that each take a part of the time: an editor answers others between them, and gives up what nobody
 * waits for any more.
 */
export function* checkInSteps(text: string, options: CheckOptions = {}): Generator<undefined, Checked> {
  const report = new Report(text);
  const { root, problems, repaired } = parseByLines(text);
  for (const problem of problems) report.add(problem);
  for (const problem of repaired) report.coerced(problem);
  yield;
  if (root?.type === "object") {
    checkDialect(report, root);
    yield;
    checkShape(report, root);
    yield;
    yield* checkMeaning(report, root, options.directory);
  } else if (root !== undefined && root.type !== "broken") {
    report.error("config/not-an-object", root.span, "the configuration must be an object", {
      hint: `write at least { "name": "app" }`,
    });
  }
  const sorted = report.sorted();
  const valid = root !== undefined && sorted.every(({ severity }) => severity !== "error");
  return { config: valid ? (plainValue(root) as Config) : undefined, problems: sorted };
}

function* checkMeaning(
  report: Report,
  root: ObjectNode,
  directory: Directory | undefined,
): Generator<undefined, undefined> {
  const meanings = yield* checkLanguages(report, root);
  yield;
  const section = (name: string) => memberOf(root, name)?.value;
  checkName(report, section("name"));
  checkRegions(report, section("regions"), meanings);
  checkFunction(report, section("function"), meanings);
  checkStaticPrefix(report, section("static"));
  checkEnvironment(report, section("environment"));
  checkHeaders(report, section("headers"));
  yield;
  checkErrorPageVariables(report, section("error_pages"));
  checkInject(report, section("inject"));
  yield* checkRedirects(report, section("redirects"), meanings);
  yield;
  checkCors(report, section("cors"));
  checkBackoff(report, section("proxy"));
  checkDns(report, section("dns"));
  checkStages(report, section("stages"), meanings);
  yield;
  checkQueryNames(report, section("logs"));
  checkActions(report, section("actions"));
  checkAlerts(report, section("alerts"), meanings);
  warnStaticRoot(report, root, isServer(root, directory));
  if (directory !== undefined) checkDirectory(report, root, directory);
}

/** Whether the app is certainly a server: it says so, or its files do. */
function isServer(root: ObjectNode, directory: Directory | undefined): boolean {
  const type = memberOf(root, "type")?.value;
  if (type !== undefined) return type.type === "string" && type.value === "server";
  if (directory === undefined) return false;
  const { marker } = inferRuntime(directory, { name: "" }, { development: true });
  return marker !== undefined && marker !== "index.html";
}
