import { didYouMean } from "../did-you-mean.ts";
import { type Expr, type Field, type Query, target } from "./ast.ts";
import { digitPattern, isStatusField } from "./digit-patterns.ts";
import { encodeString } from "./literals.ts";
import { compilePredicate } from "./predicate.ts";
import { printField } from "./print.ts";

// A query that is right and finds nothing: what may have been meant instead. Whoever has the entries tells what is true.

/** A field that a query reads. */
export interface ReadField {
  /** As a query writes it. */
  readonly name: string;
  /** Whether it stands alone as a term, as a word of a message would. */
  readonly isAlone: boolean;
  /** Whether an entry has it. */
  readonly isIn: ReturnType<typeof compilePredicate>;
}

/** The fields that a query reads, without those that every entry has; each once. */
export function readFields(query: Query): readonly ReadField[] {
  const fields = new Map<string, ReadField>();
  forEachTerm(query.expr, (term) => {
    if (!("field" in term) || target(term.field).at === "entry") return;
    const name = printField(term.field);
    if (fields.has(name)) return;
    const { field, span } = term;
    const expr: Expr = { kind: "exists", field, operator: span, span };
    const isIn = compilePredicate({ source: "", expr }, { nowMs: 0 });
    fields.set(name, { name, isAlone: term.kind === "truthy", isIn });
  });
  return [...fields.values()];
}

/** A term that may have been meant, and the whole query with it. */
export interface NearQuery {
  readonly term: string;
  readonly source: string;
}

/** The query with one term changed to what is often meant by it: a part of a message, a number, another case. */
export function nearQueries(query: Query): readonly NearQuery[] {
  const found: NearQuery[] = [];
  forEachTerm(query.expr, (expr) => {
    const term = nearTerm(expr);
    if (term === undefined) return;
    const { start, end } = expr.span;
    found.push({ term, source: `${query.source.slice(0, start)}${term}${query.source.slice(end)}` });
  });
  return found;
}

function nearTerm(expr: Expr): string | undefined {
  if (expr.kind === "message") return part(expr.text.chunks);
  if (expr.kind === "truthy") {
    const name = printField(expr.field);
    return /^[\p{L}_-]+$/u.test(name) ? `message ~ /${name}/i` : undefined;
  }
  if (expr.kind !== "comparison" || expr.op !== "=") return undefined;
  const { field, value } = expr;
  if (value.kind !== "string" && value.kind !== "word") return undefined;
  const place = target(field);
  if (place.at === "entry") return place.name === "message" ? part(value.chunks) : undefined;
  const text = value.chunks.join("*");
  if (/^-?\d{1,15}(?:\.\d+)?$/.test(text)) return `${printField(field)} = ${text}`;
  const range = isStatusField(field) ? digitPattern(text) : undefined;
  if (range !== undefined && range !== "any") {
    return `(${printField(field)} >= ${range.from} and ${printField(field)} < ${range.to})`;
  }
  return inAnyCase(field, value.chunks);
}

const part = (chunks: readonly string[]) =>
  chunks.length === 1 && chunks[0] !== "" ? `message contains "${encodeString(chunks, false)}"` : undefined;

function inAnyCase(field: Field, chunks: readonly string[]): string | undefined {
  const text = chunks.join("");
  if (!/^[\w /.@:-]*[A-Za-z][\w /.@:-]*$/.test(text)) return undefined;
  const pattern = chunks.map((chunk) => chunk.replace(/[/.]/g, "\\$&")).join(".*");
  return `${printField(field)} ~ /^${pattern}$/i`;
}

/** The field that was meant by a name that no entry has, of those that there are. */
export function meantField(name: string, seen: Iterable<string>): string | undefined {
  const names = [...new Set([...OWN, ...seen])];
  const plain = name.replace(/^[@$_]+/, "");
  const candidates = [...names.filter((other) => other === plain), ...names.filter((other) => isLast(plain, other))];
  const synonym = SYNONYMS.find(([, pattern]) => pattern.test(name))?.[0];
  if (synonym !== undefined && names.includes(synonym)) candidates.push(synonym);
  return candidates[0] ?? didYouMean(name, names);
}

const OWN = ["level", "message", "timestamp"];

/** `http.status` where `status` was written, and the other way round. */
const isLast = (name: string, other: string) => other.endsWith(`.${name}`) || name.endsWith(`.${other}`);

/** What other logs call a field. */
const SYNONYMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["level", /^(?:@?(?:log[._]?)?level(?:name)?|lvl|severity(?:_?text)?|priority|loglevel)$/i],
  ["message", /^@?(?:message|msg|text|log|body|event|_raw)$/i],
  ["timestamp", /^@?(?:timestamp|time|ts|date(?:time)?|_time|when)$/i],
  ["status", /^(?:@?http[._])?(?:response[._])?(?:status[._]?code|code|sc[-_]status|response[._]?status)$/i],
  ["duration", /^(?:latency|took|elapsed|response[._]?time|request[._]?time|duration[._]?ms)$/i],
  ["path", /^(?:@?http[._])?(?:uri|url|route|endpoint|request[._]?(?:uri|path)|cs[-_]uri[-_]stem)$/i],
  ["method", /^(?:@?http[._])?(?:verb|request[._]?method|http[._]?method)$/i],
  ["ip", /^(?:client[._]?ip|remote[._]?(?:ip|addr|address)|source[._]?ip)$/i],
  ["stage", /^(?:env|environment|@?deployment)$/i],
];

function forEachTerm(expr: Expr | undefined, visit: (term: Expr) => void): void {
  if (expr === undefined) return;
  if (expr.kind === "and" || expr.kind === "or") for (const term of expr.terms) forEachTerm(term, visit);
  else if (expr.kind === "not") forEachTerm(expr.term, visit);
  else visit(expr);
}
