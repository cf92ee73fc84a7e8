import type { Range, WorkspaceEdit } from "vscode-languageserver-types";
import { applyEdits, describe, quote, type TextEdit } from "../../grammar/problem.ts";
import { parseRoute } from "../../grammar/route/index.ts";
import { checkConfig } from "../../schema/index.ts";
import type { ToolDocument } from "./document.ts";
import { type Occurrences, occurrencesAt } from "./occurrences.ts";

/** What a client is answered in place of a result: a sentence for the person who asked. */
export interface Refusal {
  readonly refused: string;
}

/** The name at an offset, to be edited; undefined where nothing has one. */
export function prepareRename(
  document: ToolDocument,
  offset: number,
): { range: Range; placeholder: string } | Refusal | undefined {
  const found = occurrencesAt(document, offset);
  if (found === undefined) return undefined;
  if (found.fixed !== undefined) return { refused: found.fixed };
  // The last one that the cursor can belong to; a colon before it counts as its own.
  const place = found.places.findLast(({ span }) => span.start - 1 <= offset && offset <= span.end)!;
  return { range: document.rangeOf(place.span), placeholder: found.name };
}

/**
 * Calls the thing at an offset `newName`, wherever it is named. Refused where the configuration would be worse for it:
 * the name is invalid, or another's.
 */
export function rename(document: ToolDocument, offset: number, newName: string): WorkspaceEdit | Refusal | undefined {
  const found = occurrencesAt(document, offset);
  if (found === undefined) return undefined;
  if (found.fixed !== undefined) return { refused: found.fixed };
  const text = JSON.stringify(newName).slice(1, -1);
  const edits = found.places.map(({ span }) => ({ span, text }));
  const refused = invalid(found, newName) ?? worse(document.text, edits);
  if (refused !== undefined) return { refused };
  return {
    changes: {
      [document.uri]: edits.map(({ span, text }) => ({ range: document.rangeOf(span), newText: text })),
    },
  };
}

function invalid({ kind, name }: Occurrences, newName: string): string | undefined {
  if (newName === name || kind !== "param") return undefined;
  const route = parseRoute(`/:${newName}`);
  const param = route.ok ? route.value.parts[1] : undefined;
  if (route.ok && route.value.parts.length === 2 && param?.kind === "param") return undefined;
  // The pattern "/:splat" alone would say that the name is taken.
  if (newName === "splat" && !route.ok) return describe(route.problems[0]!);
  return `${quote(newName)} is no name of a param: write letters, digits and _, not beginning with a digit`;
}

/** What would be wrong that is not wrong now, as the checks say it. */
function worse(text: string, edits: readonly TextEdit[]): string | undefined {
  const known = checkConfig(text).problems.map(({ code }) => code);
  for (const problem of checkConfig(applyEdits(text, edits)).problems) {
    const at = known.indexOf(problem.code);
    if (at < 0) return describe(problem);
    known.splice(at, 1);
  }
  return undefined;
}
