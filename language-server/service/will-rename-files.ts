import type { TextEdit, WorkspaceEdit } from "vscode-languageserver-types";
import type { ToolDocument } from "./document.ts";
import { pathOfUri, pathsIn } from "./paths.ts";

/**
 * The edits that keep `inject[].file`, `static.dir` and `error_pages.dir` of the documents pointing at files and folders
 * that are about to be moved. A path that would leave the project is left alone: it is refused in every form.
 */
export function willRenameFiles(
  documents: Iterable<ToolDocument>,
  files: readonly { readonly oldUri: string; readonly newUri: string }[],
): WorkspaceEdit | undefined {
  const changes: Record<string, TextEdit[]> = {};
  for (const document of documents) {
    const moves = files.flatMap(({ oldUri, newUri }) => {
      const from = pathOfUri(document.uri, oldUri);
      const to = pathOfUri(document.uri, newUri);
      return from === undefined || from === "." || to === undefined || to === "." ? [] : [{ from, to }];
    });
    const edits = pathsIn(document).flatMap(({ node, value }): TextEdit[] => {
      const moved = movedPath(value, moves);
      if (moved === undefined) return [];
      return [{ range: document.rangeOf(node.content), newText: JSON.stringify(moved).slice(1, -1) }];
    });
    if (edits.length > 0) changes[document.uri] = edits;
  }
  return Object.keys(changes).length === 0 ? undefined : { changes };
}

/** The path as it is after the moves, in the writer's form: a leading `./` and a slash at the end stay. */
function movedPath(written: string, moves: readonly { from: string; to: string }[]): string | undefined {
  const [, lead = "", path = "", end = ""] = /^((?:\.\/+)*)(.*?)(\/*)$/s.exec(written)!;
  for (const { from, to } of moves) {
    if (path === from) return lead + to + end;
    if (path.startsWith(`${from}/`)) return lead + to + path.slice(from.length) + end;
  }
  return undefined;
}
