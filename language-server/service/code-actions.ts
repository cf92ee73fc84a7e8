import {
  type CodeAction,
  type CodeActionContext,
  CodeActionKind,
  type Diagnostic,
  type Range,
  type TextEdit,
} from "vscode-languageserver-types";
import { type TextEdit as Edit, quote } from "../../grammar/problem.ts";
import { migrateUses } from "../../schema/index.ts";
import type { Node } from "../../schema/json.ts";
import { latestDiagnostics, type OfferedFix, offeredFixes } from "./diagnostics.ts";
import type { ToolDocument } from "./document.ts";
import { moveSecretActions } from "./move-secret.ts";
import { uriOfPath } from "./paths.ts";
import type { Project } from "./project.ts";
import { type Sortable, sortables, sortEdits } from "./sort-members.ts";

export const CODE_ACTION_KINDS = [
  CodeActionKind.QuickFix,
  CodeActionKind.RefactorRewrite,
  `${CodeActionKind.SourceFixAll}.tool`,
  "source.migrate.tool",
];

export interface CodeActionQuestion {
  readonly document: ToolDocument;
  readonly project: Project;
  /** The selection, or the cursor. */
  readonly range: Range;
  readonly context: Pick<CodeActionContext, "diagnostics" | "only">;
  /** Whether the client can create a file. */
  readonly createsFiles: boolean;
  /** Whether the program `tool` can be run. */
  readonly runsTool: boolean;
}

/**
 * The code actions at a range: the fix of each problem there, the creation of a missing action or file, and rewrites (a
 * hook as a list, a map in order). A secret is moved by the server's command. `source.fixAll.tool` and
 * `source.migrate.tool` are for the whole text.
 */
export function codeActions(question: CodeActionQuestion): CodeAction[] {
  const { document, project, range, context, createsFiles, runsTool } = question;
  const wants = (kind: string) =>
    context.only === undefined || context.only.some((only) => kind === only || kind.startsWith(`${only}.`));
  const offset = document.offsetAt(range.start);
  const actions: CodeAction[] = [];
  const diagnostics = latestDiagnostics(document, project);
  // The client's own objects: it compares them with those that it shows.
  const clientDiagnostic = (one: Diagnostic) => context.diagnostics.find((other) => isSame(one, other)) ?? one;
  if (wants(CodeActionKind.QuickFix)) {
    const here = diagnostics.filter((one) => overlaps(one.range, range));
    const offered = offeredFixes(document, project, here);
    for (const one of here) {
      for (const fix of offered.get(one) ?? []) actions.push(quickFix(document, fix, clientDiagnostic(one)));
      if (one.code === "config/missing-file" && createsFiles) {
        actions.push(...createFile(document, one, clientDiagnostic(one), project));
      }
      if (runsTool) actions.push(...moveSecretActions(document, one, clientDiagnostic(one)));
    }
    const old = here.filter(({ code }) => String(code).startsWith("config/deprecated-"));
    if (old.length > 0) actions.push(...migration(document, CodeActionKind.QuickFix, old.map(clientDiagnostic)));
  }
  if (wants(CodeActionKind.RefactorRewrite) && document.kind === "config") {
    actions.push(...rewriteHook(document, offset), ...sortHere(document, offset));
  }
  if (wants(`${CodeActionKind.SourceFixAll}.tool`)) actions.push(...fixAll(document, diagnostics, project));
  if (wants("source.migrate.tool")) actions.push(...migration(document, "source.migrate.tool", []));
  return actions;
}

function quickFix(
  document: ToolDocument,
  { title, edits, isSuggestion }: OfferedFix,
  clientDiagnostic: Diagnostic,
): CodeAction {
  return {
    // Some titles are hints of the command line, where they follow a colon.
    title: title[0]!.toUpperCase() + title.slice(1),
    kind: CodeActionKind.QuickFix,
    diagnostics: [clientDiagnostic],
    ...(isSuggestion !== true && { isPreferred: true }),
    edit: { changes: { [document.uri]: [...edits] } },
  };
}

/** The fixes that are certain and do not touch one another, in the order of the text. */
function fixAll(document: ToolDocument, diagnostics: readonly Diagnostic[], project: Project): CodeAction[] {
  const kind = `${CodeActionKind.SourceFixAll}.tool`;
  const offered = offeredFixes(document, project, diagnostics);
  const taken: TextEdit[] = [];
  let count = 0;
  for (const one of diagnostics) {
    const fix = offered.get(one)?.[0];
    const edits = fix?.isSuggestion ? undefined : fix?.edits;
    if (edits === undefined || edits.some((edit) => taken.some((other) => overlaps(edit.range, other.range)))) continue;
    taken.push(...edits);
    count++;
  }
  if (count === 0) return [];
  const title = count === 1 ? "Fix the problem that has a fix" : `Fix the ${count} problems that have a fix`;
  return [{ title, kind, edit: { changes: { [document.uri]: taken } } }];
}

function migration(document: ToolDocument, kind: string, diagnostics: Diagnostic[]): CodeAction[] {
  if (document.kind !== "config") return [];
  const { edits, notes } = migrateUses(document.text);
  if (notes.length === 0) return [];
  const changes = notes.length === 1 ? "1 change" : `${notes.length} changes`;
  const edit = { changes: { [document.uri]: edits.map((one) => toEdit(document, one)) } };
  return [
    { title: `Migrate the configuration (${changes})`, kind, ...(diagnostics.length > 0 && { diagnostics }), edit },
  ];
}

function createFile(
  document: ToolDocument,
  { range }: Diagnostic,
  clientDiagnostic: Diagnostic,
  project: Project,
): CodeAction[] {
  const { node } = document.pathAt(document.offsetAt(range.start) + 1) ?? {};
  if (node?.type !== "string" || project.directory?.kind(node.value) !== undefined) return [];
  const uri = uriOfPath(document.uri, node.value);
  // A directory is not made by creating a file, nor is what a pattern stands for.
  if (uri === undefined || node.value.endsWith("/") || node.value.includes("*")) return [];
  return [
    {
      title: `Create the file ${quote(node.value)}`,
      kind: CodeActionKind.QuickFix,
      diagnostics: [clientDiagnostic],
      edit: { documentChanges: [{ kind: "create", uri, options: { ignoreIfExists: true } }] },
    },
  ];
}

/** A hook's command as a list, to which others can be added; a list of one as the command alone. */
function rewriteHook(document: ToolDocument, offset: number): CodeAction[] {
  const path = document.pathAt(offset)?.path ?? [];
  const depth = path[0] === "hooks" ? 2 : path[0] === "stages" && path[2] === "hooks" ? 4 : undefined;
  if (depth === undefined || path.length < depth) return [];
  const { node } = document.nodeAt(path.slice(0, depth));
  const rewrite = (title: string, text: string): CodeAction[] => [
    {
      title,
      kind: CodeActionKind.RefactorRewrite,
      edit: { changes: { [document.uri]: [toEdit(document, { span: node!.span, text })] } },
    },
  ];
  const source = ({ span }: Node) => document.text.slice(span.start, span.end);
  if (node?.type === "string" && node.content.end < node.span.end) {
    return rewrite("Write the command as a list", `[${source(node)}]`);
  }
  const only = node?.type === "array" && node.items.length === 1 ? node.items[0]! : undefined;
  return only?.type === "string" ? rewrite("Write the only command without a list", source(only)) : [];
}

/** The innermost map around an offset, its key included. */
function sortHere(document: ToolDocument, offset: number): CodeAction[] {
  const place = document.pathAt(offset);
  if (place === undefined) return [];
  const here = sortables(document).findLast(({ path }) => path.every((name, i) => place.path[i] === name));
  const edits = here === undefined ? [] : sortEdits(document, here);
  if (edits.length === 0) return [];
  const changes = { [document.uri]: edits.map((edit) => toEdit(document, edit)) };
  return [{ title: sortTitle(here!), kind: CodeActionKind.RefactorRewrite, edit: { changes } }];
}

function sortTitle({ path, by }: Sortable): string {
  const name = quote(String(path.at(-1)));
  return by === "name" ? `Sort ${name} by name` : `Sort ${name} by specificity, as rules are tried`;
}

function toEdit(document: ToolDocument, { span, text }: Edit): TextEdit {
  return { range: document.rangeOf(span), newText: text };
}

function isSame(a: Diagnostic, b: Diagnostic): boolean {
  return a.code === b.code && JSON.stringify(a.range) === JSON.stringify(b.range);
}

/** Ranges that only touch overlap as well: the cursor may be at either end. */
function overlaps(a: Range, b: Range): boolean {
  const isBefore = (one: Range["start"], other: Range["start"]) =>
    one.line < other.line || (one.line === other.line && one.character < other.character);
  return !isBefore(a.end, b.start) && !isBefore(b.end, a.start);
}
