import { LineIndex, type Problem, quote, type Span } from "../grammar/problem.ts";
import { parseTemplate } from "../grammar/template/index.ts";
import { CLOSING_TAG, injections } from "./checks/inject.ts";
import { memberOf, type Node, type ObjectNode, type StringNode } from "./json.ts";
import type { Report } from "./report.ts";

/** The project's files as the checks see them. Paths are relative to the folder of tool.json, separated by `/`. */
export interface Directory {
  kind(path: string): "file" | "directory" | undefined;
  /** The text of a file; undefined where it cannot be read as text. */
  read(path: string): string | undefined;
  /** Files and folders directly in a folder; undefined if it cannot be listed. */
  list?(path: string): readonly DirectoryEntry[] | undefined;
  /** The size of a file in bytes; absent where sizes are not looked at, as on each key in an editor. */
  size?(path: string): number | undefined;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
}

/** Checks that need the project's files: those that are injected, the directories, the error-page templates. */
export function checkDirectory(report: Report, root: ObjectNode, directory: Directory) {
  for (const item of injections(memberOf(root, "inject")?.value)) checkFile(report, item, directory);
  // Directories are often made by the build, so that a missing one is a warning.
  warnMissing(report, memberOf(memberOf(root, "static")?.value, "dir")?.value, directory);
  const errorPages = memberOf(root, "error_pages");
  const dir = memberOf(errorPages?.value, "dir")?.value;
  warnMissing(report, dir, directory);
  const disable = memberOf(errorPages?.value, "disable")?.value;
  if (disable?.type === "boolean" && disable.value) return;
  const at = dir?.span ?? errorPages?.key.span ?? { start: root.span.start, end: root.span.start + 1 };
  if (dir === undefined) checkTemplates(report, ".", at, directory);
  else if (dir.type === "string" && isProjectPath(dir)) checkTemplates(report, dir.value, at, directory);
}

function checkFile(report: Report, item: ObjectNode, directory: Directory) {
  const file = memberOf(item, "file")?.value;
  if (file?.type !== "string" || !isProjectPath(file)) return;
  const kind = directory.kind(file.value);
  if (kind !== "file") {
    report.error(
      "config/missing-file",
      file.span,
      kind === undefined ? `there is no file ${quote(file.value)}` : `${quote(file.value)} is a directory`,
      {
        hint: "the path is relative to the folder of tool.json",
      },
    );
    return;
  }
  const type = memberOf(item, "type")?.value;
  if (type?.type !== "string" || !Object.hasOwn(CLOSING_TAG, type.value)) return;
  const text = directory.read(file.value);
  const match = text === undefined ? null : CLOSING_TAG[type.value]!.exec(text);
  if (match === null) return;
  const { line, column } = new LineIndex(text!).position(match.index);
  report.error(
    "config/closing-tag",
    file.span,
    `${quote(match[0])} at ${file.value}:${line}:${column} would end the element that the file is put in`,
    {
      hint: type.value === "inline script" ? "write <\\/script in a string of the script" : "remove it",
    },
  );
}

function warnMissing(report: Report, dir: Node | undefined, directory: Directory) {
  if (dir?.type !== "string" || !isProjectPath(dir)) return;
  const kind = directory.kind(dir.value);
  if (kind === "directory") return;
  report.warning(
    "config/missing-directory",
    dir.span,
    kind === "file" ? `${quote(dir.value)} is a file` : `there is no directory ${quote(dir.value)}`,
    {
      hint: kind === "file" ? "name the directory that it is in" : "it must be there after the build",
    },
  );
}

/** Whether a path has passed its own check: what leads out of the project is reported there, and never looked at. */
function isProjectPath({ value }: StringNode): boolean {
  return value !== "" && !/^[/~]|^[A-Za-z]:|\\|\0/.test(value) && !value.split("/").includes("..");
}

function checkTemplates(report: Report, dir: string, at: Span, directory: Directory) {
  if (directory.kind(dir) !== "directory") return;
  for (const name of templateNames()) {
    const path = dir.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
    const file = path === "." || path === "" ? name : `${path}/${name}`;
    if (directory.kind(file) !== "file") continue;
    const source = directory.read(file);
    const parsed = source === undefined ? undefined : parseTemplate(source);
    if (parsed === undefined || parsed.ok) continue;
    const lines = new LineIndex(source!);
    for (const problem of parsed.problems) {
      const { line, column } = lines.position(problem.span.start);
      const moved: Problem = {
        code: problem.code,
        severity: problem.severity,
        message: `${file}:${line}:${column}: ${problem.message}`,
        ...(problem.hint !== undefined && { hint: problem.hint }),
        span: at,
      };
      report.add(moved);
    }
  }
}

/** The names that error pages are looked up by: every error status, then the two classes, then all. */
function templateNames(): string[] {
  const codes = Array.from({ length: 200 }, (_, i) => `${400 + i}.html`);
  return [...codes, "4xx.html", "5xx.html", "error.html"];
}
