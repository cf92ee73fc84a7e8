import { describe, type Problem, printable } from "../../grammar/problem.ts";
import { type CheckedFile, pathBelow, type Region, regionsOf } from "./checked-file.ts";

/**
 * Problems as workflow commands, one per line, which GitHub shows next to the lines of a pull request; empty without
 * problems. Paths are relative to `base`, the top of the repository.
 * docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function renderGithub(files: readonly CheckedFile[], base: string): string {
  return files
    .flatMap((file) => {
      const region = regionsOf(file.text);
      return file.problems.map((problem) => command(file, problem, region(problem.span), base));
    })
    .join("\n");
}

function command({ path }: CheckedFile, problem: Problem, region: Region, base: string): string {
  const { startLine, startColumn, endLine, endColumn } = region;
  // GitHub refuses columns of different lines.
  const columns = startLine === endLine ? { col: startColumn, endColumn } : {};
  const place = path === undefined ? {} : { file: pathBelow(base, path) ?? path, line: startLine, endLine, ...columns };
  const properties = Object.entries({ ...place, title: problem.code })
    .map(([name, value]) => `${name}=${escapeProperty(printable(String(value)))}`)
    .join(",");
  // stdin is no file of the repository: the message has the position.
  const where = path === undefined ? `stdin:${startLine}:${startColumn}: ` : "";
  return `::${problem.severity} ${properties}::${escapeData(where + printable(describe(problem)))}`;
}

/** Escapes as the runner reads them: "toCommandValue" of @actions/core and its two escapes. */
export function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
