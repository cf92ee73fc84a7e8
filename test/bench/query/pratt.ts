// A rival for the bench: the query language by a hand-written Pratt parser that gives the same trees. It answers
// undefined for what it does not accept; nothing but the bench and its test uses it.
import type { Expr, Field, Segment, StringValue, Value, WordValue } from "../../../grammar/query/index.ts";
import { decodeString, readNumber } from "../../../grammar/query/literals.ts";

export function parseByHand(source: string): { expr: Expr | undefined } | undefined {
  const parser = new Pratt(source);
  try {
    if (parser.peek() === END) return { expr: undefined };
    const expr = parser.expression(0);
    return parser.peek() === END ? { expr } : undefined;
  } catch (error) {
    if (error === REFUSED) return undefined;
    throw error;
  }
}

const REFUSED = new Error("refused");
const END = -1;

// How tightly the two chains bind.
const OR = 1;
const AND = 2;

const LEVELS = new Set(
  ["debug", "verbose", "trace", "info", "notice", "warning", "warn", "error", "err", "critical", "crit"]
    .concat(["alert", "emergency", "emerg", "fatal"])
    .flatMap((word) => [word, word.toUpperCase()]),
);
const STAGES = new Set(["production", "staging", "development"].flatMap((word) => [word, word.toUpperCase()]));
const RESERVED = new Set(
  ["and", "or", "not", "in", "contains", "exists"].flatMap((word) => [word, word.toUpperCase()]),
);

const NAME_START = 1;
const NAME_REST = 2;
const WORD = 4;
const CLASS = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code);
  if (/[A-Za-z_@$]/.test(char)) CLASS[code]! |= NAME_START | NAME_REST;
  if (/[0-9-]/.test(char)) CLASS[code]! |= NAME_REST;
  if (/[A-Za-z0-9_\-./:@+%~*]/.test(char)) CLASS[code]! |= WORD;
}
const BEYOND_START = /^\p{L}$/u;
const BEYOND_REST = /^[\p{L}\p{M}]$/u;

class Pratt {
  readonly #source: string;
  #pos = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** The next character's code after blanks, or END. */
  peek(): number {
    const source = this.#source;
    for (;;) {
      const code = source.charCodeAt(this.#pos);
      if (code === 32 || code === 9 || code === 10 || code === 13) this.#pos++;
      else return Number.isNaN(code) ? END : code;
    }
  }

  expression(binding: number): Expr {
    let left = this.#unary();
    for (;;) {
      const before = this.#pos;
      const next = this.peek();
      if (next === END || next === 41) return left;
      const start = this.#pos;
      let power = AND;
      let isWritten = true;
      if (next === 124 && this.#source.startsWith("||", start)) power = OR;
      else if (next === 38 && this.#source.startsWith("&&", start)) power = AND;
      else if ((next === 111 || next === 79) && this.#keyword("or")) power = OR;
      else if ((next === 97 || next === 65) && this.#keyword("and")) power = AND;
      else isWritten = false;
      if (power <= binding) {
        this.#pos = before;
        return left;
      }
      let operator: { start: number; end: number } | undefined;
      if (isWritten) {
        this.#pos = start + (next === 97 || next === 65 ? 3 : 2);
        operator = { start, end: this.#pos };
      } else {
        this.#pos = start;
      }
      this.peek();
      const right = this.expression(power);
      left = this.#chain(power === OR ? "or" : "and", left, operator, right);
    }
  }

  /** `a and b and c` is one node; groups of the same kind are flattened into it. */
  #chain(kind: "and" | "or", left: Expr, operator: { start: number; end: number } | undefined, right: Expr): Expr {
    const terms = left.kind === kind ? [...left.terms] : [left];
    const operators = left.kind === kind ? [...left.operators] : [];
    if (operator !== undefined) operators.push(operator);
    if (right.kind === kind) {
      terms.push(...right.terms);
      operators.push(...right.operators);
    } else {
      terms.push(right);
    }
    return { kind, terms, operators, span: { start: this.#start(left), end: this.#end } };
  }

  /** Where a term starts and the last one ended, parentheses included. */
  #starts = new Map<Expr, number>();
  #end = 0;
  #start(expr: Expr): number {
    return this.#starts.get(expr) ?? expr.span.start;
  }

  #unary(): Expr {
    const next = this.peek();
    const start = this.#pos;
    let length = 0;
    if (next === 33 && this.#source.charCodeAt(start + 1) !== 61) length = 1;
    else if ((next === 110 || next === 78) && this.#keyword("not")) length = 3;
    if (length > 0) {
      this.#pos = start + length;
      const term = this.#unary();
      return { kind: "not", term, operator: { start, end: start + length }, span: { start, end: this.#end } };
    }
    if (next === 40) {
      this.#pos++;
      const inner = this.expression(0);
      if (this.peek() !== 41) throw REFUSED;
      this.#end = ++this.#pos;
      this.#starts.set(inner, start);
      return inner;
    }
    const term = this.#term(next);
    this.#end = this.#pos;
    return term;
  }

  #term(next: number): Expr {
    const start = this.#pos;
    if (next === 34) {
      const text = this.#string();
      return { kind: "message", text, span: { start, end: this.#pos } };
    }
    if ((next === 101 || next === 69) && this.#keyword("exists")) {
      const operator = { start, end: start + 6 };
      this.#pos += 6;
      this.peek();
      const field = this.#field();
      return { kind: "exists", operator, field, span: { start, end: field.span.end } };
    }
    const field = this.#field();
    const after = this.#pos;
    const condition = this.#condition(field, this.peek());
    if (condition !== undefined) return condition;
    this.#pos = after;
    const { span } = field;
    const name = this.#source.slice(span.start, span.end);
    if (LEVELS.has(name)) return { kind: "level", word: name, span };
    if (STAGES.has(name)) return { kind: "stage", word: name, span };
    return { kind: "truthy", field, span };
  }

  #condition(field: Field, next: number): Expr | undefined {
    const source = this.#source;
    const start = this.#pos;
    const op = comparisonAt(source, start);
    if (op !== "") {
      this.#pos += op.length;
      this.peek();
      const value = this.#value();
      return {
        kind: "comparison",
        field,
        op: op === "==" ? "=" : (op as "="),
        operator: { start, end: start + op.length },
        value,
        span: { start: field.span.start, end: value.span.end },
      };
    }
    if (next === 126) {
      this.#pos++;
      this.peek();
      const at = this.#pos;
      const match =
        /\/((?:\\[^\n\r]|\[\^?\]?(?:\[:(?:(?!:\])[^\n\r])*:\]|\\[^\n\r]|[^\]\n\r])*\]|[^/\\\n\r])*)\/(\p{L}*)(?![\p{L}\p{M}0-9_\-./:@+%~*"])/uy;
      match.lastIndex = at;
      const parts = match.exec(source);
      if (parts === null) return undefined;
      this.#pos = match.lastIndex;
      const regex = { source: parts[1]!, flags: parts[2]!, span: { start: at, end: this.#pos } };
      return {
        kind: "match",
        field,
        operator: { start, end: start + 1 },
        regex,
        span: { start: field.span.start, end: this.#pos },
      };
    }
    if ((next === 99 || next === 67) && this.#keyword("contains")) {
      this.#pos += 8;
      const quote = this.peek();
      const value = quote === 34 ? this.#string() : this.#word();
      const raw = source.slice(value.span.start, value.span.end);
      const chunks = value.kind === "word" ? [raw] : decodeString(raw.slice(1, -1), false);
      return {
        kind: "contains",
        field,
        operator: { start, end: start + 8 },
        text: { ...value, chunks },
        span: { start: field.span.start, end: this.#pos },
      };
    }
    return this.#membership(field, next);
  }

  #membership(field: Field, next: number): Expr | undefined {
    const start = this.#pos;
    let not: { start: number; end: number } | undefined;
    if ((next === 110 || next === 78) && this.#keyword("not")) {
      not = { start, end: start + 3 };
      this.#pos += 3;
      next = this.peek();
    }
    if ((next !== 105 && next !== 73) || !this.#keyword("in")) return undefined;
    const operator = { start: this.#pos, end: this.#pos + 2 };
    this.#pos += 2;
    if (this.peek() !== 40) return undefined;
    this.#pos++;
    const values: Value[] = [];
    if (this.peek() !== 41) {
      for (;;) {
        values.push(this.#value());
        const separator = this.peek();
        if (separator === 41) break;
        if (separator !== 44) throw REFUSED;
        this.#pos++;
        this.peek();
      }
    }
    this.#pos++;
    const span = { start: field.span.start, end: this.#pos };
    const term: Expr = { kind: "in", field, operator, values, span };
    return not === undefined ? term : { kind: "not", term, operator: not, span };
  }

  #value(): Value {
    const source = this.#source;
    const start = this.#pos;
    const next = source.charCodeAt(start);
    if (next === 34) return this.#string();
    const word = this.#word();
    const text = source.slice(start, this.#pos);
    const span = word.span;
    if (next === 45 || next === 46 || (next >= 48 && next <= 57)) {
      if (!NUMBER.test(text)) return word;
      const { value, unit } = readNumber(text);
      if (!Number.isFinite(value)) return word;
      return unit === undefined ? { kind: "number", text, value, span } : { kind: "number", text, value, unit, span };
    }
    if (text === "true" || text === "TRUE") return { kind: "boolean", value: true, span };
    if (text === "false" || text === "FALSE") return { kind: "boolean", value: false, span };
    if (text === "null" || text === "NULL") return { kind: "null", span };
    return word;
  }

  #string(): StringValue {
    const source = this.#source;
    const start = this.#pos;
    let at = start + 1;
    for (;;) {
      const code = source.charCodeAt(at);
      if (code === 34) break;
      if (Number.isNaN(code) || code === 10 || code === 13) throw REFUSED;
      at += code === 92 ? 2 : 1;
    }
    this.#pos = at + 1;
    const after = source.charCodeAt(this.#pos);
    if (after === 34 || this.#isIn(WORD, this.#pos) > 0) throw REFUSED;
    return { kind: "string", chunks: decodeString(source.slice(start + 1, at), true), span: { start, end: this.#pos } };
  }

  #word(): WordValue {
    const start = this.#pos;
    for (let length = this.#isIn(WORD, this.#pos); length > 0; length = this.#isIn(WORD, this.#pos))
      this.#pos += length;
    const text = this.#source.slice(start, this.#pos);
    if (text === "" || RESERVED.has(text) || this.#source.charCodeAt(this.#pos) === 34) throw REFUSED;
    return { kind: "word", chunks: text.split("*"), span: { start, end: this.#pos } };
  }

  #field(): Field {
    const source = this.#source;
    const start = this.#pos;
    this.#name();
    const name = source.slice(start, this.#pos);
    if (RESERVED.has(name)) throw REFUSED;
    const path: Segment[] = [{ kind: "key", key: name, span: { start, end: this.#pos } }];
    for (;;) {
      const at = this.#pos;
      const next = source.charCodeAt(at);
      if (next === 46) {
        this.#pos++;
        this.#name();
        path.push({ kind: "key", key: source.slice(at + 1, this.#pos), span: { start: at, end: this.#pos } });
      } else if (next === 91) {
        path.push(this.#bracket(at));
      } else {
        break;
      }
    }
    if (source.charCodeAt(this.#pos) === 34) throw REFUSED;
    return { path, span: { start, end: this.#pos } };
  }

  #bracket(start: number): Segment {
    const match = /\[(?:(\d+)|"((?:\\[^\n\r]|[^"\\\n\r])*)")\]/y;
    match.lastIndex = start;
    const parts = match.exec(this.#source);
    if (parts === null) throw REFUSED;
    this.#pos = match.lastIndex;
    const span = { start, end: this.#pos };
    if (parts[1] !== undefined) return { kind: "index", index: Number(parts[1]), span };
    return { kind: "key", key: decodeString(parts[2]!, false)[0] ?? "", span };
  }

  #name(): void {
    const first = this.#isIn(NAME_START, this.#pos);
    if (first === 0) throw REFUSED;
    this.#pos += first;
    for (let length = this.#isIn(NAME_REST, this.#pos); length > 0; length = this.#isIn(NAME_REST, this.#pos))
      this.#pos += length;
  }

  /** The length of the character at `at` where it is of a class, else 0. */
  #isIn(mask: number, at: number): number {
    const code = this.#source.charCodeAt(at);
    if (code < 128) return (CLASS[code]! & mask) !== 0 ? 1 : 0;
    if (Number.isNaN(code)) return 0;
    const char = String.fromCodePoint(this.#source.codePointAt(at)!);
    return (mask === NAME_START ? BEYOND_START : BEYOND_REST).test(char) ? char.length : 0;
  }

  /** Whether the keyword is here, in lower or all-upper case, and no name continues after it. */
  #keyword(word: string): boolean {
    const source = this.#source;
    const start = this.#pos;
    if (!source.startsWith(word, start) && !source.startsWith(word.toUpperCase(), start)) return false;
    return this.#isIn(NAME_REST, start + word.length) === 0;
  }
}

const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?(?:kb|mb|gb|tb|b|ms|s|m|h|d)?$/;

function comparisonAt(source: string, at: number): string {
  const first = source.charCodeAt(at);
  const isDouble = source.charCodeAt(at + 1) === 61;
  switch (first) {
    case 61:
      return isDouble ? "==" : "=";
    case 33:
      return isDouble ? "!=" : "";
    case 62:
      return isDouble ? ">=" : ">";
    case 60:
      return isDouble ? "<=" : "<";
    default:
      return "";
  }
}
