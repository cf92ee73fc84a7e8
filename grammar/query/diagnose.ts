import type { Problem, Span } from "../problem.ts";
import { NUMBER_UNITS } from "./literals.ts";
import * as problems from "./problems.ts";
import { type Token, type TokenKind, tokenize } from "./tokens.ts";

/**
 * What is wrong with a query that the grammar does not accept. `offset` lies in or before the token where the parser
 * could not go on. At least one problem.
 */
export function diagnose(source: string, offset: number): Problem[] {
  const tokens = tokenize(source);
  const anywhere = wrongAnywhere(source, tokens);
  if (anywhere.length > 0) return anywhere;

  const found = tokens.findIndex((token) => token.end > offset);
  const place = new Place(source, tokens, found < 0 ? tokens.length : found);
  return [glued(place) ?? operators(place) ?? byKind(place)];
}

/** What is wrong wherever it stands, all of it; up to a quote that is never closed, behind which nothing is certain. */
function wrongAnywhere(source: string, tokens: readonly Token[]): Problem[] {
  const found: Problem[] = [];
  for (const token of tokens) {
    if (token.kind === "unclosed-string") return [...found, problems.unclosedString(token, token.end < source.length)];
    if (token.kind === "unclosed-regex") return [...found, problems.unclosedRegex(token)];
    if (token.kind === "wrong-quotes") found.push(problems.wrongQuotes(token));
    if (token.kind === "wrong-blank") found.push(problems.wrongBlank(token));
  }
  return found;
}

/** The tokens around the failure. `next` is undefined at the end of the query. */
class Place {
  readonly source: string;
  readonly next: Token | undefined;
  readonly follow: Token | undefined;
  readonly prev: Token | undefined;
  /** The parentheses open before `next`, and whether the innermost holds a list. */
  readonly open: readonly Token[];
  readonly inList: boolean;
  readonly #tokens: readonly Token[];
  readonly #index: number;

  constructor(source: string, tokens: readonly Token[], index: number) {
    this.source = source;
    this.#tokens = tokens;
    this.#index = index;
    this.next = tokens[index];
    this.follow = tokens[index + 1];
    this.prev = tokens[index - 1];
    const open: number[] = [];
    for (let at = 0; at < index; at++) {
      if (tokens[at]!.kind === "open") open.push(at);
      else if (tokens[at]!.kind === "close") open.pop();
    }
    this.open = open.map((at) => tokens[at]!);
    this.inList = open.length > 0 && tokens[open.at(-1)! - 1]?.kind === "in";
  }

  /** The token `steps` before `next`. */
  before(steps: number): Token | undefined {
    return this.#tokens[this.#index - steps];
  }

  /** The field of the condition that ends with the operator before `next`, as the user wrote it. */
  field(operatorSteps = 1): string {
    let steps = operatorSteps + 1;
    if (this.before(steps)?.kind === "not") steps++;
    const token = this.before(steps);
    return token?.kind === "word" ? token.text : "status";
  }
}

/** Tokens that touch where a blank belongs: `error"x"`, `"a"b`. */
function glued({ prev, next, follow }: Place): Problem | undefined {
  for (const [first, second] of [
    [prev, next],
    [next, follow],
  ] as const) {
    if (first === undefined || second === undefined || first.end !== second.start) continue;
    const kinds = [first.kind, second.kind];
    if (kinds.includes("string") && kinds.every((kind) => kind === "string" || kind === "word")) {
      return problems.missingBlank(first.end, first, second);
    }
  }
  return undefined;
}

/** Operators of other languages, which the tokens have split: `=>`, `===`, `=~`, `status:500`, `a like "x"`. */
function operators(place: Place): Problem | undefined {
  const { source, prev, next } = place;
  // a =~ /x/ reads as a = "~" and fails behind it.
  const regex = prev?.text === "~" && place.before(2)?.kind === "compare" ? place.before(2) : undefined;
  if (regex !== undefined && regex.end === prev!.start) {
    return foreign(source, { start: regex.start, end: prev!.end });
  }
  if (next === undefined) return undefined;

  const touching = [prev, next].filter((token) => token !== undefined && SYMBOLIC.has(token.kind)) as Token[];
  if (next.kind !== "word" && touching.length === 2 && prev!.end === next.start) {
    let first = prev!;
    for (let steps = 2; place.before(steps)?.end === first.start && SYMBOLIC.has(place.before(steps)!.kind); steps++) {
      first = place.before(steps)!;
    }
    const run = { start: first.start, end: next.end };
    if (FOREIGN.has(source.slice(run.start, run.end))) return foreign(source, run, place.before(2)?.text);
  }
  if (next.kind === "other" && FOREIGN.has(next.text)) return foreign(source, next);

  const value = prev?.kind === "word" || prev?.kind === "string" || prev?.kind === "close";
  if (next.kind === "word" && value && next.text.startsWith(":")) {
    const glued = prev!.end === next.start || next.text.length > 1;
    const colon = { start: next.start, end: next.start + 1 };
    const operand = next.text.slice(1) || place.follow?.text || "...";
    return problems.unknownOperator(colon, ":", `write ${prev!.text} = ${operand}`, glued ? " = " : "=");
  }
  const operator = prev?.kind === "word" ? FOREIGN_WORDS.get(prev.text.toLowerCase()) : undefined;
  const field = place.before(2);
  if (operator !== undefined && field?.kind === "word" && VALUES.has(next.kind)) {
    const upper = place.follow?.kind === "and" ? place.before(-2)?.text : undefined;
    const write =
      operator === "between"
        ? `${field.text} >= ${next.text} and ${field.text} <= ${upper ?? "..."}`
        : `${field.text} ${operator} ${next.text}`;
    return problems.unknownOperator(prev!, prev!.text, `write ${write}`, operator === "between" ? undefined : operator);
  }
  return undefined;
}

function foreign(source: string, { start, end }: Span, field = "field"): Problem {
  const text = source.slice(start, end);
  const write = FOREIGN.get(text)!;
  if (text === "!~") return problems.unknownOperator({ start, end }, text, `write not ${field} ~ ...`);
  return problems.unknownOperator({ start, end }, text, `write ${write}`, write);
}

function byKind(place: Place): Problem {
  const { next } = place;
  if (next === undefined) return atEnd(place);
  switch (next.kind) {
    case "close":
      return atClose(place, next);
    case "comma":
      return atComma(place, next);
    case "and":
    case "or":
      return atChain(place, next);
    case "compare":
    case "match":
      return atOperator(place, next);
    case "in":
    case "contains":
    case "exists":
    case "not":
      return atKeyword(place, next);
    case "open":
      return atOpen(place, next);
    case "string":
    case "word":
      return atText(place, next);
    default:
      return atOther(place, next);
  }
}

/** What is unfinished before `next`, if anything is. */
function unfinished(place: Place): Problem | undefined {
  const { prev } = place;
  if (prev === undefined) return undefined;
  if (TAKES_VALUE.has(prev.kind)) return problems.missingValue(prev, place.field());
  if (TAKES_TERM.has(prev.kind)) return problems.missingOperand(prev, "behind");
  if (prev.kind === "exists") {
    const field = place.before(2);
    return problems.missingName(prev, undefined, field?.kind === "word" ? field.text : undefined);
  }
  return undefined;
}

function atEnd(place: Place): Problem {
  const { prev } = place;
  const pending = unfinished(place);
  if (pending !== undefined) return pending;
  const open = place.open.at(-1);
  if (open === undefined) return problems.unexpected(prev!);
  const complete = prev?.kind !== "open" && prev?.kind !== "comma";
  return problems.unclosedParen(open, complete ? place.source.trimEnd().length : undefined);
}

function atClose(place: Place, next: Token): Problem {
  const { prev, open } = place;
  if (open.length === 0) return unfinished(place) ?? problems.surplusParen(next);
  if (prev?.kind === "open") return problems.emptyParens({ start: prev.start, end: next.end });
  if (prev?.kind === "comma") return problems.missingListValue(next);
  return unfinished(place) ?? problems.unexpected(next);
}

function atComma(place: Place, next: Token): Problem {
  const { prev, follow, source } = place;
  if (place.inList) return problems.missingListValue(next);
  const pending = unfinished(place);
  if (pending !== undefined) return pending;
  const groups = prev && /^-?[0-9]{1,3}(,[0-9]{3})+(?![0-9])/.exec(source.slice(prev.start));
  if (prev !== undefined && groups && follow?.start === next.end) {
    const at = { start: prev.start, end: prev.start + groups[0].length };
    return problems.digitGroups(at, groups[0], groups[0].replaceAll(",", ""));
  }
  return problems.unexpectedComma(next);
}

function atChain(place: Place, next: Token): Problem {
  const { prev, follow } = place;
  if (prev !== undefined && TAKES_VALUE.has(prev.kind)) {
    // Nothing to combine with behind it: the word was meant as the value (state = OR).
    const combines = follow !== undefined && follow.kind !== "close";
    return combines || !isWord(next) ? problems.missingValue(prev, place.field()) : problems.reservedValue(next);
  }
  if (prev?.kind === "exists") return problems.missingName(prev, undefined);
  if (place.inList) return isWord(next) ? problems.reservedValue(next) : problems.unexpected(next);
  if (startsTerm(prev)) return problems.missingOperand(next, "before");
  return problems.unexpected(next);
}

function atOperator(place: Place, next: Token): Problem {
  const { prev } = place;
  if (prev?.kind === "not" && isWord(prev) && place.before(2)?.kind === "word") {
    return problems.misplacedNot({ start: prev.start, end: next.end }, place.before(2)!.text, next.text);
  }
  if (startsTerm(prev)) return problems.missingField(next);
  if (prev?.kind === "string" && !TAKES_VALUE.has(place.before(2)?.kind as TokenKind) && !place.inList) {
    return problems.fieldInQuotes(prev, next);
  }
  if (prev !== undefined && RESERVED.has(prev.kind) && isWord(prev)) return problems.reservedName(prev);
  if (prev !== undefined && TAKES_VALUE.has(prev.kind)) {
    return problems.unknownOperator(
      { start: prev.start, end: next.end },
      `${prev.text} ${next.text}`,
      "write one operator: = != > >= < <= or ~",
    );
  }
  const operator = place.before(2);
  if (prev !== undefined && operator !== undefined && TAKES_VALUE.has(operator.kind)) {
    return problems.secondOperator(next, prev.text);
  }
  return problems.unexpected(next);
}

function atKeyword(place: Place, next: Token): Problem {
  const { prev, follow } = place;
  const named = isWord(next);
  if (prev !== undefined && TAKES_VALUE.has(prev.kind)) {
    return named ? problems.reservedValue(next) : problems.missingValue(prev, place.field());
  }
  if (place.inList) return named ? problems.reservedValue(next) : problems.unexpected(next);
  if (prev?.kind === "exists") return problems.reservedName(next);
  if (prev?.kind === "not" && place.before(2)?.kind === "word" && next.kind === "contains") {
    return problems.misplacedNot({ start: prev.start, end: next.end }, place.before(2)!.text, next.text);
  }
  if (prev?.kind === "string" && (next.kind === "in" || next.kind === "contains")) {
    return problems.fieldInQuotes(prev, next);
  }
  const standsAlone = follow === undefined || ["compare", "match", "close", "and", "or"].includes(follow.kind);
  if (startsTerm(prev)) {
    if (next.kind === "exists" && follow === undefined) return problems.missingName(next, undefined);
    return named && standsAlone ? problems.reservedName(next) : problems.missingField(next);
  }
  return problems.unexpected(next);
}

function atOpen(place: Place, next: Token): Problem {
  const { prev } = place;
  if (prev?.kind === "exists") return problems.missingName(prev, next);
  if (prev?.kind === "match") return problems.missingRegex(next);
  if (prev?.kind === "compare" || prev?.kind === "contains") {
    return problems.listAfterOperator(next, prev.text, place.field());
  }
  return problems.unexpected(next);
}

function atText(place: Place, next: Token): Problem {
  const { prev, source } = place;
  if (prev?.kind === "in") return problems.missingList(next, place.field());
  if (!place.inList && RESERVED_FIRST.test(next.text)) return problems.reservedName(next);
  if (prev?.kind === "match") return problems.missingRegex(next);
  if (prev?.kind === "exists") return problems.missingName(prev, next);
  if (place.inList && prev !== undefined && (prev.kind === "word" || prev.kind === "string")) {
    if (NUMBER.test(prev.text) && Object.hasOwn(NUMBER_UNITS, next.text.toLowerCase())) {
      return problems.unitAfterBlank(next, prev, next.text.toLowerCase());
    }
    return problems.missingComma(next);
  }
  if (prev?.kind === "word" && prev.end === next.start) {
    // A name that goes on with characters that no name has: a..b, a.0, err*, a/b
    const at = { start: prev.start, end: next.end };
    const name = source.slice(at.start, at.end);
    if (/^\.[0-9]/.test(next.text)) return problems.badName(at, name, `write ${name.replace(/\.([0-9]+)/g, "[$1]")}`);
    if (next.text.startsWith(".")) {
      const tidy = name.replace(/\.{2,}/g, ".").replace(/\.$/, "");
      return problems.badName(at, name, `write ${tidy}; odd keys are written ${prev.text}["odd key"]`);
    }
    const pattern = name.includes("*") ? name : `*${name}*`;
    return problems.badName(at, name, `write "${pattern}" in double quotes to search the messages`);
  }
  const compared = prev?.kind === "word" && !TAKES_VALUE.has(place.before(2)?.kind as TokenKind);
  return problems.valueAlone(next, next.text, compared ? prev.text : undefined);
}

function atOther(place: Place, next: Token): Problem {
  const { prev, source } = place;
  if (next.text === "[") {
    if (prev?.kind === "in") return problems.missingList(next, place.field());
    const close = source.indexOf("]", next.start);
    if (prev?.kind === "word" && prev.end === next.start) {
      const at = { start: prev.start, end: close < 0 ? next.end : close + 1 };
      const hint = `write ${prev.text}[0] for an element, ${prev.text}["key"] for a key`;
      return problems.badName(at, source.slice(at.start, at.end), hint);
    }
  }
  if (next.kind !== "other") return problems.unexpected(next);
  return problems.unknownCharacter(next);
}

const startsTerm = (prev: Token | undefined) => prev === undefined || prev.kind === "open" || TAKES_TERM.has(prev.kind);

/** Written as a word: `and`, but not `&&`. */
const isWord = (token: Token) => /^\w/.test(token.text);

const TAKES_VALUE: ReadonlySet<TokenKind> = new Set(["compare", "match", "contains", "in"]);
const TAKES_TERM: ReadonlySet<TokenKind> = new Set(["and", "or", "not"]);
const RESERVED: ReadonlySet<TokenKind> = new Set(["and", "or", "not", "in", "contains", "exists"]);
const SYMBOLIC: ReadonlySet<TokenKind> = new Set(["compare", "match", "and", "or", "not", "other"]);
const VALUES: ReadonlySet<TokenKind> = new Set(["word", "string"]);

// Only a name that begins with a whole keyword can be one that the grammar refuses.
const RESERVED_FIRST = /^(?:and|or|not|in|contains|exists|AND|OR|NOT|IN|CONTAINS|EXISTS)[.[]/;
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)$/;

/** What people type who come from elsewhere, and the operator to write instead. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ["=>", ">="],
  ["=<", "<="],
  ["===", "="],
  ["!==", "!="],
  ["<>", "!="],
  ["=!", "!="],
  ["=~", "~"],
  ["~=", "~"],
  ["!~", "not"],
  ["&", "and"],
  ["|", "or"],
  [";", "and"],
]);

const FOREIGN_WORDS: ReadonlyMap<string, string> = new Map([
  ["eq", "="],
  ["equals", "="],
  ["is", "="],
  ["ne", "!="],
  ["gt", ">"],
  ["gte", ">="],
  ["ge", ">="],
  ["lt", "<"],
  ["lte", "<="],
  ["le", "<="],
  ["between", "between"],
]);
