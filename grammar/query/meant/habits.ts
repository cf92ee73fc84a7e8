import { digitPattern } from "../digit-patterns.ts";
import { KNOWN_FIELDS, KNOWN_VALUES } from "../known-fields.ts";
import { levelOf, STAGE_WORDS } from "../levels.ts";
import { beginsTerm, isNameToken, operandAt, plainWord, type Slip, type TokenPlace } from "../place.ts";
import * as problems from "../problems.ts";
import { parseMoment } from "../timestamp.ts";
import type { Token, TokenKind } from "../tokens.ts";

// Phrases that users write out of habit or as they speak: spans of time, limits, orders, words of a message. The
// grammar takes most of these words for names of fields, so that without a message such a query would just find
// nothing.

/** A bare name that begins one of the phrases below, or stands for a value: `since`, `limit`, `GET`. */
export const isHabit = (name: string) => PHRASES.test(name) || MODAL.test(name) || METHODS.has(name);

const PHRASES =
  /^(?:since|last|past|within|before|after|until|till|from|today|yesterday|limit|head|tail|take|top|first|order|sort|group|count|stats|is|has|have|(?:is|was|are|were|does|do|did)nt|without|exclude|excluding|except|starts|ends|begins|start|end|begin|starting|ending|beginning)$/i;
const METHODS: ReadonlySet<unknown> = new Set(KNOWN_VALUES.method);

/** `since 1h`, `last 15 minutes`, `in the last hour`, `30m ago`, `after 2024-05-01`, `earliest=-1h`, `yesterday` */
export function timeSpan(place: TokenPlace): Slip | undefined {
  const { source, tokens, at } = place;
  const first = tokens[at]!;
  if (!beginsTerm(tokens, at)) return undefined;
  TIME_SPAN.lastIndex = first.start;
  const span = TIME_SPAN.exec(source);
  if (span !== null) {
    const [, relative, count = "1", word, ago, agoWord, splunk] = span;
    const amount = relative !== undefined ? count : (ago ?? splunk!);
    const unit = (relative !== undefined ? word : agoWord) ?? "";
    const duration = durationOf(`${amount}${unit}`);
    const end = first.start + span[0].trimEnd().length;
    if (duration !== undefined)
      return phrase(place, end, "not a term", { write: `timestamp > ${duration}`, hint: SINCE });
  }
  const bound = timeBound(source, first.start);
  if (bound !== undefined) return phrase(place, bound.end, "not a term", { write: bound.write, hint: bound.hint });
  if (/^(?:today|yesterday)$/i.test(first.text) && !isCompared(tokens, at)) {
    return phrase(place, first.end, "not a term", { write: "timestamp > 1d", hint: SINCE });
  }
  if (/^now$/i.test(first.text) && !isCompared(tokens, at)) {
    return phrase(place, first.end, "not a term", {
      write: "",
      hint: "leave it out, or write a time, such as timestamp > 1h",
    });
  }
  return undefined;
}

const SINCE = ", or as an option --since";
const UNTIL = ", or as an option --until";

interface Bound {
  readonly end: number;
  /** The same as a term; "" if it bounds nothing, undefined if nothing could be found. */
  readonly write: string | undefined;
  readonly hint: string;
}

/** `before yesterday`, `after 2 hours ago`, `until 2024-05-01`, `between 2h and 1h ago` */
function timeBound(source: string, start: number): Bound | undefined {
  BETWEEN.lastIndex = start;
  const between = BETWEEN.exec(source);
  if (between !== null) {
    const from = pointAt(source, BETWEEN.lastIndex);
    AND.lastIndex = from?.end ?? 0;
    const to = from !== undefined && AND.test(source) ? pointAt(source, AND.lastIndex) : undefined;
    if (from === undefined || to === undefined || from.value === undefined) return undefined;
    // Days have no bounds here: up to today is up to now.
    const last = to.value === undefined || from.value === to.value ? "" : ` and timestamp < ${to.value}`;
    return { end: to.end, write: `timestamp ${since(from.value)}${last}`, hint: SINCE };
  }
  PREPOSITION.lastIndex = start;
  const preposition = PREPOSITION.exec(source)?.[1];
  const point = preposition === undefined ? undefined : pointAt(source, PREPOSITION.lastIndex);
  if (preposition === undefined || point === undefined) return undefined;
  const isEnd = /^(?:before|until|till|to)$/i.test(preposition);
  if (point.value === undefined) {
    if (isEnd) return { end: point.end, write: "", hint: "leave it out: entries end now" };
    return { end: point.end, write: undefined, hint: "write a time before now, such as timestamp > 1h" };
  }
  if (isEnd) return { end: point.end, write: `timestamp < ${point.value}`, hint: UNTIL };
  return { end: point.end, write: `timestamp ${since(point.value)}`, hint: SINCE };
}

/** A duration ago is exclusive by habit, a date belongs to what begins with it. */
const since = (value: string) => `${value.startsWith('"') ? ">=" : ">"} ${value}`;

const PREPOSITION = /(since|after|from|before|until|till|to)\s+/iy;
const BETWEEN = /between\s+/iy;
const AND = /\s+and\s+/iy;

/** A point in time as a query writes it: `1d`, `"2024-05-01"`; undefined is now. */
function pointAt(source: string, start: number): { end: number; value: string | undefined } | undefined {
  POINT.lastIndex = start;
  const [whole, day, now, unit, count, word, moment] = POINT.exec(source) ?? [];
  if (whole === undefined) return undefined;
  const end = start + whole.length;
  if (now !== undefined) return { end, value: undefined };
  if (day !== undefined) return { end, value: "1d" };
  if (moment !== undefined) {
    return parseMoment(moment) === undefined ? undefined : { end, value: `"${moment}"` };
  }
  const value = durationOf(unit !== undefined ? `1${unit}` : `${count}${word}`);
  return value === undefined ? undefined : { end, value };
}

const POINT =
  /(?:(yesterday|today)|(now)|(?:the\s+)?(?:last|past)\s+([a-z]+)|(\d+(?:\.\d+)?)\s*([a-z]+)(?:\s+ago)?|"?(\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:\d\d))?)"?)(?![\w.-])(?!\s*(?:[=<>~!:]|in\s*\(|contains\b))/iy;
const TIME_SPAN =
  /(?:(in the last|in the past|since|last|past|within|for the last)\s+(?:the\s+)?(?:last\s+)?(\d+(?:\.\d+)?)?\s*([a-z]+)(?:\s+ago)?|(\d+)\s*([a-z]+)\s+ago|earliest\s*=\s*"?-(\d+[a-z]+)(?:@\w+)?"?(?:\s+latest\s*=\s*"?now(?:\(\))?"?)?)(?![\w=])/iy;

/** `15min`, `2 hours`, `1d` with a unit of ours. */
function durationOf(text: string): string | undefined {
  const [, count, unit] = /^(\d+(?:\.\d+)?)([a-z]+)$/i.exec(text) ?? [];
  const match = UNITS.find(([, pattern]) => unit !== undefined && pattern.test(unit));
  if (match === undefined) return undefined;
  return match[0] === "w" ? `${Number(count) * 7}d` : `${count}${match[0]}`;
}

const UNITS: readonly (readonly [unit: string, pattern: RegExp])[] = [
  ["s", /^s(?:ecs?|econds?)?$/i],
  ["m", /^(?:m|mins?|minutes?)$/],
  ["h", /^h(?:rs?|ours?)?$/i],
  ["d", /^d(?:ays?)?$/i],
  ["w", /^w(?:eeks?)?$/i],
];

/** `LIMIT 10`, `head 20`, `order by timestamp desc`, `group by path`, `count by status` */
export function clause(place: TokenPlace): Slip | undefined {
  const { source, tokens, at } = place;
  const first = tokens[at]!;
  if (first.kind !== "word" || !beginsTerm(tokens, at)) return undefined;
  LIMIT.lastIndex = first.start;
  const limit = LIMIT.exec(source);
  if (limit !== null) {
    const what = "not a term: a query only selects";
    return phrase(place, first.start + limit[0].length, what, {
      write: "",
      hint: `write the option --limit ${limit[1]}`,
    });
  }
  ORDER.lastIndex = first.start;
  const order = ORDER.exec(source);
  SUMMARY.lastIndex = first.start;
  const summary = order === null ? SUMMARY.exec(source) : null;
  if (summary !== null && !isCompared(tokens, at) && !isCompared(tokens, at + 1)) {
    const hint = "leave it out: a query selects entries and computes nothing";
    return phrase(place, first.start + summary[0].length, "not a term: a query only selects", { hint });
  }
  if (order === null) return undefined;
  const hint = /^(?:order|sort)/i.test(order[0])
    ? "leave it out: entries come in the order of time"
    : "leave it out: a query selects entries and counts nothing, tool logs --count says how many";
  return phrase(place, first.start + order[0].length, "not a term: a query only selects", { write: "", hint });
}

const LIMIT = /(?:limit|head|tail|take|top|first|last)\s+(\d{1,9})(?![\w.:-])(?:\s+(?:entries|lines|rows|results))?/iy;
const SUMMARY =
  /(?:avg|average|sum|min|max|median|mean|distinct|unique|count|p\d\d)\s+(?:of\s+)?(?!(?:and|or|not|in|contains|exists)\b)[a-z][\w.@-]*(?!\s*[=<>~!(:])(?![\w.@-])/iy;
const ORDER =
  /(?:(?:order|sort|group|count|stats\s+count|count\(\))\s+by\s+[\w.@-]+(?:\s*,\s*[\w.@-]+)*(?:\s+(?:asc|desc))?)(?![\w.=(])/iy;

/** `path starts with "/a"`, `has user.email`, `is error`, `error without "health"` */
export function spokenOperator(place: TokenPlace): Slip | undefined {
  const { source, tokens, at } = place;
  const first = tokens[at]!;
  if (first.kind !== "word" || !beginsTerm(tokens, at) || isCompared(tokens, at)) return undefined;
  const word = plainWord(first.text);
  const next = tokens[at + 1];
  const edge = /^(start|end|begin)(?:s|ing|ning)?$/i.exec(next?.kind === "word" ? next.text : "")?.[1];
  if (isNameToken(first) && edge !== undefined && tokens[at + 2]?.text.toLowerCase() === "with") {
    const operand = operandAt(source, tokens, at + 3);
    if (operand === undefined) return undefined;
    const inner = operand.inner.replaceAll("*", "\\*");
    const write = `${first.text} = "${/^end/i.test(edge) ? `*${inner}` : `${inner}*`}"`;
    const end = Math.max(operand.end, tokens[at + 3]!.end);
    const text = source.slice(next!.start, tokens[at + 2]!.end);
    return {
      problem: problems.foreignOperator(
        { start: next!.start, end: tokens[at + 2]!.end },
        text,
        { start: first.start, end },
        write,
      ),
      length: 3 + operand.length,
    };
  }
  if (next === undefined || (next.kind !== "word" && next.kind !== "string") || isCompared(tokens, at + 1))
    return undefined;
  if (/^(?:without|exclude|excluding|except)$/.test(word)) {
    const write = next.kind === "string" || isNameToken(next) ? `not ${termOf(next)}` : undefined;
    return phrase(place, next.end, "not a term", { write });
  }
  if (word === "is" && levelOf(next.text) !== undefined)
    return phrase(place, next.end, "not a term", { write: next.text });
  if (/^(?:has|have)$/.test(word) && isNameToken(next))
    return phrase(place, next.end, "not a term", { write: `exists ${next.text}` });
  return undefined;
}

const termOf = (token: Token) =>
  token.kind === "string" || token.text.includes(".") || levelOf(token.text) !== undefined
    ? token.text
    : `"*${token.text}*"`;

/** `POST`, `GET /api`, `method = GET or POST`, `10.0.0.1`, `5xx`, `error 500`: values without their field. */
export function bareValue(place: TokenPlace): Slip | undefined {
  const { tokens, at } = place;
  const first = tokens[at]!;
  if (first.kind !== "word" || !beginsTerm(tokens, at) || isCompared(tokens, at) || isInList(tokens, at))
    return undefined;
  const next = tokens[at + 1];
  if (METHODS.has(first.text)) {
    const [or, value, operator, field] = [1, 2, 3, 4].map((steps) => tokens[at - steps]);
    if (
      or?.kind === "or" &&
      value?.kind === "word" &&
      operator?.text === "=" &&
      field !== undefined &&
      isNameToken(field)
    ) {
      const write = `${field.text} in (${value.text}, ${first.text})`;
      const span = { start: field.start, end: first.end };
      return {
        problem: problems.foreignTerm(first, first.text, "a value without its field", { write, term: span }),
        length: 1,
      };
    }
    const path = next?.kind === "word" && /^\/\S*$/.test(next.text) ? next : undefined;
    const write = `method = ${first.text}${path === undefined ? "" : ` and path = ${path.text}`}`;
    return phrase(place, (path ?? first).end, "a value without its field", { write });
  }
  const before = tokens[at - 1];
  const isAfterName = before?.kind === "word" && isNameToken(before) && !isWord(before.text);
  // A name before it is the field that was meant: status 500.
  if (isAfterName || before?.kind === "or") return undefined;
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(first.text))
    return phrase(place, first.end, VALUE, { write: `ip = ${first.text}` });
  const range = /^[1-5]xx$/i.test(first.text) ? digitPattern(first.text) : undefined;
  if (range !== undefined && range !== "any") {
    return phrase(place, first.end, VALUE, { write: `status >= ${range.from} and status < ${range.to}` });
  }
  if (before?.kind === "word" && levelOf(before.text) !== undefined && /^[1-5]\d\d$/.test(first.text)) {
    return phrase(place, first.end, VALUE, { write: `status = ${first.text}` });
  }
  return undefined;
}

const VALUE = "a value without its field";

/** `-f`, `--since 1h`: options of the command between the quotes of the query. */
export function option(place: TokenPlace): Slip | undefined {
  const { source, tokens, at } = place;
  const first = tokens[at]!;
  if (!beginsTerm(tokens, at)) return undefined;
  OPTION.lastIndex = first.start;
  const option = OPTION.exec(source)?.[0];
  if (option === undefined) return undefined;
  return phrase(place, first.start + option.length, "not a term", {
    write: "",
    hint: "an option of tool logs goes outside the query's quotes",
  });
}

const OPTION =
  /(?:(?:--(?:since|until|limit|file|service|project|format)|-[Sn](?= \d))(?:[= ]\S+)?|--(?:follow|live|expand|count)|-f|-e)(?!\S)/y;

/**
 * `user signed in`, `connection refused`: words of a message. A name alone may be a field, several side by side never are.
 */
export function prose(place: TokenPlace): Slip | undefined {
  const { source, tokens, at } = place;
  if (!beginsTerm(tokens, at) || !isProse(tokens[at]!)) return undefined;
  if (isNameBefore(tokens, at) || isInList(tokens, at)) return undefined;
  let last = at;
  let names = 0;
  for (let i = at; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (i > at && timeSpan({ source, tokens, at: i }) !== undefined) break;
    if (isProse(token) && !isCompared(tokens, i)) {
      names++;
      last = i;
    } else if (token.kind === "in" && names > 1 && (tokens[i + 1] === undefined || isProse(tokens[i + 1]!))) {
      // user signed in; with one name before it, a list was meant.
      last = i;
    } else if (isNot(token) && i > at && MODAL.test(tokens[i - 1]!.text)) {
      // could not connect
    } else break;
  }
  // Known fields side by side are fields.
  const areFields = tokens.slice(at, last + 1).every(({ text }) => KNOWN_FIELDS.some(({ name }) => name === text));
  if (names < 2 || areFields || tokens[last + 1]?.start === tokens[last]!.end) return undefined;
  const span = { start: tokens[at]!.start, end: tokens[last]!.end };
  const text = source.slice(span.start, span.end);
  if (/[\r\n"\\*]/.test(text)) return undefined;
  return { problem: problems.wordsAlone(span, text), length: last - at + 1 };
}

const MODAL = /^(?:can|could|did|do|does|is|are|was|were|has|have|had|should|will|would|must|may)$/i;
const isNot = (token: Token | undefined) => token?.kind === "not" && token.text.length > 1;
const isProse = (token: Token) =>
  token.kind === "word" && /^\p{L}[\p{L}\p{M}'-]+$/u.test(token.text) && !isWord(token.text);
const isWord = (text: string) =>
  levelOf(text) !== undefined || (STAGE_WORDS as readonly string[]).includes(text.toLowerCase());

const isNameBefore = (tokens: readonly Token[], at: number) => tokens[at - 1] !== undefined && isProse(tokens[at - 1]!);

/** Nobody writes a longer list by hand; bounds the time. */
const MAX_LIST_TOKENS = 200;

/** Whether a list is open before the token: `in (a b`. */
function isInList(tokens: readonly Token[], at: number): boolean {
  for (let i = at - 1; i >= Math.max(0, at - MAX_LIST_TOKENS); i--) {
    if (tokens[i]!.kind === "close") return false;
    if (tokens[i]!.kind === "open") return tokens[i - 1]?.kind === "in";
  }
  return false;
}

/** Whether an operator follows, so that the token is a field. */
function isCompared(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1];
  if (next === undefined) return false;
  if (next.kind === "in") return tokens[at + 2] !== undefined && !isProse(tokens[at + 2]!);
  if (next.kind === "not") return tokens[at + 2]?.kind === "in" && tokens[at + 3]?.kind === "open";
  return COMPARES.has(next.kind) || /^:/.test(next.text) || (next.kind === "word" && next.start === tokens[at]!.end);
}

const COMPARES: ReadonlySet<TokenKind> = new Set(["compare", "match", "contains"]);

interface Wording {
  /** Replaces the phrase; "" takes it out. Absent if nothing says the same. */
  readonly write?: string | undefined;
  /** Follows `write ...`, or is all there is to say. */
  readonly hint?: string;
}

/** A phrase from the token to `end`. */
function phrase(
  { source, tokens, at }: TokenPlace,
  end: number,
  what: string,
  { write: term, hint = "" }: Wording,
): Slip {
  const { start } = tokens[at]!;
  const text = source.slice(start, end);
  let length = 1;
  while (tokens[at + length] !== undefined && tokens[at + length]!.start < end) length++;
  const rest = source.slice(0, start).trim() !== "" || source.slice(end).trim() !== "";
  // not binds tighter than and.
  const write = tokens[at - 1]?.kind === "not" && term?.includes(" and ") ? `(${term})` : term;
  const advice = write ? `write ${write}${hint}` : hint || "write a term, such as status >= 500";
  // A query of nothing is another query, and so is one that an operator is left over in.
  const isJoined = [at - 1, at + length].some((at) => JOINS.has(tokens[at]?.kind as TokenKind));
  const fix = write === undefined || (write === "" && (!rest || isJoined)) ? undefined : write;
  return { problem: problems.foreignTerm({ start, end }, text, what, { write: fix, hint: advice }), length };
}

const JOINS: ReadonlySet<TokenKind> = new Set(["and", "or", "not"]);
