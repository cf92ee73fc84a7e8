// { $.selector = value && ... }: conditions on the values of a JSON event.
import { COMPARISON, ordering, type PatternOperand, parseOperand } from "./operand.ts";
import { type Matcher, PatternReader, PatternSyntaxError } from "./reader.ts";
import { MAX_REGEXES } from "./regex.ts";

/** "You can use only one wildcard per property selector, and up to three wildcards in a filter pattern." */
const MAX_WILDCARDS = 3;

/** Alphanumeric texts, addresses and wildcards need no quotes; "@", "$", "\" and everything beyond ASCII do. */
const BARE = /[\w.*+-]+/y;

type Condition = (event: unknown) => boolean;

export function parseJsonPattern(pattern: string): Matcher {
  const reader = new PatternReader(pattern);
  const counts = { wildcards: 0, regexes: 0 };
  reader.expect(/\{\s*/y, "{");
  const condition = parseOr(reader, counts);
  if (reader.token(/\}/y) === undefined) throw reader.error("}");
  reader.end();
  if (counts.wildcards > MAX_WILDCARDS) throw new PatternSyntaxError("Invalid filter pattern: too many wildcards");
  if (counts.regexes > MAX_REGEXES)
    throw new PatternSyntaxError("Invalid filter pattern: too many regular expressions");
  return (message) => {
    const event = parseObject(message);
    return event !== undefined && condition(event);
  };
}

interface Counts {
  wildcards: number;
  regexes: number;
}

function parseOr(reader: PatternReader, counts: Counts): Condition {
  const parts = [parseAnd(reader, counts)];
  while (reader.token(/\|\|/y) !== undefined) parts.push(parseAnd(reader, counts));
  return (event) => parts.some((part) => part(event));
}

function parseAnd(reader: PatternReader, counts: Counts): Condition {
  const parts = [parsePrimary(reader, counts)];
  while (reader.token(/&&/y) !== undefined) parts.push(parsePrimary(reader, counts));
  return (event) => parts.every((part) => part(event));
}

function parsePrimary(reader: PatternReader, counts: Counts): Condition {
  if (reader.token(/\(/y) !== undefined) {
    const inner = parseOr(reader, counts);
    if (reader.token(/\)/y) === undefined) throw reader.error(")");
    return inner;
  }
  const path = parseSelector(reader);
  counts.wildcards += path.filter((step) => step === ANY).length;
  const select = (event: unknown) => path.reduce<unknown[]>(descend, [event]);
  if (reader.token(/NOT\s+EXISTS\b/y) !== undefined) {
    // An event that is an array has no properties to look for, as others observed.
    return (event) => !Array.isArray(event) && select(event).length === 0;
  }
  const constant = reader.token(/IS\s+(NULL|TRUE|FALSE)\b/y);
  if (constant !== undefined) {
    const expected = /NULL$/.test(constant) ? null : /TRUE$/.test(constant);
    return (event) => select(event).some((value) => isConstant(value, expected));
  }
  const operator = reader.token(COMPARISON);
  if (operator === undefined) throw reader.error("an operator");
  const operand = parseOperand(reader, BARE);
  if (operand.kind === "regex") counts.regexes += 1;
  const compare = comparison(operator, operand, reader);
  return (event) => select(event).some(compare);
}

/** An array that holds null is one, too. */
function isConstant(value: unknown, expected: null | boolean): boolean {
  return value === expected || (expected === null && Array.isArray(value) && value.includes(null));
}

/** Compares texts and numbers; for everything else neither = nor != holds. */
function comparison(operator: string, operand: PatternOperand, reader: PatternReader): (value: unknown) => boolean {
  const order = ordering(operator);
  if (order !== undefined) {
    if (operand.kind !== "number") throw reader.error(`a number before this, for ${operator}`);
    return (value) => typeof value === "number" && order(value, operand.value);
  }
  const isSame = (value: string | number) => {
    switch (operand.kind) {
      case "number":
        return typeof value === "number" ? value === operand.value : value === operand.text;
      case "text":
        // The page has 4* for numbers. Quoted texts are compared with numbers too, as others observed.
        return operand.matches(String(value));
      case "regex":
        return operand.regex.test(String(value));
    }
  };
  return (value) => (typeof value === "string" || typeof value === "number") && isSame(value) === (operator === "=");
}

const ANY = Symbol("any");
type Step = string | number | typeof ANY | { readonly index: number | typeof ANY };

/** $.name, $.name[0], $.name[*], $.*, $['any name']: one wildcard at most. */
function parseSelector(reader: PatternReader): (string | number | typeof ANY)[] {
  if (reader.token(/\$/y) === undefined) throw reader.error("a selector");
  const path: Step[] = [];
  for (;;) {
    const step = parseStep(reader);
    if (step === undefined) break;
    path.push(step);
  }
  const steps = path.map((step) => (typeof step === "object" ? step.index : step));
  if (steps.length === 0) throw reader.error("a property");
  if (steps.filter((step) => step === ANY).length > 1)
    throw new PatternSyntaxError("Invalid filter pattern: one wildcard per selector");
  return steps;
}

function parseStep(reader: PatternReader): Step | undefined {
  const name = reader.take(/\.(?:\*|[\w-]+)/y)?.slice(1);
  if (name !== undefined) return name === "*" ? ANY : name;
  const quoted = reader.take(/\.?\['[^']*'\]|\.?\["[^"]*"\]/y);
  if (quoted !== undefined) return quoted.replace(/^\.?\[./, "").slice(0, -2);
  const index = reader.take(/\[(?:\*|\d+)\]/y)?.slice(1, -1);
  if (index === undefined) return undefined;
  return index === "*" ? { index: ANY } : Number(index);
}

function descend(values: readonly unknown[], step: string | number | typeof ANY): unknown[] {
  return values.flatMap((value) => {
    if (typeof value !== "object" || value === null) return [];
    if (step === ANY) return Object.values(value);
    if (Array.isArray(value)) return typeof step === "number" && step < value.length ? [value[step]] : [];
    return typeof step === "string" && Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : [];
  });
}

function parseObject(message: string): object | undefined {
  try {
    const value = JSON.parse(message);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
