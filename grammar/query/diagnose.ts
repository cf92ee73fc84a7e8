import type { Problem, Span } from "../problem.ts";
import { levelOf } from "./levels.ts";
import { NUMBER_UNITS } from "./literals.ts";
import * as problems from "./problems.ts";
import type { Token, TokenKind } from "./tokens.ts";

/**
 * Returns the problem at the place where the parser failed. `offset` is in or before the token that it could not read.
 * Slips that are wrong in any position (slips.ts) have been fixed already.
 */
export function diagnose(source: string, tokens: readonly Token[], offset: number): Problem {
  const place = new Place(source, tokens, tokenAt(tokens, offset));
  return glued(place) ?? byKind(place);
}

function tokenAt(tokens: readonly Token[], offset: number): number {
  const index = tokens.findIndex((token) => token.end > offset);
  return index < 0 ? tokens.length : index;
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

/** The problem of an unfinished term before `next`, if there is one. */
function unfinished(place: Place): Problem | undefined {
  const { prev } = place;
  if (prev === undefined) return undefined;
  if (TAKES_VALUE.has(prev.kind)) return problems.missingValue(prev, place.field());
  if (TAKES_TERM.has(prev.kind)) return problems.missingOperand(prev, "after", removable(place, prev, "after"));
  if (prev.kind === "exists") {
    const field = place.before(2);
    // status exists; in "exists a exists" the name is taken.
    const isFree = field?.kind === "word" && place.before(3)?.kind !== "exists";
    return problems.missingName(prev, undefined, isFree ? field : undefined);
  }
  return undefined;
}

/** The operator with the blanks on its empty side, where no other meaning is possible. */
function removable(place: Place, operator: Token, side: "before" | "after"): Span | undefined {
  const { source } = place;
  const [before, after] = side === "before" ? [place.prev, place.follow] : [place.before(2), place.next];
  // A lone operator is not a query at all, and of two different ones either may be meant.
  if (operator.kind === "not" || (before === undefined && after === undefined)) return undefined;
  if (before !== undefined && TAKES_TERM.has(before.kind) && before.kind !== operator.kind) return undefined;
  let { start, end } = operator;
  if (side === "before") while (/[ \t]/.test(source[end] ?? "")) end++;
  else while (/[ \t]/.test(source[start - 1] ?? "")) start--;
  return { start, end };
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
  if (prev?.kind === "comma") return problems.missingListValue(next, prev);
  return unfinished(place) ?? problems.unexpected(next);
}

function atComma(place: Place, next: Token): Problem {
  const { prev, follow, source } = place;
  if (place.inList) return problems.missingListValue(next, next);
  const pending = unfinished(place);
  if (pending !== undefined) return pending;
  const groups = prev && /^-?[0-9]{1,3}(,[0-9]{3})+(?![0-9])/.exec(source.slice(prev.start));
  if (prev !== undefined && groups && follow?.start === next.end) {
    const at = { start: prev.start, end: prev.start + groups[0].length };
    return problems.digitGroups(at, groups[0], groups[0].replaceAll(",", ""));
  }
  return problems.unexpectedComma(next, commaFix(place, next));
}

/** `status = 500, 404` is a list, `status = 500, method = GET` two terms; of `a, b` neither is certain. */
function commaFix(place: Place, comma: Token): { at: Span; text: string } | undefined {
  const { prev, follow } = place;
  if (prev === undefined || follow === undefined) return undefined;
  const after = place.before(-2);
  if (follow.kind === "word" && after !== undefined && TAKES_VALUE.has(after.kind)) {
    return { at: { start: comma.start, end: comma.end }, text: follow.start === comma.end ? " and " : " and" };
  }
  const [operator, field] = [place.before(2), place.before(3)];
  if (operator?.kind !== "compare" || !/^==?$/.test(operator.text) || field?.kind !== "word") return undefined;
  const values = [prev.text];
  let steps = 0;
  while (place.before(steps)?.kind === "comma" && VALUES.has(place.before(steps - 1)?.kind as TokenKind)) {
    values.push(place.before(steps - 1)!.text);
    steps -= 2;
  }
  const next = place.before(steps);
  const numbers = values.every((value) => NUMBER.test(value));
  if (!numbers && field.text !== "level" && values.slice(1).some((value) => levelOf(value) !== undefined))
    return undefined;
  if (values.length < 2 || (next !== undefined && TAKES_VALUE.has(next.kind))) return undefined;
  const end = place.before(steps + 1)!.end;
  return { at: { start: field.start, end }, text: `${field.text} in (${values.join(", ")})` };
}

function atChain(place: Place, next: Token): Problem {
  const { prev, follow } = place;
  if (prev !== undefined && TAKES_VALUE.has(prev.kind)) {
    // Nothing to combine with after it: the word was meant as the value (state = OR).
    const combines = follow !== undefined && follow.kind !== "close";
    return combines || !isWord(next) ? problems.missingValue(prev, place.field()) : problems.reservedValue(next);
  }
  if (prev?.kind === "exists") return problems.missingName(prev, undefined);
  if (place.inList) return isWord(next) ? problems.reservedValue(next) : problems.unexpected(next);
  if (startsTerm(prev)) return problems.missingOperand(next, "before", removable(place, next, "before"));
  return problems.unexpected(next);
}

function atOperator(place: Place, next: Token): Problem {
  const { prev } = place;
  if (prev?.kind === "not" && isWord(prev) && place.before(2)?.kind === "word") {
    return problems.misplacedNot({ start: prev.start, end: next.end }, place.before(2)!, prev, next.text);
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
      prev.text === next.text ? prev.text : undefined,
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
  if (prev?.kind === "exists") return named ? problems.reservedName(next) : problems.missingName(prev, next);
  if (prev?.kind === "not" && place.before(2)?.kind === "word" && next.kind === "contains") {
    return problems.misplacedNot({ start: prev.start, end: next.end }, place.before(2)!, prev, next.text);
  }
  if (prev?.kind === "string" && (next.kind === "in" || next.kind === "contains")) {
    return problems.fieldInQuotes(prev, next);
  }
  const standsAlone = follow === undefined || ["compare", "match", "close", "and", "or"].includes(follow.kind);
  if (startsTerm(prev)) {
    if (next.kind === "exists" && follow === undefined) return problems.missingName(next, undefined);
    return named && standsAlone ? problems.reservedName(next) : problems.missingField(next, follow);
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
    return problems.missingComma(next, prev.end);
  }
  if (prev?.kind === "word" && prev.end === next.start) {
    // A name, followed at once by characters that no name has: a..b, a.0, err*, a/b
    const at = { start: prev.start, end: next.end };
    const name = source.slice(at.start, at.end);
    if (/^\.[0-9]/.test(next.text)) {
      const write = name.replace(/\.([0-9]+)/g, "[$1]");
      return problems.badName(at, name, `write ${write}`, /[.*/]$|\][^.[]/.test(write) ? undefined : write);
    }
    if (next.text.startsWith(".")) {
      const tidy = name.replace(/\.{2,}/g, ".").replace(/\.$/, "");
      return problems.badName(at, name, `write ${tidy}; odd keys are written ${prev.text}["odd key"]`, tidy);
    }
    const pattern = name.includes("*") ? name : `*${name}*`;
    const hint = `write "${pattern}" in double quotes to search the messages`;
    const compared = TAKES_VALUE.has(place.follow?.kind as TokenKind);
    return problems.badName(at, name, hint, compared ? undefined : `"${pattern}"`);
  }
  const compared = prev?.kind === "word" && !TAKES_VALUE.has(place.before(2)?.kind as TokenKind);
  return problems.valueAlone(next, next.text, compared ? prev : undefined, alternatives(place, next));
}

/** `status = 500 or 404`, which was meant as a list. */
function alternatives(place: Place, next: Token): { at: Span; text: string } | undefined {
  const [or, value, operator, field] = [1, 2, 3, 4].map((steps) => place.before(steps));
  if (or?.kind !== "or" || operator?.kind !== "compare" || !/^==?$/.test(operator.text)) return undefined;
  if (!VALUES.has(value?.kind as TokenKind) || field?.kind !== "word") return undefined;
  const values = [value!.text, next.text];
  let steps = 0;
  while (place.before(steps - 1)?.kind === "or" && NUMBER.test(place.before(steps - 2)?.text ?? "")) {
    steps -= 2;
    values.push(place.before(steps)!.text);
  }
  const end = place.before(steps)!.end;
  return { at: { start: field.start, end }, text: `${field.text} in (${values.join(", ")})` };
}

function atOther(place: Place, next: Token): Problem {
  const { prev, source } = place;
  if (next.text === "[") {
    if (prev?.kind === "in") return problems.missingList(next, place.field());
    const close = source.indexOf("]", next.start);
    if (prev?.kind === "word" && prev.end === next.start) {
      const at = { start: prev.start, end: close < 0 ? next.end : close + 1 };
      const hint = `write ${prev.text}[0] for an element, ${prev.text}["key"] for a key`;
      const name = source.slice(at.start, at.end);
      if (close < 0 && place.follow?.kind === "string") {
        const write = `${prev.text}[${place.follow.text}]`;
        return problems.badName(
          { start: prev.start, end: place.follow.end },
          source.slice(prev.start, place.follow.end),
          `write ${write}`,
          write,
        );
      }
      const key = /\[([\p{L}_][\p{L}0-9_-]*)\]$/u.exec(name)?.[1];
      return problems.badName(at, name, hint, key === undefined ? undefined : `${prev.text}["${key}"]`);
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
const VALUES: ReadonlySet<TokenKind> = new Set(["word", "string"]);

// Only a name that begins with a whole keyword can be one that the grammar refuses.
const RESERVED_FIRST = /^(?:and|or|not|in|contains|exists|AND|OR|NOT|IN|CONTAINS|EXISTS)[.[]/;
const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)$/;
