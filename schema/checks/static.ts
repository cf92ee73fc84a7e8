import { quote, type Span, type TextEdit } from "../../grammar/problem.ts";
import type { Directory } from "../directory.ts";
import { decide, type IgnoreDecision, type IgnoreOptions, parseIgnore, ROOT } from "../ignore/index.ts";
import { memberOf, type Node, type ObjectNode } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import { privateKind } from "../served-files.ts";

export type AppType = "server" | "static";

/** The folder that the fix names, as most frameworks call the folder of files for everyone. */
const USUAL_DIR = "public";

/** Checks what a static folder shows to everyone. `type` is undefined if neither tool.json nor the files tell it. */
export function checkServedFiles(
  report: ProblemReport,
  root: ObjectNode,
  type: AppType | undefined,
  directory: Directory | undefined,
): void {
  const settings = memberOf(root, "static");
  if (type === undefined || (type === "server" && settings?.value?.type !== "object")) return;
  const dir = memberOf(settings?.value, "dir")?.value;
  if (dir !== undefined && dir.type !== "string") return;
  const isProject = dir === undefined || /^(\.\/*)+$/.test(dir.value);
  if (type === "server" && isProject) {
    warnProjectFolder(report, settings!.value as ObjectNode, settings!.key.span, dir);
    return;
  }
  if (directory === undefined || (dir !== undefined && /^[/~]|\.\.|^$/.test(dir.value))) return;
  const at = dir?.span ?? settings?.key.span ?? memberOf(root, "type")?.value?.span;
  warnPrivateFiles(report, at ?? { start: root.span.start, end: root.span.start + 1 }, dir?.value ?? ".", directory);
}

function warnProjectFolder(report: ProblemReport, settings: ObjectNode, key: Span, dir: Node | undefined): void {
  report.warning(
    "config/static-root",
    dir?.span ?? key,
    "only pages, styles, images, fonts and media of the project directory are served",
    {
      hint: `name a directory for what everyone may read, such as "dir": "${USUAL_DIR}": all its files are served`,
      fix: { title: `Serve the directory "${USUAL_DIR}"`, edits: [dirEdit(settings, dir)], isSuggestion: true },
    },
  );
}

function dirEdit(settings: ObjectNode, dir: Node | undefined): TextEdit {
  if (dir !== undefined) return { span: dir.span, text: JSON.stringify(USUAL_DIR) };
  const written = `"dir": ${JSON.stringify(USUAL_DIR)}`;
  const [first] = settings.members;
  if (first !== undefined) {
    return { span: { start: first.key.span.start, end: first.key.span.start }, text: `${written}, ` };
  }
  // The text between the braces of an empty object is blank.
  return { span: { start: settings.span.start + 1, end: settings.span.end - 1 }, text: ` ${written} ` };
}

/** As many names as a look at the folder may take within a keystroke; what is further in is rarely put there by hand. */
const MAX_NAMES = 2_000;
const MAX_DEPTH = 4;

/** A message that names all of them would be a listing. */
const MAX_LABELS = 3;

function warnPrivateFiles(report: ProblemReport, at: Span, dir: string, directory: Directory): void {
  const files = privateFiles(dir.replace(/^(\.\/+)+/, "").replace(/\/+$/, ""), directory);
  if (files.length === 0) return;
  const labels = files.slice(0, MAX_LABELS).map(({ path, kind }) => `${path} (${kind})`);
  if (files.length > MAX_LABELS) labels.push(`${files.length - MAX_LABELS} more`);
  report.warning("config/private-file", at, `everyone can read the files in ${quote(dir)}: ${labels.join(", ")}`, {
    hint: "move it out of the directory, or exclude it in .toolignore",
  });
}

/** The keys, databases and manifests that would be served, by the names of the first files of the folder. */
function privateFiles(dir: string, directory: Directory): { readonly path: string; readonly kind: string }[] {
  const options: IgnoreOptions = { rules: parseIgnore(directory.read(".toolignore") ?? "") };
  const start = dir === "." || dir === "" ? [] : dir.split("/");
  let folder = ROOT;
  for (const name of start) folder = decide(folder, name, true, options);
  const files: { path: string; kind: string }[] = [];
  const queue: { folder: IgnoreDecision; depth: number }[] = [{ folder, depth: 0 }];
  let names = 0;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const listed of directory.list?.(next.folder.names.join("/") || ".") ?? []) {
      names += 1;
      if (names > MAX_NAMES) return files;
      const { name } = listed;
      const isFolder = listed.kind === "directory";
      if (name.startsWith(".") || name === "node_modules") continue;
      const decision = decide(next.folder, name, isFolder, options);
      if (isFolder) {
        if (next.depth < MAX_DEPTH) queue.push({ folder: decision, depth: next.depth + 1 });
        continue;
      }
      const kind = privateKind(name);
      if (kind !== undefined && decision.reason === undefined) files.push({ path: decision.names.join("/"), kind });
    }
  }
  return files;
}
