import { pathToFileURL } from "node:url";
import { describe, fixesOf, type Problem } from "../../grammar/problem.ts";
import { ruleHelp, ruleTitle } from "../../schema/rules.ts";
import { type CheckedFile, folderUri, pathBelow, type Region, regionsOf } from "./checked-file.ts";

/** The contents of the log besides the problems. */
export interface SarifOptions {
  /** The version of the tool. */
  readonly version: string;
  /** The folder that paths are relative to, the top of the sources. Files elsewhere have absolute URIs. */
  readonly base: string;
  /** URL of a rule's explanation, with `{code}` for the code, if the reference is published. */
  readonly documentation?: string | undefined;
}

/**
 * The problems as a SARIF 2.1.0 log (docs.oasis-open.org/sarif/sarif/v2.1.0): one run, a result for each problem, a
 * rule for each code that occurs.
 */
export function toSarif(files: readonly CheckedFile[], { version, base, documentation }: SarifOptions): object {
  const codes = [...new Set(files.flatMap(({ problems }) => problems.map(({ code }) => code)))].sort();
  const results = files.flatMap((file) => {
    const region = regionsOf(file.text);
    const artifactLocation = locationOf(file, base);
    return file.problems.map((problem) => ({
      ruleId: problem.code,
      ruleIndex: codes.indexOf(problem.code),
      level: problem.severity,
      message: messageOf(describe(problem)),
      locations: [{ physicalLocation: { artifactLocation, region: region(problem.span) } }],
      ...(problem.fix && { fixes: fixesOf(problem).map((fix) => fixOf(fix, artifactLocation, region)) }),
    }));
  });
  return logOf({
    tool: { driver: { name: "tool", version, rules: codes.map((code) => ruleOf(code, documentation)) } },
    columnKind: "utf16CodeUnits",
    // Our lines end at a lone CR too, which the format's default lacks.
    newlineSequences: ["\r\n", "\n", "\r"],
    originalUriBaseIds: { [SOURCES]: { uri: folderUri(base) } },
    results,
    invocations: [{ executionSuccessful: true }],
  });
}

/** The log of a run that a bug of the tool ended (section 3.20.21): no results, and the failure. */
export function failedSarif(reason: string, { version, exitCode }: { version: string; exitCode: number }): object {
  return logOf({
    tool: { driver: { name: "tool", version } },
    results: [],
    invocations: [
      {
        executionSuccessful: false,
        exitCode,
        toolExecutionNotifications: [{ level: "error", message: messageOf(reason) }],
      },
    ],
  });
}

function logOf(run: object): object {
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [run],
  };
}

/** Single braces would be placeholders (section 3.11.5). */
function messageOf(text: string): object {
  return { text: escaped(text) };
}

const escaped = (text: string) => text.replace(/[{}]/g, "$&$&");

/** The usual name for the top of the sources. */
const SOURCES = "SRCROOT";

function locationOf({ path }: CheckedFile, base: string): object {
  if (path === undefined) return { uri: "stdin:", description: messageOf("standard input") };
  const below = pathBelow(base, path);
  if (below === undefined) return { uri: pathToFileURL(path).href };
  return { uri: below.split("/").map(encodeURIComponent).join("/"), uriBaseId: SOURCES };
}

function fixOf(fix: NonNullable<Problem["fix"]>, artifactLocation: object, region: (span: Problem["span"]) => Region) {
  const replacements = fix.edits.map(({ span, text }) => ({
    deletedRegion: region(span),
    ...(text !== "" && { insertedContent: { text } }),
  }));
  return { description: messageOf(fix.title), artifactChanges: [{ artifactLocation, replacements }] };
}

function ruleOf(code: string, documentation: string | undefined): object {
  const text = ruleHelp(code);
  return {
    id: code,
    shortDescription: messageOf(ruleTitle(code)),
    help: { text: escaped(text.replaceAll("`", "")), markdown: escaped(text) },
    ...(documentation !== undefined && { helpUri: documentation.replaceAll("{code}", encodeURIComponent(code)) }),
  };
}
