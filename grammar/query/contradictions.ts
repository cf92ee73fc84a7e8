import type { Problem, Span } from "../problem.ts";
import { type Comparison, comparedType, type Expr, type Field, type Pipeline, target, type Value } from "./ast.ts";
import { KNOWN_FIELDS } from "./known-fields.ts";
import { LEVELS, levelOf, severity } from "./levels.ts";
import { givesRows, pipeCondition } from "./pipe/pipe-facts.ts";
import { printField } from "./print.ts";

/**
 * A warning for each condition that no entry can satisfy beside an earlier one, such as `status >= 500 status < 400`. Only of
 * fields with one value in each entry: a list satisfies both if two of its elements do.
 */
export function contradictionsIn({ source, query, pipes }: Pipeline): Problem[] {
  const exprs = query.expr === undefined ? [] : [query.expr];
  for (const pipe of pipes) {
    if (givesRows(pipe)) break;
    // Entries that a stage passes on are entries still.
    const condition = pipeCondition(pipe);
    if (condition !== undefined) exprs.push(condition);
  }
  const problems: Problem[] = [];
  inConjunction(exprs, { source, problems });
  return problems.sort((a, b) => a.span.start - b.span.start);
}

interface Context {
  readonly source: string;
  readonly problems: Problem[];
}

/** The entries that a condition of one field selects. */
type Selection =
  /** Bit i is the level of severity i; one more bit is any text that is no level. */
  | { readonly kind: "levels"; readonly bits: number }
  | { readonly kind: "texts"; readonly texts: ReadonlySet<string> }
  | { readonly kind: "range"; readonly low: Bound; readonly high: Bound };

interface Bound {
  readonly value: number;
  readonly isOpen: boolean;
}

interface Condition {
  readonly field: string;
  readonly expr: Expr;
  readonly selection: Selection;
}

function inConjunction(exprs: readonly Expr[], context: Context): void {
  const conditions: Condition[] = [];
  const visit = (expr: Expr): void => {
    if (expr.kind === "and") for (const term of expr.terms) visit(term);
    else if (expr.kind === "or") for (const term of expr.terms) inConjunction([term], context);
    else {
      const condition = conditionOf(expr);
      const earlier = condition && conditions.find((one) => excludes(one, condition));
      if (earlier !== undefined) context.problems.push(contradiction(earlier, condition!, context.source));
      if (condition !== undefined) conditions.push(condition);
    }
  };
  for (const expr of exprs) visit(expr);
}

function contradiction(earlier: Condition, later: Condition, source: string): Problem {
  const [first, second] = [earlier, later].map(({ expr: { span } }) => source.slice(span.start, span.end));
  const { span } = later.expr;
  const between = source.slice(earlier.expr.span.end, span.start);
  const parts = [earlier, later].map(({ expr }) => (expr.kind === "message" ? partOfMessage(expr, source) : undefined));
  const isOfMessages = parts.every((part) => part !== undefined);
  const write = isOfMessages ? parts.join(" and ") : `${first} or ${second}`;
  const whole = { start: earlier.expr.span.start, end: span.end };
  // Within other terms an "or" needs parentheses, which bind it before the "and" around it.
  const isAll = source.trim() === source.slice(whole.start, whole.end);
  const joined = { span: whole, text: isOfMessages || isAll ? write : `(${write})` };
  const isBeside = /^\s*(?:and|AND|&&)?\s*$/.test(between);
  return {
    code: "query/contradiction",
    severity: "warning",
    message: `no entry satisfies both of ${first} and ${second}`,
    hint: isOfMessages
      ? `a text alone is a whole message; for parts of it write ${write}`
      : "write or between them for entries with either of them",
    span,
    fix: {
      title: isBeside ? `Write ${write}` : `Remove ${second}`,
      edits: [isBeside ? joined : { span: withJoint(span, source), text: "" }],
      isSuggestion: true,
    },
  };
}

/** A term with the `and` or the stage that would be left without it. */
function withJoint({ start, end }: Span, source: string): Span {
  const before = source.slice(0, start);
  const after = source.slice(end);
  const isFirst = /\|\s*where\s+$/.test(before);
  if (isFirst && /^\s*(?:\||$)/.test(after)) return { start: before.replace(/\s*\|\s*where\s+$/, "").length, end };
  if (isFirst) return { start, end: end + /^\s+(?:(?:and|AND|&&)\s+)?/.exec(after)![0].length };
  return { start: before.replace(/(?:\s+(?:and|AND|&&))?\s*$/, "").length, end };
}

function partOfMessage({ text }: Extract<Expr, { kind: "message" }>, source: string): string | undefined {
  return text.chunks.length === 1 ? `message contains ${source.slice(text.span.start, text.span.end)}` : undefined;
}

function excludes(earlier: Condition, later: Condition): boolean {
  if (earlier.field !== later.field) return false;
  const [a, b] = [earlier.selection, later.selection];
  if (a.kind === "levels" && b.kind === "levels") return (a.bits & b.bits) === 0;
  if (a.kind === "texts" && b.kind === "texts") return ![...a.texts].some((text) => b.texts.has(text));
  if (a.kind !== "range" || b.kind !== "range") return false;
  return isBelow(a.high, b.low) || isBelow(b.high, a.low);
}

const isBelow = (high: Bound, low: Bound) =>
  high.value < low.value || (high.value === low.value && (high.isOpen || low.isOpen));

function conditionOf(expr: Expr): Condition | undefined {
  const selection = selectionOf(expr);
  if (selection === undefined) return undefined;
  const field =
    expr.kind === "level" || expr.kind === "stage" || expr.kind === "message"
      ? expr.kind
      : "field" in expr
        ? printField(expr.field)
        : undefined;
  return field === undefined ? undefined : { field, expr, selection };
}

function selectionOf(expr: Expr): Selection | undefined {
  switch (expr.kind) {
    case "level":
      return levels([levelOf(expr.word)]);
    case "stage":
      return { kind: "texts", texts: new Set([expr.word.toLowerCase()]) };
    case "message":
      return expr.text.chunks.length === 1 ? { kind: "texts", texts: new Set(expr.text.chunks) } : undefined;
    case "comparison":
      return ofComparison(expr);
    case "in": {
      const type = typeOf(expr.field);
      const texts = expr.values.map(plainText);
      if (texts.some((text) => text === undefined)) return undefined;
      if (type === "level") return levels(texts.map((text) => levelOf(text!)));
      return type === "string" ? { kind: "texts", texts: new Set(texts as string[]) } : undefined;
    }
    default:
      return undefined;
  }
}

function ofComparison({ field, op, value }: Comparison): Selection | undefined {
  const type = typeOf(field);
  const text = plainText(value);
  if (type === "level") {
    const level = text === undefined ? undefined : levelOf(text);
    return level === undefined ? undefined : { kind: "levels", bits: levelBits(op, severity(level)) };
  }
  if (type === "string")
    return op === "=" && text !== undefined ? { kind: "texts", texts: new Set([text]) } : undefined;
  if (value.kind !== "number") return undefined;
  if (type === "number") return range(op, value.value);
  // A duration is that long ago: more of it is earlier. Quoted times are left out, since now is not known here.
  if (type === "time" && value.unit !== undefined) return range(op, -value.value);
  return undefined;
}

function range(op: Comparison["op"], value: number): Selection | undefined {
  if (op === "!=") return undefined;
  const at = (isOpen: boolean): Bound => ({ value, isOpen });
  const low = op === ">" ? at(true) : op === ">=" || op === "=" ? at(false) : { value: -Infinity, isOpen: true };
  const high = op === "<" ? at(true) : op === "<=" || op === "=" ? at(false) : { value: Infinity, isOpen: true };
  return { kind: "range", low, high };
}

const OTHER_BIT = 1 << LEVELS.length;

function levels(list: readonly (ReturnType<typeof levelOf> | undefined)[]): Selection | undefined {
  let bits = 0;
  for (const level of list) {
    if (level === undefined) return undefined;
    bits |= 1 << severity(level);
  }
  return { kind: "levels", bits };
}

function levelBits(op: Comparison["op"], rank: number): number {
  const own = 1 << rank;
  const below = own - 1;
  const above = (OTHER_BIT - 1) & ~(own | below);
  switch (op) {
    case "=":
      return own;
    case "!=":
      return below | above | OTHER_BIT;
    case "<":
      return below;
    case "<=":
      return below | own;
    case ">":
      return above;
    case ">=":
      return above | own;
  }
}

/** The type of a field that has one value in each entry; undefined for all others, which may have lists. */
function typeOf(field: Field): "level" | "time" | "number" | "string" | undefined {
  const type = comparedType(field);
  if (type !== "other") return type;
  const place = target(field);
  const name = place.at === "entry" ? place.name : place.path.length === 1 ? place.path[0] : undefined;
  const own = field.path.length === 1 ? KNOWN_FIELDS.find((one) => one.name === name)?.type : undefined;
  if (own === "bytes" || own === "duration" || own === "number") return "number";
  return own === "string" ? "string" : undefined;
}

function plainText(value: Value): string | undefined {
  return (value.kind === "string" || value.kind === "word") && value.chunks.length === 1 ? value.chunks[0] : undefined;
}
