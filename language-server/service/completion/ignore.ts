import type { CompletionItem } from "vscode-languageserver-types";
import { lineAt, readPattern } from "../../../schema/ignore/index.ts";
import type { ToolDocument } from "../document.ts";
import type { Project } from "../project.ts";
import { KIND } from "./candidate.ts";

/** Characters that mean something else in a pattern than in a name. */
const SPECIAL = /[*?[\]!#\\]/;

/** The files and folders that can complete the pattern at the cursor; hidden ones only if it asks for them. */
export function completeIgnore(document: ToolDocument, offset: number, project: Project): CompletionItem[] {
  const line = lineAt(document.text, offset);
  const pattern = readPattern(line);
  const typed = document.text.slice(pattern?.start ?? line.start, offset);
  if (line.text.startsWith("#") || SPECIAL.test(typed) || project.listFiles === undefined) return [];
  const slash = typed.lastIndexOf("/");
  const folder = typed.slice(0, slash + 1);
  if (/^\/|(?:^|\/)\.\.\//.test(folder)) return [];
  const name = typed.slice(slash + 1);
  const rest = /^[^/\s]*/.exec(document.text.slice(offset))![0];
  const range = document.rangeOf({ start: offset - name.length, end: offset + rest.length });
  const entries = project.listFiles(folder === "" ? "." : folder).filter((entry) => {
    // Dotfiles are left out without being asked.
    return !SPECIAL.test(entry.name) && (!entry.name.startsWith(".") || name.startsWith(".") || pattern?.isNegated);
  });
  return entries
    .map((entry) => ({ ...entry, label: entry.kind === "directory" ? `${entry.name}/` : entry.name }))
    .sort((a, b) => (a.kind === b.kind ? (a.label < b.label ? -1 : 1) : a.kind === "directory" ? -1 : 1))
    .map(({ label, kind }, i) => ({
      label,
      kind: kind === "directory" ? KIND.folder : KIND.file,
      sortText: String(i).padStart(4, "0"),
      filterText: label,
      textEdit: { range, newText: label },
    }));
}
