// Fixtures of the language service: a text with `|` for the cursor, a project of files, and what an editor does with items.
import type { CompletionItem, TextEdit } from "vscode-languageserver-types";
import { applyEdits } from "../../grammar/problem.ts";
import {
  type ClientOptions,
  DEFAULT_SETTINGS,
  type DocumentKind,
  type Project,
  type ProjectFile,
  ToolDocument,
} from "../../language-server/service/index.ts";

/** Path to text, or to null for a directory. */
export type Files = Readonly<Record<string, string | null>>;

export const CLIENT: ClientOptions = {
  snippets: true,
  markdown: true,
  syntax: true,
  createsFiles: true,
  runsTool: true,
  settings: DEFAULT_SETTINGS,
};

export const FILES: Files = {
  "package.json": `{ "scripts": { "start": "node server.js", "build": "vite build", "dev": "vite" } }`,
  "server.js": "",
  "snippet.js": "track()",
  "css/site.css": "",
  public: null,
  "errors/404.html": "<p>{{.StatusText}}</p>",
};

export function documentOf(text: string, kind: DocumentKind = "config", name = "tool.json"): ToolDocument {
  return new ToolDocument({ uri: `file:///work/orders-api/${name}`, version: 1, text, kind });
}

/** The text without its cursor, and where that was. The last `|` is the cursor. */
export function cursor(marked: string): { readonly text: string; readonly offset: number } {
  const offset = marked.lastIndexOf("|");
  if (offset < 0) throw new Error(`no cursor in ${marked}`);
  return { text: marked.slice(0, offset) + marked.slice(offset + 1), offset };
}

export function projectOf(files: Files, config?: () => ToolDocument): Project {
  const clean = (path: string) => path.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
  return {
    uri: "file:///work/orders-api/",
    directory: {
      kind(path) {
        const name = clean(path);
        if (name === "" || name === ".") return "directory";
        if (Object.hasOwn(files, name)) return files[name] === null ? "directory" : "file";
        return Object.keys(files).some((file) => file.startsWith(`${name}/`)) ? "directory" : undefined;
      },
      read: (path) => files[clean(path)] ?? undefined,
      list: (path) =>
        namesIn(files, clean(path)).map((name) => ({
          name,
          kind: Object.keys(files).some((file) =>
            file.startsWith(`${clean(path) === "." ? "" : `${clean(path)}/`}${name}/`),
          )
            ? ("directory" as const)
            : ("file" as const),
        })),
    },
    listFiles(folder) {
      const prefix = clean(folder) === "." || clean(folder) === "" ? "" : `${clean(folder)}/`;
      const entries = new Map<string, ProjectFile>();
      for (const [path, text] of Object.entries(files)) {
        if (!path.startsWith(prefix)) continue;
        const [name = "", ...below] = path.slice(prefix.length).split("/");
        entries.set(name, { name, kind: below.length > 0 || text === null ? "directory" : "file" });
      }
      return [...entries.values()];
    },
    ...(config !== undefined && { config }),
  };
}

/** The text after an item was taken: its edits applied, placeholders as they are before anything is typed. */
export function accept(
  document: ToolDocument,
  item: CompletionItem,
): { readonly text: string; readonly start: number; readonly end: number } {
  const edit = item.textEdit as TextEdit;
  const newText = item.insertTextFormat === 2 ? expand(edit.newText) : edit.newText;
  const edits = [{ ...edit, newText }, ...(item.additionalTextEdits ?? [])].map(({ range, newText }) => ({
    span: { start: document.offsetAt(range.start), end: document.offsetAt(range.end) },
    text: newText,
  }));
  const before = edits.slice(1).reduce((sum, { span, text }) => sum + text.length - (span.end - span.start), 0);
  const start = edits[0]!.span.start + before;
  return { text: applyEdits(document.text, edits), start, end: start + newText.length };
}

/** A snippet as an editor first shows it. */
export function expand(snippet: string): string {
  return snippet
    .replace(/(?<!\\)\$\{\d+\|((?:\\.|[^|\\])*)\|\}/g, (_, choices: string) => /^(?:\\.|[^,\\])*/.exec(choices)![0])
    .replace(/(?<!\\)\$\{\d+:((?:\\.|[^}\\])*)\}/g, "$1")
    .replace(/(?<!\\)\$\d+/g, "")
    .replace(/\\([$}\\,|])/g, "$1");
}

/** The names in a folder of files; `.` or nothing is the top. */
export function namesIn(files: Files, folder: string): string[] {
  const prefix = folder === "." || folder === "" ? "" : `${folder}/`;
  const below = Object.keys(files).filter((path) => path.startsWith(prefix));
  return [...new Set(below.map((path) => path.slice(prefix.length).split("/")[0]!))];
}
