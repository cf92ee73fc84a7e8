import { type Fix, LineIndex, quote } from "../../grammar/problem.ts";
import type { Directory } from "../directory.ts";
import { memberOf, type Node, type ObjectNode, type StringNode } from "../json.ts";
import { nearName } from "../near-name.ts";
import type { ProblemReport } from "../report.ts";
import { checkCommandFiles } from "./commands.ts";
import { checkTemplates } from "./error-pages.ts";
import { CLOSING_TAG, injections } from "./inject.ts";

/** Checks that need the project's files: those that are injected, the directories, the error-page templates. */
export function checkDirectory(report: ProblemReport, root: ObjectNode, directory: Directory) {
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

function checkFile(report: ProblemReport, item: ObjectNode, directory: Directory) {
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
        fix: nearPath(report, file, directory, "file"),
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

function warnMissing(report: ProblemReport, dir: Node | undefined, directory: Directory) {
  if (dir?.type !== "string" || !isProjectPath(dir)) return;
  const kind = directory.kind(dir.value);
  if (kind === "directory") return;
  report.warning(
    "config/missing-directory",
    dir.span,
    kind === "file" ? `${quote(dir.value)} is a file` : `there is no directory ${quote(dir.value)}`,
    {
      hint: kind === "file" ? "name the directory that it is in" : "it must exist after the build",
      fix: kind === "file" ? report.suggest(dir, folderOf(dir.value)) : nearPath(report, dir, directory, "directory"),
    },
  );
}

/** The folder of a file; undefined for one of the project's own folder. */
const folderOf = (path: string) => /^(.+)\/[^/]+$/.exec(path)?.[1];

/** A suggestion of the path that is there, and differs in the spelling of its parts. */
function nearPath(
  report: ProblemReport,
  node: StringNode,
  directory: Directory,
  kind: "file" | "directory",
): Fix | undefined {
  const parts = node.value.replace(/^(\.\/)+|\/+$/g, "").split("/");
  let path = "";
  for (const [i, part] of parts.entries()) {
    const wanted = i === parts.length - 1 ? kind : "directory";
    const next = path === "" ? part : `${path}/${part}`;
    if (directory.kind(next) === wanted) path = next;
    else {
      const entries = directory.list?.(path === "" ? "." : path) ?? [];
      const names = entries.filter((entry) => entry.kind === wanted && entry.name !== "node_modules");
      const near = nearName(
        part,
        names.map(({ name }) => name),
      );
      if (near === undefined) return undefined;
      path = path === "" ? near.name : `${path}/${near.name}`;
    }
  }
  return report.suggest(node, path);
}

/** Whether a path has passed its own check: what leads out of the project is reported there, and never looked at. */
function isProjectPath({ value }: StringNode): boolean {
  return value !== "" && !/^[/~]|^[A-Za-z]:|\\|\0/.test(value) && !value.split("/").includes("..");
}
