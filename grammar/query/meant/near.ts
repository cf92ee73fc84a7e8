import { didYouMean } from "../../did-you-mean.ts";
import { type Comparison, type Expr, type Field, forEachTerm, type Query, target, type Value } from "../ast.ts";
import { digitPattern, isStatusField } from "../digit-patterns.ts";
import { LEVELS, levelOf } from "../levels.ts";
import { encodeString } from "../literals.ts";
import { LEVEL_KEYS, levelText } from "../loggers.ts";
import { compilePredicate } from "../predicate.ts";
import { printField } from "../print.ts";

// Guesses at the meaning of a valid query that finds nothing. The caller has the entries and tries the guesses on them.

/** A field that a query reads. */
export interface ReadField {
  /** As a query writes it. */
  readonly name: string;
  /** Whether it is a term by itself, as a word of a message would be. */
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
  const queries: NearQuery[] = [];
  forEachTerm(query.expr, (expr) => {
    for (const term of nearTerms(expr)) queries.push(withTerm(query, expr, term));
  });
  // Programs that write plain text have the level in it.
  forEachTerm(query.expr, (expr) => {
    if (expr.kind === "level") queries.push(withTerm(query, expr, `message ~ /${expr.word.toLowerCase()}/i`));
  });
  return queries;
}

function withTerm({ source }: Query, { span }: Expr, term: string): NearQuery {
  return { term, source: `${source.slice(0, span.start)}${term}${source.slice(span.end)}` };
}

/** A text that a query looks for in the messages. */
export interface SoughtText {
  readonly text: string;
  /** As a query writes it. */
  readonly quoted: string;
  /** The query that looks for it in another field. */
  in(field: string): NearQuery;
  /** The query for which another field is the text. */
  is(field: string): NearQuery;
  /** The query that looks for it in any of several fields. */
  inAny(fields: readonly string[]): NearQuery;
}

/** The texts that a query looks for in the messages, and the words that it tests as fields; none after a `not`. */
export function soughtTexts(query: Query): readonly SoughtText[] {
  const texts: SoughtText[] = [];
  const visit = (expr: Expr | undefined): void => {
    if (expr?.kind === "and" || expr?.kind === "or") for (const term of expr.terms) visit(term);
    else if (expr !== undefined && expr.kind !== "not") {
      const text = soughtText(expr);
      if (text === undefined || text === "") return;
      const quoted = `"${encodeString([text], false)}"`;
      const within = (field: string) => `${field} contains ${quoted}`;
      texts.push({
        ...{ text, quoted },
        in: (field) => withTerm(query, expr, within(field)),
        is: (field) => withTerm(query, expr, `${field} = "${encodeString([text], true)}"`),
        inAny: (fields) => withTerm(query, expr, `(${fields.map(within).join(" or ")})`),
      });
    }
  };
  visit(query.expr);
  return texts;
}

function soughtText(expr: Expr): string | undefined {
  if (expr.kind === "message") return onlyChunk(expr.text.chunks);
  if (expr.kind === "truthy") return wordAlone(expr.field);
  if (!("field" in expr) || !isMessage(expr.field)) return undefined;
  if (expr.kind === "contains") return expr.text.chunks.join("*");
  if (expr.kind === "match") return /^[\w :-]+$/.test(expr.regex.source) ? expr.regex.source : undefined;
  if (expr.kind !== "comparison" || expr.op !== "=") return undefined;
  return expr.value.kind === "string" || expr.value.kind === "word" ? onlyChunk(expr.value.chunks) : undefined;
}

function onlyChunk(chunks: readonly string[]): string | undefined {
  const texts = chunks.filter((chunk) => chunk !== "");
  return texts.length === 1 ? texts[0] : undefined;
}

function isMessage(field: Field): boolean {
  const place = target(field);
  return place.at === "entry" && place.name === "message";
}

/** A name that may have been meant as a word of a message. */
function wordAlone(field: Field): string | undefined {
  const name = printField(field);
  return /^[\p{L}\p{M}\p{N}_-]+$/u.test(name) ? name : undefined;
}

/** The terms that are often meant by a term, the likeliest first. */
function nearTerms(expr: Expr): readonly string[] {
  switch (expr.kind) {
    case "message":
      return messageTerms(expr.text.chunks);
    case "contains":
      return [inAnyCase(expr.field, ["", ...expr.text.chunks, ""])].filter(isDefined);
    case "match":
      return expr.regex.flags === "" ? [`${printField(expr.field)} ~ /${expr.regex.source}/i`] : [];
    case "truthy": {
      const word = wordAlone(expr.field);
      if (word === undefined) return [];
      const level = levelText(word, undefined)?.toLowerCase();
      return [...(level === undefined ? [] : [`level = ${level}`]), ...messageTerms([word])];
    }
    case "comparison":
      return comparisonTerms(expr);
    default:
      return [];
  }
}

function comparisonTerms({ field, op, value }: Comparison): readonly string[] {
  const level = levelTerm(field, op, value);
  if (level !== undefined) return [level];
  if (op !== "=" || (value.kind !== "string" && value.kind !== "word")) return [];
  if (isMessage(field)) return messageTerms(value.chunks);
  if (target(field).at === "entry") return [];
  const text = value.chunks.join("*");
  if (/^-?\d{1,15}(?:\.\d+)?$/.test(text)) return [`${printField(field)} = ${text}`];
  const range = isStatusField(field) ? digitPattern(text) : undefined;
  if (range !== undefined && range !== "any") {
    return [`(${printField(field)} >= ${range.from} and ${printField(field)} < ${range.to})`];
  }
  return [inAnyCase(field, value.chunks)].filter(isDefined);
}

const isDefined = (term: string | undefined): term is string => term !== undefined;

/** `level = panic`, `level = 50`, `severity = ERROR`: levels by the words, numbers and keys of loggers; and `level = eror`. */
function levelTerm(field: Field, op: string, value: Value): string | undefined {
  const place = target(field);
  const isOwn = place.at === "entry" && place.name === "level";
  const name = printField(field).replace(/^fields\["([^"]*)"\]$/, "$1");
  const key = LEVEL_KEYS.find((levelKey) => levelKey.key === name);
  if (!isOwn && key === undefined && !LEVEL_NAMES.test(name)) return undefined;
  const numbers = key === undefined ? "tens" : key.numbers;
  const written = value.kind === "string" || value.kind === "word" ? value.chunks.join("*") : undefined;
  const meant =
    isOwn && written !== undefined && levelOf(written) === undefined ? didYouMean(written, LEVELS) : undefined;
  const level = levelText(value.kind === "number" ? value.value : written, numbers)?.toLowerCase() ?? meant;
  return level === undefined || (isOwn && level === written?.toLowerCase()) ? undefined : `level ${op} ${level}`;
}

/** A part of a message, and the same in any case. */
function messageTerms(chunks: readonly string[]): readonly string[] {
  const open = chunks.length === 1 ? ["", ...chunks, ""] : chunks;
  return [part(chunks), inAnyCase(MESSAGE, open)].filter(isDefined);
}

const MESSAGE: Field = {
  path: [{ kind: "key", key: "message", span: { start: 0, end: 0 } }],
  span: { start: 0, end: 0 },
};

const part = (chunks: readonly string[]) =>
  chunks.length === 1 && chunks[0] !== "" ? `message contains "${encodeString(chunks, false)}"` : undefined;

/** An expression that ignores case. The chunks are the text between stars; a blank one at an end leaves that end open. */
function inAnyCase(field: Field, chunks: readonly string[]): string | undefined {
  const text = chunks.join("");
  if (!/^[\w /.@:-]*[A-Za-z][\w /.@:-]*$/.test(text)) return undefined;
  const first = chunks[0] === "" ? "" : "^";
  const last = chunks.at(-1) === "" ? "" : "$";
  const inner = chunks.slice(first === "" ? 1 : 0, last === "" ? -1 : undefined);
  const pattern = inner.map((chunk) => chunk.replace(/[/.]/g, "\\$&")).join(".*");
  return `${printField(field)} ~ /${first}${pattern}${last}/i`;
}

/** The field that was meant by a name that no entry has, of those that there are. */
export function meantField(name: string, seen: Iterable<string>): string | undefined {
  const names = [...new Set([...OWN, ...seen])];
  const whole = dotted(name);
  const plain = whole.replace(/^[@$_]+/, "");
  const candidates = [
    ...names.filter((other) => other !== name && dotted(other) === whole),
    ...names.filter((other) => dotted(other) === plain),
    ...names.filter((other) => isLast(plain, dotted(other))),
  ];
  const synonym = SYNONYMS.find(([, pattern]) => pattern.test(name))?.[0];
  if (synonym !== undefined && names.includes(synonym)) candidates.push(synonym);
  const near = didYouMean(whole, names.map(dotted));
  return candidates[0] ?? names.find((other) => dotted(other) === near);
}

/** The query with a field that is not among those that there are changed to the one that was meant. */
export function meantQueries(query: Query, seen: readonly string[]): readonly NearQuery[] {
  const queries: NearQuery[] = [];
  forEachTerm(query.expr, (expr) => {
    if (!("field" in expr) || target(expr.field).at === "entry") return;
    const meant = isSeen(printField(expr.field), seen) ? undefined : meantField(printField(expr.field), seen);
    if (meant === undefined) return;
    const { start, end } = expr.field.span;
    const change = (from: number, to: number) =>
      `${query.source.slice(from, start)}${meant}${query.source.slice(end, to)}`;
    queries.push({ term: change(expr.span.start, expr.span.end), source: change(0, query.source.length) });
  });
  return queries;
}

/** Whether there is a field of this name, or one below it. */
export function isSeen(name: string, seen: readonly string[]): boolean {
  // `fields.path` is `path`, which is how it is listed.
  const listed = name.replace(/^fields\.(?=.)/, "");
  return seen.some((other) => other === listed || other.startsWith(`${listed}.`) || other.startsWith(`${listed}[`));
}

/** A name without brackets: of `service.name` and `fields["service.name"]` the one is often meant by the other. */
const dotted = (name: string) => name.replace(/\["((?:[^"\\]|\\.)*)"\]/g, ".$1").replace(/^fields\.(?=.)/, "");

const OWN = ["level", "message", "timestamp"];

/** `http.status` where `status` was written, and the other way round. */
const isLast = (name: string, other: string) => other.endsWith(`.${name}`) || name.endsWith(`.${other}`);

const LEVEL_NAMES = /^(?:@?(?:log[._]?)?level(?:name)?|lvl|severity(?:_?text)?|priority|loglevel)$/i;

/** The names that other logs have for a field. */
const SYNONYMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["level", LEVEL_NAMES],
  ["message", /^@?(?:message|msg|text|log|body|event|_raw)$/i],
  ["timestamp", /^@?(?:timestamp|time|ts|date(?:time)?|_time|when)$/i],
  ["status", /^(?:@?http[._])?(?:response[._])?(?:status[._]?code|code|sc[-_]status|response[._]?status)$/i],
  ["duration", /^(?:latency|took|elapsed|response[._]?time|request[._]?time|duration[._]?ms)$/i],
  ["path", /^(?:@?http[._])?(?:uri|url|route|endpoint|request[._]?(?:uri|path)|cs[-_]uri[-_]stem)$/i],
  ["method", /^(?:@?http[._])?(?:verb|request[._]?method|http[._]?method)$/i],
  ["ip", /^(?:client[._]?ip|remote[._]?(?:ip|addr|address)|source[._]?ip)$/i],
  ["stage", /^(?:env|environment|@?deployment)$/i],
];
