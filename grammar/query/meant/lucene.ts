import { digitPattern } from "../digit-patterns.ts";
import {
  beginsTerm,
  isMessageWord,
  NAME,
  operandAt,
  REGEX,
  type Slip,
  type TokenPlace,
  tokensUpTo,
  VALUES,
} from "../place.ts";
import * as problems from "../problems.ts";
import type { Token, TokenKind } from "../tokens.ts";

/** Lucene's terms: `status:500`, `status:[400 TO 499]`, `status:>=500`, `-method:GET`, `_exists_:user`, `+error` */
export function luceneTerm({ source, tokens, at }: TokenPlace): Slip | undefined {
  const first = tokens[at]!;
  const colon = tokens[at + 1];
  if (first.kind === "string" && colon?.start === first.end && colon.text.startsWith(":") && beginsTerm(tokens, at)) {
    // "status": 500
    const value = colon.text.length > 1 ? colon : tokens[at + 2];
    const text = colon.text.length > 1 ? colon.text.slice(1) : value?.text;
    const key = first.text.slice(1, -1);
    if (value === undefined || text === undefined || !VALUES.has(value.kind) || !NAME.test(key)) return undefined;
    const span = { start: first.start, end: value.end };
    const what = "a pair of JSON";
    const problem = problems.foreignTerm(span, source.slice(span.start, span.end), what, { write: `${key} = ${text}` });
    return { problem, length: value === colon ? 2 : 3 };
  }
  // A comma here is none of a list, in which a colon belongs to the value.
  if (first.kind !== "word" || !(beginsTerm(tokens, at) || tokens[at - 1]?.kind === "comma")) return undefined;
  const signed = SIGNED.exec(first.text);
  const sign = signed?.[1] ?? "";
  if (sign !== "" && !signed![2]!.startsWith(":")) {
    // -debug, -"text"; a number has no letter after its sign
    const text = first.text.slice(1);
    const quoted = text === "" && tokens[at + 1]?.start === first.end ? tokens[at + 1] : undefined;
    if (quoted?.kind !== "string" && !(NAME.test(text) && tokens[at + 1]?.start !== first.end)) {
      return luceneColon(source, tokens, at, sign);
    }
    const next = quoted ?? first;
    // There a word is looked for in the text; here it would be the name of a field.
    const word = quoted?.text ?? (isMessageWord(text) ? `message contains "${text}"` : text);
    const before = tokens[at - 1];
    const and = word !== text && quoted === undefined && before !== undefined && ENDS_TERM.has(before.kind);
    const write = `${and ? "and " : ""}${sign === "-" ? "not " : ""}${word}`;
    const span = { start: first.start, end: next.end };
    const hint = and && at === 1 ? `write ${before.text} ${write}` : undefined;
    return {
      problem: problems.foreignTerm(span, source.slice(span.start, span.end), SIGNS[sign]!, { write, hint }),
      length: quoted === undefined ? 1 : 2,
    };
  }
  return luceneColon(source, tokens, at, sign);
}

const ENDS_TERM: ReadonlySet<TokenKind> = new Set(["word", "string", "close", "regex"]);

const SIGNED = /^([-+])([^0-9.].*|)$/s;
const SIGNS: Readonly<Record<string, string>> = { "-": "Lucene's way to exclude", "+": "Lucene's way to require" };

function luceneColon(source: string, tokens: readonly Token[], at: number, sign: string): Slip | undefined {
  const first = tokens[at]!;
  // The colon begins the next token after a name; a word that begins with a sign contains it.
  const inside = sign === "" ? -1 : first.text.indexOf(":");
  const next = inside > 0 ? undefined : tokens[at + 1];
  if (inside < 0 && !(next?.kind === "word" && next.text.startsWith(":"))) return undefined;
  const name = inside > 0 ? first.text.slice(1, inside) : first.text.slice(sign.length);
  if (!NAME.test(name)) return undefined;
  // Datadog's attributes and Elastic's own fields begin with @; Logstash's version is a field of that name.
  const key = /^@(?!version$|metadata\b)./.test(name) ? name.slice(1) : name;
  const colon = inside > 0 ? first.start + inside : next!.start;
  let last = at + (inside > 0 ? 0 : 1);
  const glued = source.slice(colon + 1, tokens[last]!.end);

  const term = (write: string, what: string, end: number): Slip => {
    const span = { start: first.start, end };
    const text = sign === "-" ? (/ (?:and|or) /.test(write) ? `not (${write})` : `not ${write}`) : write;
    const length = tokensUpTo(tokens, at, end);
    return { problem: problems.foreignTerm(span, source.slice(span.start, end), what, { write: text }), length };
  };
  LUCENE_RANGE.lastIndex = colon + 1;
  const range = LUCENE_RANGE.exec(source);
  if (range !== null) {
    const [text, open, from, to, close] = range as unknown as [string, string, string, string, string];
    const span = key === "timestamp" ? relativeRange(from, to) : undefined;
    if (span !== undefined) return term(span, "Lucene's way to write a range", colon + 1 + text.length);
    const low = from === "*" ? [] : [`${key} ${open === "[" ? ">=" : ">"} ${from}`];
    const high = to === "*" ? [] : [`${key} ${close === "]" ? "<=" : "<"} ${to}`];
    const write = [...low, ...high].join(" and ") || `exists ${key}`;
    return term(write, "Lucene's way to write a range", colon + 1 + text.length);
  }
  const excluded = tokens[last + 1];
  if (glued === "" && excluded?.text === "!" && excluded.start === tokens[last]!.end) {
    // user:!bob
    const operand = operandAt(source, tokens, last + 2);
    if (operand === undefined || operand.regex) return undefined;
    return term(`not ${key} = ${operand.text}`, "no way to exclude a value", operand.end);
  }
  LUCENE_GROUP.lastIndex = colon + 1;
  const group = LUCENE_GROUP.exec(source);
  if (group !== null) {
    const values = group[1]!.trim().split(/\s+or\s+|\s+/i);
    return term(`${key} in (${values.join(", ")})`, "Lucene's way to write a list", colon + 1 + group[0].length);
  }
  REGEX.lastIndex = colon + 1;
  const regex = REGEX.exec(source)?.[0];
  if (regex !== undefined) return term(`${key} ~ ${regex}`, "Lucene's way to write ~", colon + 1 + regex.length);

  let value = glued;
  const after = tokens[last + 1];
  if (glued === "" && after?.kind === "compare") {
    // status:>=500
    const operator = after.text === "==" ? "=" : after.text;
    const operand = tokens[last + 2];
    if (operand === undefined || !VALUES.has(operand.kind)) return undefined;
    return term(`${key} ${operator} ${operand.text}`, "Lucene's way to compare", operand.end);
  }
  if (glued === "" && after !== undefined && VALUES.has(after.kind)) {
    last++;
    value = after.text;
  }
  if (value === "") return undefined;
  if (key === "_exists_") return term(`exists ${value}`, "Lucene's way to write exists", tokens[last]!.end);
  if (key === "_missing_") return term(`not exists ${value}`, "Lucene's way to write not exists", tokens[last]!.end);
  if (value === "*") return term(`exists ${key}`, "Lucene's way to write exists", tokens[last]!.end);
  const isWild = value.includes("*") || value.startsWith("/");
  if (key === "message" && !isWild) {
    // A word of the text there, the whole text here.
    const inner = operandAt(source, tokens, last)?.inner ?? value;
    const text = inner.startsWith(":") ? inner.slice(1) : inner;
    return term(`message contains "${text}"`, "Lucene's way to search a text", tokens[last]!.end);
  }
  const hundreds = /status/i.test(key) ? digitPattern(value) : undefined;
  if (hundreds !== undefined && hundreds !== "any" && hundreds.to > hundreds.from + 1) {
    return term(
      `${key} >= ${hundreds.from} and ${key} < ${hundreds.to}`,
      "Lucene's way to write a range",
      tokens[last]!.end,
    );
  }
  const wrong = tokens[last]!.kind === "wrong-quotes" ? operandAt(source, tokens, last)?.text : undefined;
  if (sign !== "" || wrong !== undefined || key !== name) {
    return term(`${key} = ${wrong ?? value}`, "Lucene's way to compare", tokens[last]!.end);
  }
  // status:500, with the colon alone to blame
  const blank = colon === first.end || glued !== "" ? " = " : "=";
  const spaced = source[colon + 1] === " " ? blank.trimEnd() : blank;
  return {
    problem: problems.unknownOperator({ start: colon, end: colon + 1 }, ":", `write ${key} = ${value}`, spaced),
    length: last - at + 1,
  };
}

/** `now-1h TO now`, as durations ago. */
function relativeRange(from: string, to: string): string | undefined {
  const ago = (bound: string) => /^now-(\d+[smhd])(?:\/\w)?$/.exec(bound)?.[1];
  const [first, last] = [ago(from), ago(to)];
  if ((first === undefined && from !== "*") || (last === undefined && !/^(?:now|\*)$/.test(to))) return undefined;
  const terms = [
    ...(first === undefined ? [] : [`timestamp >= ${first}`]),
    ...(last === undefined ? [] : [`timestamp <= ${last}`]),
  ];
  return terms.length === 0 ? undefined : terms.join(" and ");
}

const LUCENE_RANGE = /[ \t]*([[{])[ \t]*([^\s\]}]{1,100})[ \t]+TO[ \t]+([^\s\]}]{1,100})[ \t]*([\]}])/y;
const LUCENE_GROUP =
  /[ \t]*\([ \t]*((?!AND\b|NOT\b)[\p{L}\p{M}0-9_./*@%+-]+(?:[ \t]+(?!AND\b|NOT\b)[\p{L}\p{M}0-9_./*@%+-]+){0,50})[ \t]*\)/uy;
