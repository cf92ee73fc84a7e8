import type { Range, WorkspaceEdit } from "vscode-languageserver-types";
import { applyEdits, describe, quote, type Span, type TextEdit } from "../../grammar/problem.ts";
import { parsePipeline, stagesNamedIn } from "../../grammar/query/index.ts";
import { parseRoute } from "../../grammar/route/index.ts";
import { checkConfig } from "../../schema/index.ts";
import type { Member, StringNode } from "../../schema/json.ts";
import type { ToolDocument } from "./document.ts";
import { Refusal } from "./method.ts";
import { type NameOccurrences, occurrencesAt } from "./occurrences.ts";
import { filesBeside, type Project, pathFrom } from "./project.ts";

/** The name at an offset, to be edited; undefined if nothing there has one. Throws a Refusal if the name is fixed. */
export function prepareRename(
  document: ToolDocument,
  offset: number,
  project: Project = {},
): { range: Range; placeholder: string } | undefined {
  const occurrences = occurrencesAt(document, offset, project);
  if (occurrences === undefined) return undefined;
  if (occurrences.fixed !== undefined) throw new Refusal(occurrences.fixed);
  // The last one that the cursor can belong to; a colon before it counts as part of it.
  const place = occurrences.places.findLast(({ span }) => span.start - 1 <= offset && offset <= span.end)!;
  return { range: document.rangeOf(place.span), placeholder: occurrences.name };
}

/**
 * Renames the thing at an offset to `newName`, wherever it is named. Throws a Refusal if that would cause a problem: the
 * name is invalid, or already taken.
 */
export function rename(
  document: ToolDocument,
  offset: number,
  newName: string,
  project: Project = {},
): WorkspaceEdit | undefined {
  const occurrences = occurrencesAt(document, offset, project);
  if (occurrences === undefined) return undefined;
  if (occurrences.fixed !== undefined) throw new Refusal(occurrences.fixed);
  const isQuery = document.kind === "query";
  const text = isQuery ? newName : JSON.stringify(newName).slice(1, -1);
  const quoted = isWordOfQueries(newName) ? text : JSON.stringify(JSON.stringify(newName)).slice(1, -1);
  const files = [{ document, places: occurrences.places }, ...(occurrences.elsewhere ?? [])].map((file) => ({
    document: file.document,
    edits: file.places.map(({ span, isWord }) => ({ span, text: isWord ? quoted : text })),
  }));
  let objection = invalid(occurrences, newName) ?? taken(document, occurrences, newName, project);
  for (const file of files) objection ??= (isQuery ? worseQuery : worse)(file.document, file.edits);
  if (objection !== undefined) throw new Refusal(objection);
  const changes = files.map(({ document: file, edits }) => [
    file.uri,
    edits.map(({ span, text }) => ({ range: file.rangeOf(span), newText: text })),
  ]);
  return { changes: Object.fromEntries(changes) };
}

/** Whether another file than the one with its definition has the new name: the checks of one file say nothing of it. */
function taken(
  document: ToolDocument,
  { kind, name, elsewhere = [] }: NameOccurrences,
  newName: string,
  project: Project,
): string | undefined {
  if ((kind !== "notification" && kind !== "query") || newName === name) return undefined;
  const isDefinedElsewhere = elsewhere.some(({ places }) => places.some(({ isDefinition }) => isDefinition));
  const others = [...(isDefinedElsewhere ? [document] : []), ...filesBeside(document, project)];
  const entriesOf = (file: ToolDocument) => (kind === "query" ? file.queries() : file.notifications());
  const other = others.find((file) => entriesOf(file).some(({ key }) => key.value === newName));
  return other && `${quote(pathFrom(project, other))} has a ${kind} ${quote(newName)} already`;
}

/** Whether a query may name a stage so without quotes. */
function isWordOfQueries(name: string): boolean {
  const parsed = parsePipeline(`stage = ${name}`);
  return parsed.ok && stagesNamedIn(parsed.value)[0]?.name === name;
}

function invalid({ kind, name }: NameOccurrences, newName: string): string | undefined {
  if (kind === "column" && !/^[\p{L}_@$][\p{L}\p{M}0-9_@$-]*$/u.test(newName))
    return `${quote(newName)} is no name of a column: write letters, digits and _, not beginning with a digit`;
  if (newName === name || kind !== "param") return undefined;
  const route = parseRoute(`/:${newName}`);
  const param = route.ok ? route.value.parts[1] : undefined;
  if (route.ok && route.value.parts.length === 2 && param?.kind === "param") return undefined;
  // The pattern "/:splat" alone would say that the name is taken.
  if (newName === "splat" && !route.ok) return describe(route.problems[0]!);
  return `${quote(newName)} is not a valid param name: write letters, digits and _, not beginning with a digit`;
}

/** The same of a query by itself, which was right before. */
function worseQuery({ text }: ToolDocument, edits: readonly TextEdit[]): string | undefined {
  const parsed = parsePipeline(applyEdits(text, edits));
  return parsed.ok ? undefined : describe(parsed.problems[0]!);
}

/** The message of a problem that the change would cause, as the checks say it. */
function worse(document: ToolDocument, edits: readonly TextEdit[]): string | undefined {
  const pieces = piecesWith(document, edits);
  const existingCodes = checkConfig(textOf(document, pieces, []), UNTRIED).problems.map(({ code }) => code);
  for (const problem of checkConfig(textOf(document, pieces, edits), UNTRIED).problems) {
    const at = existingCodes.indexOf(problem.code);
    if (at < 0) return describe(problem);
    existingCodes.splice(at, 1);
  }
  return undefined;
}

/**
 * The members of the configuration that a new name can make a difference to, as a text of their own: the sections with
 * the places, and of redirects the rules alone that it can meet, for there may be thousands. Undefined means the
 * whole text: syntax errors leave it open what belongs to what.
 */
function piecesWith({ parsed, text }: ToolDocument, edits: readonly TextEdit[]): readonly Piece[] | undefined {
  const { root, problems } = parsed;
  if (root?.type !== "object" || problems.length > 0) return undefined;
  const spanOf = ({ key, value }: Member): Span => ({ start: key.span.start, end: (value ?? key).span.end });
  const isEdited = (span: Span) => edits.some((edit) => span.start <= edit.span.start && edit.span.end <= span.end);
  return root.members
    .filter((member) => isEdited(spanOf(member)))
    .map((member): Piece => {
      const { key, value } = member;
      if (key.value !== "redirects" || value?.type !== "object")
        return { before: "", spans: [spanOf(member)], after: "" };
      // A param has a meaning only in its rule. Outside of it, all that can happen is that two patterns become the same.
      const rules = value.members.filter((rule) => isEdited(spanOf(rule)));
      const patterns = new Set(rules.map(({ key }) => keyAfter(text, key, edits)));
      const met = value.members.filter((rule) => rules.includes(rule) || patterns.has(rule.key.value));
      return { before: '"redirects": {', spans: met.map(spanOf), after: "}" };
    });
}

interface Piece {
  readonly before: string;
  readonly spans: readonly Span[];
  readonly after: string;
}

function textOf({ text }: ToolDocument, pieces: readonly Piece[] | undefined, edits: readonly TextEdit[]): string {
  if (pieces === undefined) return applyEdits(text, edits);
  const members = pieces.map(({ before, spans, after }) => {
    return before + spans.map((span) => sliceAfter(text, span, edits)).join(",\n") + after;
  });
  return `{${members.join(",\n")}}`;
}

/** A part of the text with those of the edits that are in it. */
function sliceAfter(text: string, { start, end }: Span, edits: readonly TextEdit[]): string {
  const inside = edits
    .filter(({ span }) => start <= span.start && span.end <= end)
    .map((edit) => ({ ...edit, span: { start: edit.span.start - start, end: edit.span.end - start } }));
  return applyEdits(text.slice(start, end), inside);
}

function keyAfter(text: string, { span }: StringNode, edits: readonly TextEdit[]): string {
  return JSON.parse(sliceAfter(text, span, edits));
}

// Only what is wrong is asked.
const UNTRIED = { triesFixes: false };
