import { LineIndex, type Problem, quote, type Span } from "../grammar/problem.ts";
import { parseTemplate } from "../grammar/template/index.ts";
import { checkCommandFiles } from "./checks/commands.ts";
import { CLOSING_TAG, injections } from "./checks/inject.ts";
import { unknownVariables } from "./checks/template-variables.ts";
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
  /** Whether what a path really names, behind links, is outside a folder. */
  leadsOutOf?(folder: string, path: string): boolean;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
  readonly isLink?: true;
}

/** Checks that need the project's files: those that are injected, the directories, the error-page templates. */
export function checkDirectory(report: Report, root: ObjectNode, directory: Directory) {
  checkCommandFiles(report, root, directory);
  for (const item of injections(memberOf(root, "inject")?.value)) checkFile(report, item, directory);
  // Directories are often made by the build, so that a missing one is a warning.
  warnMissing(report, memberOf(memberOf(root, "static")?.value, "dir")?.value, directory);
  const errorPages = memberOf(root, "error_pages");
  const dir = memberOf(errorPages?.value, "dir")?.value;
  warnMissing(report, dir, directory);
  const disable = memberOf(errorPages?.value, "disable")?.value;
  if (disable?.type === "boolean" && disable.value) return;
  const at = dir?.span ?? errorPages?.key.span ?? { start: root.span.start, end: root.span.start + 1 };
  const variables = memberOf(errorPages?.value, "variables")?.value;
  const check = (folder: string) => checkTemplates(report, { folder, at, variables, directory });
  if (dir === undefined) check(".");
  else if (dir.type === "string" && isProjectPath(dir)) check(dir.value);
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
    `${quote(match[0])} at ${file.value}:${line}:${column} would close the element that contains the file`,
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
      hint: kind === "file" ? "name the directory that it is in" : "it must exist after the build",
    },
  );
}

/** Whether a path has passed its own check: what leads out of the project is reported there, and never looked at. */
function isProjectPath({ value }: StringNode): boolean {
  return value !== "" && !/^[/~]|^[A-Za-z]:|\\|\0/.test(value) && !value.split("/").includes("..");
}

interface Templates {
  readonly folder: string;
  /** Where tool.json names the folder. */
  readonly at: Span;
  readonly variables: Node | undefined;
  readonly directory: Directory;
}

function checkTemplates(report: Report, { folder, at, variables, directory }: Templates) {
  if (directory.kind(folder) !== "directory") return;
  for (const name of templateNames()) {
    const parent = folder.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
    const path = parent === "." || parent === "" ? name : `${parent}/${name}`;
    if (directory.kind(path) !== "file") continue;
    const text = directory.read(path);
    if (text === undefined) continue;
    const lines = new LineIndex(text);
    for (const problem of checkTemplate(text, variables)) {
      const { line, column } = lines.position(problem.span.start);
      report.add({
        code: problem.code,
        severity: problem.severity,
        message: `${path}:${line}:${column}: ${problem.message}`,
        ...(problem.hint !== undefined && { hint: problem.hint }),
        span: at,
        elsewhere: { path, text, problem },
      });
    }
  }
}

/** What is wrong with an error page, or with it and the variables of tool.json; these are undefined without a tool.json. */
export function checkTemplate(text: string, variables: Node | undefined): readonly Problem[] {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return parsed.problems;
  return unknownVariables(parsed.value, variables?.type === "object" ? variables : undefined);
}

/** The names that error pages are looked up by: every error status, then the two classes, then all. */
function templateNames(): string[] {
  const codes = Array.from({ length: 200 }, (_, i) => `${400 + i}.html`);
  return [...codes, "4xx.html", "5xx.html", "error.html"];
}
