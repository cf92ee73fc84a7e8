import type { Comparison, Existence, Expr, Pipeline, Query } from "./ast.ts";
import { printQuery } from "./print.ts";
import { conditionEnd, readPipeline } from "./read.ts";

/** A scalar of an event, as JSON has it. */
export type Scalar = string | number | boolean | null;

/**
 * Changes of a query by pressing a value that is shown. Each gives the new text, or undefined if the text is not a query.
 * A field is named as queries name it. A condition that is there already is not added again, and its opposite goes.
 * Stages stay, since conditions come before them.
 */

/** Only events whose field is this value. Another value that the field had to be is replaced. */
export function filterIn(text: string, field: string, value: Scalar): string | undefined {
  const wanted = `${field} = ${literal(value)}`;
  return changed(
    text,
    { term: wanted, field },
    (term) => isEquality(term, field) || isNot(term, wanted) || isAbsence(term, field),
  );
}

/** Only events whose field is not this value, those without the field too. */
export function filterOut(text: string, field: string, value: Scalar): string | undefined {
  const unwanted = `${field} = ${literal(value)}`;
  return changed(text, { term: `not ${unwanted}`, field }, (term) => printed(term) === printedText(unwanted));
}

/** Only events that have the field. */
export function fieldExists(text: string, field: string): string | undefined {
  return changed(text, { term: `exists ${field}`, field }, (term) => isAbsence(term, field));
}

/** Only events whose field is a number within closed bounds. Bounds of before are replaced. */
export function filterBetween(
  text: string,
  field: string,
  { min, max }: { readonly min?: number | undefined; readonly max?: number | undefined },
): string | undefined {
  const bounds = [
    ...(min === undefined ? [] : [`${field} >= ${literal(min)}`]),
    ...(max === undefined ? [] : [`${field} <= ${literal(max)}`]),
  ];
  if (bounds.length === 0) return text;
  return changed(text, { term: bounds.join(" and "), field }, (term) => isBound(term, field));
}

/** Only events of a level or a more severe one. */
export function levelFrom(text: string, level: string): string | undefined {
  return changed(text, { term: `level >= ${level}`, field: "level" }, (term) => isBound(term, "level"));
}

/** The query alone, without its stages. */
export function withoutPipes(text: string): string | undefined {
  const read = readPipeline(text);
  return read && conditionsOf(read);
}

/** Counts by the field; in the place of the stages that are there. */
export function countBy(text: string, field: string): string | undefined {
  const read = readPipeline(text);
  if (read === undefined || nameOf(field) === undefined) return undefined;
  return `${conditionsOf(read)} | count by ${field}`.trim();
}

/** A value as a query writes it. */
export function literal(value: Scalar): string {
  if (typeof value !== "string") return numberText(value);
  const query = { kind: "string", chunks: [value], span: NOWHERE } as const;
  return printedTerm({ kind: "message", text: query, span: NOWHERE });
}

const NOWHERE = { start: 0, end: 0 };

/** Adds a term to those that all must hold, without the ones that it replaces. */
function changed(
  text: string,
  { term, field }: { readonly term: string; readonly field: string },
  isReplaced: (term: Expr) => boolean,
): string | undefined {
  const read = readPipeline(text);
  const added = readPipeline(term)?.query.expr;
  if (read === undefined || added === undefined || nameOf(field) === undefined) return undefined;
  const { expr } = read.query;
  const terms = expr === undefined ? [] : expr.kind === "and" ? expr.terms : [expr];
  const wanted = added.kind === "and" ? added.terms.map(printed) : [printed(added)];
  const left = terms.filter((one) => !isReplaced(one) || wanted.includes(printed(one)));
  const missing = wanted.filter((one) => !left.some((term) => printed(term) === one));
  if (left.length === terms.length) {
    if (missing.length === 0) return text;
    // The text of the person stays as it was written.
    const own = conditionsOf(read);
    const kept = own === "" ? "" : expr?.kind === "or" ? `(${own})` : own;
    return joined([kept, ...missing], read);
  }
  return joined([...left.map(operand), ...missing], read);
}

/** Terms in the place of those of a query, with its stages as they were written. */
function joined(terms: readonly string[], read: Pipeline): string {
  const conditions = terms.filter((term) => term !== "").join(" and ");
  const pipes = read.source.slice(conditionEnd(read)).trim();
  return pipes === "" ? conditions : `${conditions} ${pipes}`.trim();
}

/** A term as it is written among others that all must hold. */
const operand = (term: Expr) => (term.kind === "or" ? `(${printed(term)})` : printed(term));

const printed = (term: Expr) => printedTerm(term);
const printedTerm = (expr: Expr) => printQuery({ source: "", expr } satisfies Query);

function printedText(text: string): string | undefined {
  const expr = readPipeline(text)?.query.expr;
  return expr && printed(expr);
}

const fieldOf = ({ field }: Comparison | Existence) =>
  printedTerm({ kind: "exists", field, operator: NOWHERE, span: NOWHERE } as Expr).slice("exists ".length);

const isEquality = (term: Expr, field: string) =>
  term.kind === "comparison" && term.op === "=" && fieldOf(term) === nameOf(field);

const isBound = (term: Expr, field: string) =>
  term.kind === "comparison" && (term.op === ">=" || term.op === "<=") && fieldOf(term) === nameOf(field);

const isNot = (term: Expr, text: string) => term.kind === "not" && printed(term.term) === printedText(text);

const isAbsence = (term: Expr, field: string) =>
  term.kind === "not" && term.term.kind === "exists" && fieldOf(term.term) === nameOf(field);

/** A field's name as it is printed; undefined if it is not one field. */
function nameOf(field: string): string | undefined {
  const expr = readPipeline(`exists ${field}`)?.query.expr;
  return expr?.kind === "exists" ? fieldOf(expr) : undefined;
}

const conditionsOf = (read: Pipeline) => read.source.slice(0, conditionEnd(read)).trim();

/** Numbers as JSON writes them, which the language reads. */
function numberText(value: Exclude<Scalar, string>): string {
  return JSON.stringify(value);
}
