import type { Location, TextEdit } from "vscode-languageserver-types";
import { applyEdits } from "../../grammar/problem.ts";
import { type DocumentKind, ToolDocument } from "../../language-server/service/document.ts";
import type { Project } from "../../language-server/service/project.ts";
import { projectOf } from "./editor.ts";

/** A text with a cursor in it, as a feature sees it. */
export interface Fixture {
  readonly document: ToolDocument;
  readonly offset: number;
  readonly project: Project;
}

/** `|` in the text is the cursor, 0 where there is none. */
export function fixture(
  source: string,
  { kind, files }: { kind: DocumentKind; files: readonly string[] | undefined },
): Fixture {
  const offset = Math.max(0, source.indexOf("|"));
  const text = source.replace("|", "");
  const uri = kind === "query" ? "file:///work/app/slow.logq" : "file:///work/app/tool.json";
  const project = files === undefined ? {} : projectOf(Object.fromEntries(files.map((file) => [file, ""])));
  return { document: new ToolDocument({ uri, version: 1, text, kind }), offset, project };
}

/** `line:column text` for each location, 1-based; the address where it is another document. */
export function marked(document: ToolDocument, locations: readonly Location[]): string[] {
  return locations.map(({ uri, range }) => {
    if (uri !== document.uri) return uri;
    const text = document.text.slice(document.offsetAt(range.start), document.offsetAt(range.end));
    return `${range.start.line + 1}:${range.start.character + 1} ${text}`;
  });
}

/** As a client applies them. */
export function applyLspEdits(document: ToolDocument, edits: readonly TextEdit[]): string {
  return applyEdits(
    document.text,
    edits.map(({ range, newText }) => ({
      span: { start: document.offsetAt(range.start), end: document.offsetAt(range.end) },
      text: newText,
    })),
  );
}
