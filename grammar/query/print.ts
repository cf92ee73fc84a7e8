import { HIDDEN } from "../hidden.ts";
import type { Expr, Field, Query, Segment, Value } from "./ast.ts";
import { encodeString } from "./literals.ts";

/**
 * The canonical text: keywords in lower case, `and` written out, one blank between tokens, no parentheses but the needed
 * ones. Values are printed as written, quoted or not. `parseQuery` reads it back to the same tree, spans aside.
 */
export function printQuery(query: Query): string {
  return query.expr === undefined ? "" : print(query.expr, LOOSEST);
}

// How tightly an expression binds; one that binds looser than its place gets parentheses.
const LOOSEST = 0;
const IN_OR = 1;
const IN_AND = 2;

function print(expr: Expr, place: number): string {
  switch (expr.kind) {
    case "or":
      return parenthesized(expr.terms.map((term) => print(term, IN_OR)).join(" or "), place >= IN_OR);
    case "and":
      return parenthesized(expr.terms.map((term) => print(term, IN_AND)).join(" and "), place >= IN_AND);
    case "not":
      if (expr.term.kind === "in") {
        return `${printField(expr.term.field)} not in (${expr.term.values.map(printValue).join(", ")})`;
      }
      return `not ${print(expr.term, IN_AND)}`;
    case "comparison":
      return `${printField(expr.field)} ${expr.op} ${printValue(expr.value)}`;
    case "in":
      return `${printField(expr.field)} in (${expr.values.map(printValue).join(", ")})`;
    case "contains": {
      const { kind, chunks } = expr.text;
      const isWord = kind === "word" && !hasHidden(chunks);
      const text = isWord ? chunks.join("*") : `"${encodeString(chunks, false)}"`;
      return `${printField(expr.field)} contains ${text}`;
    }
    case "match":
      return `${printField(expr.field)} ~ /${expr.regex.source}/${expr.regex.flags}`;
    case "exists":
      return `exists ${printField(expr.field)}`;
    case "truthy":
      return printField(expr.field);
    case "level":
    case "stage":
      return expr.word;
    case "message":
      return printValue(expr.text);
  }
}

/** A field as a query names it: `user.email`, `items[0]`, `fields["odd key"]`. */
export function printField(field: Field): string {
  return field.path.map(printSegment).join("");
}

function printSegment(segment: Segment, place: number): string {
  if (segment.kind === "index") return `[${segment.index}]`;
  // The first segment is always a name; a name beside the reserved words needs no brackets after a dot.
  if (place === 0) return hasHidden([segment.key]) ? `fields["${encodeString([segment.key], false)}"]` : segment.key;
  return NAME.test(segment.key) && !RESERVED.test(segment.key)
    ? `.${segment.key}`
    : `["${encodeString([segment.key], false)}"]`;
}

export function printValue(value: Value): string {
  switch (value.kind) {
    case "string":
      return `"${encodeString(value.chunks, true)}"`;
    case "word":
      return hasHidden(value.chunks) ? `"${encodeString(value.chunks, true)}"` : value.chunks.join("*");
    case "number":
      return value.text;
    case "boolean":
      return String(value.value);
    case "null":
      return "null";
  }
}

/** Whether a word has letters that are blank: those can only be read as escapes, in quotes. */
const hasHidden = (chunks: readonly string[]) => chunks.some((chunk) => ONE_HIDDEN.test(chunk));
const ONE_HIDDEN = new RegExp(`[${HIDDEN}]`, "u");

const parenthesized = (text: string, needed: boolean) => (needed ? `(${text})` : text);

// Names that may follow a dot; those with marks and letters of other scripts may too, and read the same in brackets.
const NAME = new RegExp(`^(?!.*[${HIDDEN}])[\\p{L}_@$][\\p{L}0-9_@$-]*$`, "u");
const RESERVED = /^(and|or|not|in|contains|exists)$/i;
