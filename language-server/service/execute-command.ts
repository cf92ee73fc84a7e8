import type { WorkspaceEdit } from "vscode-languageserver-types";
import { applyEdits, type TextEdit } from "../../grammar/problem.ts";
import { migrateUses } from "../../schema/index.ts";
import { ToolDocument } from "./document.ts";
import { Refusal } from "./method.ts";
import { type Sortable, sortables, sortEdits } from "./sort-members.ts";

/**
 * Commands that the server carries out itself and that a palette can list; the first argument is the address of an open
 * document. move-secret.ts has one that only a code action asks for.
 */
export const SERVER_COMMANDS = ["tool.migrate", "tool.sort"] as const;

/**
 * The change that a command makes, for the server to ask the client for. `tool.migrate [uri]` puts the older dialect into
 * today's words, `tool.sort [uri, path?]` sorts the map at a path, or every map of the file. Throws a Refusal if there is
 * nothing to change.
 */
export function executeCommand(
  command: string,
  args: readonly unknown[],
  documentOf: (uri: string) => ToolDocument | undefined,
): { readonly label: string; readonly edit: WorkspaceEdit } {
  const [uri, path] = args;
  const document = typeof uri === "string" ? documentOf(uri) : undefined;
  if (document?.kind !== "config") throw new Refusal(`${command}: the first argument names no tool.json that is open`);
  const edit = (edits: readonly TextEdit[]): WorkspaceEdit => ({
    changes: { [document.uri]: edits.map(({ span, text }) => ({ range: document.rangeOf(span), newText: text })) },
  });
  switch (command) {
    case "tool.migrate": {
      const { edits, notes } = migrateUses(document.text);
      if (notes.length === 0) throw new Refusal("there is nothing to migrate");
      return { label: "Migrate the configuration", edit: edit(edits) };
    }
    case "tool.sort": {
      const sorted = sortAll(document, path);
      if (sorted === undefined) throw new Refusal("there is nothing to sort");
      if (sorted === document.text) throw new Refusal("it is already sorted, or has syntax errors");
      return { label: "Sort", edit: edit([difference(document.text, sorted)]) };
    }
    default:
      throw new Refusal(`there is no command ${command}`);
  }
}

/** Outer maps first: moving their members moves the inner maps along, which are then sorted in their new place. */
function sortAll(document: ToolDocument, path: unknown): string | undefined {
  const isWanted = (one: Sortable) => path === undefined || JSON.stringify(one.path) === JSON.stringify(path);
  const count = sortables(document).filter(isWanted).length;
  if (count === 0) return undefined;
  const done = new Set<string>();
  let now = document;
  for (let i = 0; i < count; i++) {
    const next = sortables(now).find((one) => isWanted(one) && !done.has(JSON.stringify(one.path)));
    if (next === undefined) break;
    done.add(JSON.stringify(next.path));
    const { uri, version, kind } = now;
    now = new ToolDocument({ uri, version, text: applyEdits(now.text, sortEdits(now, next)), kind });
  }
  return now.text;
}

/** The one replacement that makes a text another: cursors outside of it stay where they are. */
function difference(before: string, after: string): TextEdit {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let same = 0;
  const limit = Math.min(before.length, after.length) - start;
  while (same < limit && before[before.length - 1 - same] === after[after.length - 1 - same]) same++;
  return { span: { start, end: before.length - same }, text: after.slice(start, after.length - same) };
}
