import { createHash } from "node:crypto";
import { describe, type Problem, printable } from "../../grammar/problem.ts";
import { type CheckedFile, pathBelow, regionsOf } from "./checked-file.ts";

/** A problem as GitLab's Code Quality report has it (docs.gitlab.com/ci/testing/code_quality, "Code Quality report format"). */
export interface CodeQualityIssue {
  readonly description: string;
  readonly check_name: string;
  /** The same as long as the problem is the same, wherever its line moves: GitLab tells new ones from old ones by it. */
  readonly fingerprint: string;
  readonly severity: "minor" | "major" | "blocker";
  readonly location: { readonly path: string; readonly lines: { readonly begin: number; readonly end: number } };
}

/** The problems as the list that GitLab reads; paths are relative to `base`, the top of the repository. */
export function toCodeQuality(files: readonly CheckedFile[], base: string): CodeQualityIssue[] {
  const counts = new Map<string, number>();
  return files.flatMap(({ path, text, problems }) => {
    const region = regionsOf(text);
    const name = path === undefined ? "stdin" : (pathBelow(base, path) ?? path);
    return problems.map((problem) => {
      const same = JSON.stringify([name, problem.code, problem.message]);
      const nth = counts.get(same) ?? 0;
      counts.set(same, nth + 1);
      const { startLine, endLine } = region(problem.span);
      return {
        description: printable(describe(problem)),
        check_name: problem.code,
        // The second of two equal problems has another: GitLab shows one problem for each fingerprint.
        fingerprint: createHash("sha256").update(`${same}${nth}`).digest("hex"),
        severity: SEVERITIES[problem.severity],
        location: { path: name, lines: { begin: startLine, end: endLine } },
      };
    });
  });
}

const SEVERITIES: Readonly<Record<Problem["severity"], CodeQualityIssue["severity"]>> = {
  error: "major",
  warning: "minor",
};

/** The report of a run that a bug of the tool ended: the failure as its only issue, at a place that GitLab takes. */
export function failedCodeQuality(reason: string, code: string): CodeQualityIssue[] {
  const location = { path: "tool.json", lines: { begin: 1, end: 1 } };
  const fingerprint = createHash("sha256").update(reason).digest("hex");
  return [{ description: reason, check_name: `${code}/error`, fingerprint, severity: "blocker", location }];
}
