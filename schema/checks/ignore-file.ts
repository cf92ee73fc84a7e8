import { LineIndex } from "../../grammar/problem.ts";
import type { Directory } from "../directory.ts";
import { ignoreProblems } from "../ignore/index.ts";
import type { ObjectNode } from "../json.ts";
import type { ProblemReport } from "../report.ts";

const IGNORE_FILE = ".toolignore";

/** Whether the patterns of .toolignore can be read, before what they leave out is deployed. */
export function checkIgnoreFile(report: ProblemReport, root: ObjectNode, directory: Directory) {
  if (directory.size === undefined) return;
  const text = directory.read(IGNORE_FILE);
  const reason = text === undefined ? directory.unreadable?.(IGNORE_FILE) : undefined;
  if (reason !== undefined) {
    report.error(
      "config/ignore-file",
      { start: root.span.start, end: root.span.start + 1 },
      `cannot read ${IGNORE_FILE}: ${reason}`,
      {
        hint: "put a file in its place that may be read, or remove it",
      },
    );
  }
  if (text === undefined) return;
  for (const problem of ignoreProblems(text)) {
    const { line, column } = new LineIndex(text).position(problem.span.start);
    report.add({
      ...problem,
      message: `${IGNORE_FILE}:${line}:${column}: ${problem.message}`,
      span: { start: root.span.start, end: root.span.start + 1 },
      elsewhere: { path: IGNORE_FILE, text, problem },
    });
  }
}
