import { pathToFileURL } from "node:url";
import { describe, fixesOf, type Problem } from "../../grammar/problem.ts";
import { type CheckedFile, folderUri, pathBelow, type Region, regionsOf } from "./checked-file.ts";

/** What the log says besides the problems. */
export interface SarifOptions {
  /** The version of the tool. */
  readonly version: string;
  /** The folder that paths are relative to, the top of the sources. Files elsewhere have absolute addresses. */
  readonly base: string;
}

/**
 * The problems as a SARIF 2.1.0 log (docs.oasis-open.org/sarif/sarif/v2.1.0): one run, a result for each problem, a
 * rule for each code that occurs.
 */
export function toSarif(files: readonly CheckedFile[], { version, base }: SarifOptions): object {
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
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "tool", version, rules: codes.map(ruleOf) } },
        columnKind: "utf16CodeUnits",
        // A line of ours ends at a lone CR too; the format's default is the other two.
        newlineSequences: ["\r\n", "\n", "\r"],
        originalUriBaseIds: { [SOURCES]: { uri: folderUri(base) } },
        results,
      },
    ],
  };
}

/** Single braces would be placeholders (section 3.11.5). */
function messageOf(text: string): object {
  return { text: text.replace(/[{}]/g, "$&$&") };
}

/** What others call the top of the sources. */
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

function ruleOf(code: string): object {
  const [area = "", name = ""] = code.split("/");
  const words = name.replaceAll("-", " ");
  return {
    id: code,
    shortDescription: messageOf(words.charAt(0).toUpperCase() + words.slice(1)),
    help: messageOf(HELP[area]!),
  };
}

/** Where the language that a code belongs to is explained. */
const HELP: Readonly<Record<string, string>> = {
  config: "`tool docs` opens the reference of tool.json: what each setting takes, with examples.",
  query: "`tool help logs` shows the query language by examples.",
  route: "`tool docs` shows what redirects and headers take: patterns such as /users/:id and /docs/*, and locations.",
  duration: "A duration is numbers with units, the greatest first: 15m, 1h30m, 2d.",
};
