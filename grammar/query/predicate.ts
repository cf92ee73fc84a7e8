import type { Entry } from "../entry.ts";
import {
  type And,
  type Comparison,
  comparedType,
  type Expr,
  type Field,
  type Not,
  type Or,
  type Query,
  target,
  type Value,
} from "./ast.ts";
import { LEVEL_SPELLINGS, LEVELS, levelOf, lower, severity } from "./levels.ts";
import { isTimeUnit } from "./literals.ts";
import { compileRegex } from "./regex.ts";
import { readTime } from "./timestamp.ts";

export interface PredicateOptions {
  /** The clock that `timestamp > 1h` counts back from, in milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * The query as a function of an entry. Patterns and expressions are compiled here, once. Entries are data: only own
 * properties are looked up, and no entry makes the function throw or take more than linear time.
 */
export function compilePredicate(query: Query, options: PredicateOptions): (entry: Entry) => boolean {
  return compileOver(query, options, ({ field, passes }) => {
    const read = reader(field);
    return (entry: Entry) => passes(read(entry));
  });
}

/** A condition of one field. */
export interface FieldCondition {
  readonly expr: Exclude<Expr, Or | And | Not>;
  /** The field that it is of, also if the condition does not name it (`error`, `production`, `"a message"`). */
  readonly field: Field;
  /** Whether the field's value passes; undefined if it is missing. */
  readonly passes: Test;
}

/**
 * The query as a function of whatever has the values of its fields. `test` makes the function of each condition; it is
 * called for all of them, in the order of the text.
 */
export function compileOver<One>(
  query: Query,
  options: PredicateOptions,
  test: (condition: FieldCondition) => (one: One) => boolean,
): (one: One) => boolean {
  const { expr } = query;
  if (expr === undefined) return () => true;
  return compile(expr, (one) => test({ expr: one, field: fieldOf(one), passes: testOf(one, options) }));
}

function compile<One>(
  expr: Expr,
  test: (expr: FieldCondition["expr"]) => (one: One) => boolean,
): (one: One) => boolean {
  switch (expr.kind) {
    case "or": {
      const terms = expr.terms.map((term) => compile(term, test));
      return (one) => terms.some((term) => term(one));
    }
    case "and": {
      const terms = expr.terms.map((term) => compile(term, test));
      return (one) => terms.every((term) => term(one));
    }
    case "not": {
      const term = compile(expr.term, test);
      return (one) => !term(one);
    }
    default:
      return test(expr);
  }
}

type Test = (value: unknown) => boolean;

function fieldOf(expr: FieldCondition["expr"]): Field {
  switch (expr.kind) {
    case "level":
    case "stage":
    case "message": {
      const { span } = expr;
      return { path: [{ kind: "key", key: expr.kind, span }], span };
    }
    default:
      return expr.field;
  }
}

/** Tests the value of a field; undefined if it is missing. */
function testOf(expr: FieldCondition["expr"], options: PredicateOptions): Test {
  switch (expr.kind) {
    case "comparison":
      return any(comparison(expr, options));
    case "in": {
      const tests = expr.values.map((value) => equals(expr.field, value));
      return any((value) => tests.some((test) => test(value)));
    }
    case "contains": {
      const holds = (part: string) => (text: string) => text.includes(part);
      const part = expr.text.chunks.join("*");
      return any(onText(expr.field, holds(part), () => holds(lower(part))));
    }
    case "match": {
      const regex = compileRegex(expr.regex.source, expr.regex.flags.includes("i"));
      // parseQuery has refused an expression that does not compile.
      if (!regex.ok)
        throw new Error(`unchecked regular expression /${expr.regex.source}/: ${regex.problems[0].message}`);
      const inLower = () => {
        const inAnyCase = compileRegex(expr.regex.source, true);
        // In any case an expression may be larger than what compiles.
        return inAnyCase.ok ? inAnyCase.value : regex.value;
      };
      return any(onText(expr.field, regex.value, inLower));
    }
    case "exists":
      return (value) => value !== undefined;
    case "truthy":
      return (value) => value !== undefined && value !== false && value !== null && value !== 0 && value !== "";
    case "level": {
      const level = levelOf(expr.word);
      return (value) => typeof value === "string" && levelOf(value) === level;
    }
    case "stage": {
      const stage = expr.word.toLowerCase();
      return any((value) => value === stage);
    }
    case "message": {
      const matches = wildcards(expr.text.chunks);
      return (value) => typeof value === "string" && matches(value);
    }
  }
}

/** A test of one value that is present and no array. */
type ElementTest = Test;

function comparison({ field, op, value }: Comparison, { nowMs }: PredicateOptions): ElementTest {
  if (op === "=") return equals(field, value);
  if (op === "!=") {
    const same = equals(field, value);
    return (actual) => !same(actual);
  }
  const type = comparedType(field);
  const rankOf = type === "level" ? levelRank : type === "time" ? timestampRank : numberRank;
  const bound =
    type === "time" ? timeBound(value, nowMs) : rankOf(value.kind === "number" ? value.value : plain(value));
  // parseQuery has refused everything that has no rank.
  if (bound === undefined) throw new Error(`unchecked ordering of a ${type === "other" ? "number" : type}`);
  // A comparison with undefined is false, as it shall be for whatever has no rank.
  switch (op) {
    case "<":
      return (actual) => rankOf(actual)! < bound;
    case "<=":
      return (actual) => rankOf(actual)! <= bound;
    case ">":
      return (actual) => rankOf(actual)! > bound;
    case ">=":
      return (actual) => rankOf(actual)! >= bound;
  }
}

const numberRank = (value: unknown) => (typeof value === "number" ? value : undefined);

function levelRank(value: unknown): number | undefined {
  const level = typeof value === "string" ? levelOf(value) : undefined;
  return level === undefined ? undefined : severity(level);
}

const timestampRank = (value: unknown) => (typeof value === "string" ? readTime(value) : undefined);

function timeBound(value: Value, nowMs: number): number | undefined {
  if (value.kind === "number")
    return value.unit !== undefined && isTimeUnit(value.unit) ? nowMs - value.value : undefined;
  return timestampRank(plain(value));
}

const plain = (value: Value) =>
  (value.kind === "string" || value.kind === "word") && value.chunks.length === 1 ? value.chunks[0] : undefined;

function equals(field: Field, value: Value): ElementTest {
  switch (value.kind) {
    case "string":
    case "word":
      return onText(field, wildcards(value.chunks), () => wildcards(value.chunks.map(lower)));
    case "number": {
      const { value: number, text, unit } = value;
      // Without a unit the digits may also be a text: version = 5 finds "5".
      return unit === undefined ? (actual) => actual === number || actual === text : (actual) => actual === number;
    }
    case "boolean":
      return (actual) => actual === value.value;
    case "null":
      return (actual) => actual === null;
  }
}

type TextTest = (text: string) => boolean;

/**
 * A test of strings only. If one spelling of a level passes in some case, all of them pass in every case; `inLower` makes
 * the test that ignores case, for texts in lower case. A text that is not a level keeps its case.
 */
function onText(field: Field, test: TextTest, inLower: () => TextTest): ElementTest {
  if (comparedType(field) === "level") {
    const passes = inLower();
    const passing = new Set(LEVELS.filter((level) => LEVEL_SPELLINGS[level].some(passes)));
    return (value) => {
      if (typeof value !== "string") return false;
      const level = levelOf(value);
      return level === undefined ? test(value) : passing.has(level);
    };
  }
  return (value) => typeof value === "string" && test(value);
}

/**
 * Matches literal chunks with anything between them. Each chunk is searched once, after the one before: taking the
 * leftmost place never loses a match, so nothing is ever tried twice.
 */
function wildcards(chunks: readonly string[]): (text: string) => boolean {
  const first = chunks[0] ?? "";
  if (chunks.length === 1) return (text) => text === first;
  const last = chunks.at(-1)!;
  const middle = chunks.slice(1, -1).filter((chunk) => chunk !== "");
  const shortest = chunks.reduce((length, chunk) => length + chunk.length, 0);
  return (text) => {
    if (text.length < shortest || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const chunk of middle) {
      const index = text.indexOf(chunk, at);
      if (index < 0) return false;
      at = index + chunk.length;
    }
    return at <= text.length - last.length;
  };
}

const any =
  (test: ElementTest): Test =>
  (value) =>
    anyElement(value, test);

/** Whether the value, or any element of an array, passes. Missing (undefined) never does. */
function anyElement(value: unknown, test: ElementTest): boolean {
  if (!Array.isArray(value)) return value !== undefined && test(value);
  // Arrays in arrays are searched too, without recursion: an entry may nest them to any depth.
  const arrays: unknown[][] = [value];
  for (let array = arrays.pop(); array !== undefined; array = arrays.pop()) {
    for (const element of array) {
      if (Array.isArray(element)) arrays.push(element);
      else if (element !== undefined && test(element)) return true;
    }
  }
  return false;
}

/** Reads the value that a field addresses; undefined if it is missing. */
export function reader(field: Field): (entry: Entry) => unknown {
  const place = target(field);
  if (place.at === "fields") return propertyReader(place.path);
  const { name } = place;
  if (name !== "id") return (entry) => entry[name];
  // Requests carry the id among their fields; the log service gives entries one of their own.
  const inFields = propertyReader(["id"]);
  return (entry) => entry.id ?? inFields(entry);
}

function propertyReader(path: readonly (string | number)[]): (entry: Entry) => unknown {
  return (entry) => {
    let value: unknown = entry.fields;
    for (const key of path) {
      if (typeof value !== "object" || value === null) return undefined;
      // A key never reads an array (whose length is an own property), an index never an object.
      if (Array.isArray(value) !== (typeof key === "number")) return undefined;
      if (!Object.hasOwn(value, key)) return undefined;
      value = (value as Record<string | number, unknown>)[key];
    }
    return value;
  };
}
