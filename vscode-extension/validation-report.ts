/** A problem in a report, with lines and columns from 1. */
export interface ReportedProblem {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/**
 * The problems in what `tool validate --format json` prints, by the names of their files: those of the command line, with
 * an empty list if a file is valid, and those of error pages.
 */
export function problemsByFile(report: string): Map<string, ReportedProblem[]> {
  const document = JSON.parse(report) as Checked | { readonly files: readonly Checked[] };
  const byFile = new Map<string, ReportedProblem[]>();
  for (const checked of "files" in document ? document.files : [document]) {
    byFile.set(checked.file, byFile.get(checked.file) ?? []);
    for (const problem of checked.problems) {
      const file = problem.file ?? checked.file;
      const others = byFile.get(file);
      if (others === undefined) byFile.set(file, [problem]);
      else others.push(problem);
    }
  }
  return byFile;
}

interface Checked {
  readonly file: string;
  /** The problems of an error page are listed with its tool.json, and name their page. */
  readonly problems: readonly (ReportedProblem & { readonly file?: string })[];
}
