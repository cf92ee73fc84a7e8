import { createScanner, type JSONScanner, type SyntaxKind } from "jsonc-parser";
import { applyEdits, type Fix, type Problem, quote, type Remedy, type Span } from "../grammar/problem.ts";
import { indentOf, isKeyName, isSeparator, lineIndentOf, lostAfter, lostBefore, strayAfter } from "./slips.ts";

/**
 * A value and its place. Repairs replace nodes of a copy (`copyOf`), never spans: those still point at what the user
 * wrote.
 */
export type Node = ObjectNode | ArrayNode | StringNode | NumberNode | BooleanNode | NullNode | BrokenNode;

export interface ObjectNode {
  readonly type: "object";
  readonly span: Span;
  readonly members: Member[];
}
export interface Member {
  key: StringNode;
  /** Undefined if the text has none. */
  value: Node | undefined;
}
export interface ArrayNode {
  readonly type: "array";
  readonly span: Span;
  readonly items: Node[];
}
export interface StringNode {
  readonly type: "string";
  readonly span: Span;
  readonly value: string;
  /** The text between the quotes, as written. */
  readonly content: Span;
}
export interface NumberNode {
  readonly type: "number";
  readonly span: Span;
  readonly value: number;
}
export interface BooleanNode {
  readonly type: "boolean";
  readonly span: Span;
  readonly value: boolean;
}
export interface NullNode {
  readonly type: "null";
  readonly span: Span;
}
/** Something that is no JSON value and has been reported as such. */
export interface BrokenNode {
  readonly type: "broken";
  readonly span: Span;
}

export interface ParsedJson {
  readonly root: Node | undefined;
  readonly problems: Problem[];
  /** Those of values that were read as what they were meant to be, such as `None` as null. */
  readonly repaired: readonly Problem[];
}

// tool.json is at most some six levels deep; this keeps hostile text from exhausting the stack.
const MAX_DEPTH = 64;

const OTHER_QUOTES = /['\u201c\u201d\u201e\u00ab\u2018`]/;

// How often a line is searched for the quote that a text has lost: in a text that is no JSON none is.
const MAX_LOST = 50;

// As long as what is left behind by an edit: brackets, a comma, a word.
const MAX_REST = 12;

/** jsonc-parser's SyntaxKind is a const enum of declarations only, which this build cannot inline. */
const Kind = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  colon: 6,
  null: 7,
  true: 8,
  false: 9,
  string: 10,
  number: 11,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  trivia: 15,
  unknown: 16,
  end: 17,
} as const satisfies Record<string, SyntaxKind>;

/**
 * Reads JSON text as far as it can be read: every slip is a problem (codes `config/...`), and the text around it is
 * still understood. Never throws.
 */
export function parseJson(source: string): ParsedJson {
  const { root, problems, repaired } = new Parser(source).parse();
  return { root, problems, repaired };
}

/**
 * The same for checks: if brackets do not pair, indentation decides which one is missing, unless that reading has more
 * problems. A fix that guesses where something is missing is offered if it removes its problem and adds none.
 */
export function parseByLines(source: string): ParsedJson {
  const { root, repaired, problems, guesses } = readByLines(source);
  if (guesses.size === 0) return { root, problems, repaired };
  const isTooMuch = guesses.size > MAX_GUESSES || source.length > MAX_GUESSED_LENGTH;
  const sound = problems.map((problem) => {
    if (!guesses.has(problem)) return problem;
    const isKept = isTooMuch ? CERTAIN.has(problem.code) : helps(source, problem, problems);
    if (isKept) return problem;
    const { fix: _, ...rest } = problem;
    return rest;
  });
  return { root, problems: sound, repaired };
}

// Each guess is tried out by reading the text again; nobody looks through more than a few.
const MAX_GUESSES = 16;
const MAX_GUESSED_LENGTH = 50_000;

// Hardly a guess: these are kept if there are too many to try.
const CERTAIN: ReadonlySet<string> = new Set(["config/missing-comma", "config/missing-colon"]);

function readByLines(source: string) {
  const plain = new Parser(source).parse();
  const suspects = ["config/unclosed", "config/wrong-bracket"];
  if (!plain.problems.some(({ code }) => suspects.includes(code))) return plain;
  const byLines = new Parser(source, { byLines: true }).parse();
  return byLines.problems.length <= plain.problems.length ? byLines : plain;
}

/** Whether a fix removes its problem and adds none. */
function helps(source: string, problem: Problem, problems: readonly Problem[]): boolean {
  const left = problems.filter((other) => other !== problem).map(({ code }) => code);
  const after = readByLines(applyEdits(source, problem.fix!.edits)).problems;
  return after.every(({ code }) => {
    const at = left.indexOf(code);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** The same string at the same place, read as another value. */
export function withValue({ span, content }: StringNode, value: string): StringNode {
  return { type: "string", span, content, value };
}

/** A tree of its own to put things right in; strings, numbers and the like are shared, for they are replaced whole. */
export function copyOf<T extends Node | undefined>(node: T): T;
export function copyOf(node: Node | undefined): Node | undefined {
  if (node?.type === "array") return { type: "array", span: node.span, items: node.items.map(copyOf<Node>) };
  if (node?.type !== "object") return node;
  const members = node.members.map(({ key, value }) => ({ key, value: copyOf(value) }));
  return { type: "object", span: node.span, members };
}

/** The plain value of a node; what is broken or missing is left out. A key written twice counts as written last. */
export function plainValue(node: Node): unknown {
  switch (node.type) {
    case "object": {
      const result: Record<string, unknown> = {};
      for (const { key, value } of node.members) {
        if (value === undefined || value.type === "broken") continue;
        // Plain assignment of "__proto__" would set the prototype.
        if (key.value === "__proto__") {
          Object.defineProperty(result, key.value, {
            value: plainValue(value),
            enumerable: true,
            configurable: true,
            writable: true,
          });
        } else {
          result[key.value] = plainValue(value);
        }
      }
      return result;
    }
    case "array":
      return node.items.map(plainValue);
    case "null":
      return null;
    case "broken":
      return undefined;
    default:
      return node.value;
  }
}

/** The member of that name, the last if it occurs twice. */
export function memberOf(node: Node | undefined, name: string): Member | undefined {
  if (node?.type !== "object") return undefined;
  const { members } = node;
  if (members.length > MIN_INDEXED_MEMBERS) {
    let index = indexes.get(node);
    if (index === undefined) {
      index = new Map(members.map((member) => [member.key.value, member]));
      indexes.set(node, index);
    }
    // A member that was renamed since, or came later, is found by looking through all.
    const member = index.get(name);
    if (member?.key.value === name) return member;
  }
  for (let i = members.length - 1; i >= 0; i--) if (members[i]!.key.value === name) return members[i];
  return undefined;
}

// Fewer members are looked through faster than an index of them is made.
const MIN_INDEXED_MEMBERS = 32;
const indexes = new WeakMap<ObjectNode, Map<string, Member>>();

/** Where a range of a string's value is in the text, through `\n`, `\uXXXX` and surrogate pairs. */
export function spanInside(source: string, node: StringNode, range: Span): Span {
  // Every escape is longer than what it stands for; in a key without quotes a backslash is none.
  if (node.content.end - node.content.start === node.value.length) {
    const limit = (offset: number) => Math.min(node.content.start + offset, node.content.end);
    return { start: limit(range.start), end: limit(range.end) };
  }
  const { offsets } = decode(source.slice(node.content.start, node.content.end));
  const at = (offset: number) => node.content.start + offsets[Math.min(offset, offsets.length - 1)]!;
  return { start: at(range.start), end: at(range.end) };
}

/** The other way round: which offset of a string's value is at an offset of the text. */
export function offsetInside(source: string, node: StringNode, offset: number): number {
  const { start, end } = node.content;
  const at = Math.max(0, Math.min(offset - start, end - start));
  if (end - start === node.value.length) return at;
  // Within an escape it is the character that the escape stands for.
  const { offsets } = decode(source.slice(start, end));
  return offsets.findLastIndex((begin) => begin <= at);
}

/** The codes of `parseJson` that any reader of JSON reports too, which an editor of JSON then says already. */
export const SYNTAX_CODES: ReadonlySet<string> = new Set([
  "config/comma",
  "config/comment",
  "config/control-character",
  "config/duplicate-key",
  "config/escape",
  "config/key-expected",
  "config/literal",
  "config/missing-colon",
  "config/missing-comma",
  "config/number",
  "config/single-quotes",
  "config/trailing-text",
  "config/unclosed",
  "config/unclosed-string",
  "config/unexpected",
  "config/unopened",
  "config/unquoted-key",
  "config/value-expected",
  "config/wrong-bracket",
]);

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * The value of the text between the quotes, and where each UTF-16 unit of that begins in the text (and, last, where
 * the text ends). An escape that JSON does not know stands for the character after the backslash.
 */
function decode(raw: string): { value: string; offsets: number[] } {
  let value = "";
  const offsets: number[] = [];
  for (let at = 0; at < raw.length; ) {
    offsets.push(at);
    const next = raw[at + 1];
    if (raw[at] !== "\\" || next === undefined) {
      value += raw[at];
      at += 1;
    } else if (next === "u" && /^[0-9A-Fa-f]{4}$/.test(raw.slice(at + 2, at + 6))) {
      value += String.fromCharCode(Number.parseInt(raw.slice(at + 2, at + 6), 16));
      at += 6;
    } else {
      value += ESCAPES[next] ?? next;
      at += 2;
    }
  }
  offsets.push(raw.length);
  return { value, offsets };
}

/**
 * The edits that take members out of an object and leave the rest as it is formatted: a member goes together with the
 * comma and blanks up to its neighbour.
 */
export function removeMembers(object: ObjectNode, gone: ReadonlySet<Member>): { span: Span; text: string }[] {
  const { members } = object;
  const end = (member: Member) => (member.value ?? member.key).span.end;
  if (members.every((member) => gone.has(member))) {
    return [{ span: { start: object.span.start + 1, end: object.span.end - 1 }, text: "" }];
  }
  const edits: { span: Span; text: string }[] = [];
  const lastKept = members.findLastIndex((member) => !gone.has(member));
  for (const [i, member] of members.entries()) {
    if (!gone.has(member)) continue;
    if (i < lastKept) {
      edits.push({ span: { start: member.key.span.start, end: members[i + 1]!.key.span.start }, text: "" });
    } else {
      edits.push({ span: { start: end(members[i - 1]!), end: end(member) }, text: "" });
    }
  }
  return edits;
}

/** Most of a long text is made of these, so it holds two numbers in place of two spans. */
class QuotedString implements StringNode {
  readonly type = "string";
  readonly value: string;
  readonly #start: number;
  readonly #end: number;

  constructor(value: string, start: number, end: number) {
    this.value = value;
    this.#start = start;
    this.#end = end;
  }

  get span(): Span {
    return { start: this.#start, end: this.#end };
  }

  get content(): Span {
    return { start: this.#start + 1, end: this.#end - 1 };
  }
}

class Parser {
  readonly #source: string;
  readonly #scanner: JSONScanner;
  readonly #problems: Problem[] = [];
  readonly #repaired: Problem[] = [];
  /** The problems whose fix is a guess at what is missing. */
  readonly #guesses = new Set<Problem>();
  #kind: SyntaxKind = Kind.end;
  #start = 0;
  /** Where the last token before the current one ended: the place of a missing comma. */
  #lastEnd = 0;
  #depth = 0;
  /** Set after an unclosed string: what follows on its line was swallowed, a missing comma included. */
  #swallowed = false;
  /** Set if the text ended inside a value that was skipped as too deep: unclosed brackets around it are not reported. */
  #truncated = false;
  /** The brackets that are open around the current token, to tell a stray closing one from a missing one. */
  readonly #open: ("{" | "[")[] = [];

  #lost = 0;
  /** Whether indentation decides which bracket is missing. */
  readonly #byLines: boolean;

  constructor(source: string, { byLines = false } = {}) {
    this.#source = source;
    this.#byLines = byLines;
    this.#scanner = createScanner(source, false);
    // A byte order mark is allowed to be ignored (RFC 8259 section 8.1), and Windows editors still write it.
    if (source.startsWith("\ufeff")) this.#scanner.setPosition(1);
  }

  parse(): ParsedJson & { readonly guesses: ReadonlySet<Problem> } {
    this.#next();
    if (this.#kind === Kind.end) {
      this.#report(
        "config/empty",
        "the file is empty",
        { start: 0, end: 0 },
        {
          hint: `write at least { "name": "app" }`,
          fix: {
            title: `Write { "name": "app" }`,
            edits: [{ span: { start: 0, end: this.#source.length }, text: '{ "name": "app" }\n' }],
            isSuggestion: true,
          },
        },
      );
      return { root: undefined, problems: this.#problems, repaired: [], guesses: this.#guesses };
    }
    const root = this.#value();
    if (root !== undefined && this.#tokenSpan().end > this.#tokenSpan().start) {
      const rest = this.#source.slice(this.#start).trimEnd();
      const span = { start: this.#start, end: this.#start + rest.length };
      const message = `unexpected ${quote(rest.split(/\r?\n|\r/, 1)[0]!)} after the end of the configuration`;
      const hint = "remove it: the file holds one object";
      // A second object, or half of the file after a bracket too many, is more than a slip.
      if (rest.length > MAX_REST) this.#report("config/trailing-text", message, span, { hint });
      else {
        const edits = [{ span: { start: this.#lastEnd, end: span.end }, text: "" }];
        // Values were written to be read.
        const isSuggestion = !/^[\]},;\s]*$/.test(rest);
        this.#guess("config/trailing-text", message, span, {
          hint,
          fix: {
            title: "Remove it",
            edits,
            ...(isSuggestion && { isSuggestion }),
          },
        });
      }
    } else if (root === undefined) {
      const span = this.#tokenSpan();
      this.#report("config/value-expected", `a value is expected here, not ${this.#tokenText()}`, span, {
        hint: "begin with {",
      });
    }
    return { root, problems: this.#problems, repaired: this.#repaired, guesses: this.#guesses };
  }

  /** The value at the current token; undefined if none begins there (nothing is consumed then). */
  #value(): Node | undefined {
    switch (this.#kind) {
      case Kind.openBrace:
        return this.#nested("{", () => this.#object());
      case Kind.openBracket:
        return this.#nested("[", () => this.#array());
      case Kind.string:
        return this.#string();
      case Kind.null:
      case Kind.true:
      case Kind.false:
      case Kind.number:
      case Kind.unknown:
        return this.#literal();
      default:
        return undefined;
    }
  }

  #nested(bracket: "{" | "[", parse: () => Node): Node {
    if (this.#depth >= MAX_DEPTH) return this.#tooDeep();
    this.#depth++;
    this.#open.push(bracket);
    const node = parse();
    this.#open.pop();
    this.#depth--;
    return node;
  }

  /** Skips a whole bracketed value without descending into it. */
  #tooDeep(): BrokenNode {
    const start = this.#start;
    this.#report("config/too-deep", `nested more than ${MAX_DEPTH} levels deep`, this.#tokenSpan());
    let depth = 0;
    do {
      if (this.#kind === Kind.openBrace || this.#kind === Kind.openBracket) depth++;
      if (this.#kind === Kind.closeBrace || this.#kind === Kind.closeBracket) depth--;
      this.#next();
    } while (depth > 0 && this.#kind !== Kind.end);
    this.#truncated = depth > 0;
    return { type: "broken", span: { start, end: this.#lastEnd } };
  }

  #object(isOpened = true): ObjectNode {
    const open = isOpened ? this.#tokenSpan() : { start: this.#start, end: this.#start };
    const members: Member[] = [];
    let seen: Map<string, number> | undefined;
    let comma: Span | undefined;
    if (isOpened) this.#next();
    for (;;) {
      if (this.#closes("{", open, comma)) break;
      const member = this.#member();
      if (typeof member === "object") {
        const name = member.key.value;
        if (members.length === MIN_INDEXED_MEMBERS) seen = new Map(members.map(({ key }, i) => [key.value, i]));
        const first = seen?.get(name) ?? (seen ? -1 : members.findLastIndex(({ key }) => key.value === name));
        seen?.set(name, members.length);
        members.push(member);
        if (first !== -1) this.#duplicate(first, members);
      }
      comma = this.#separator(comma, member !== undefined);
    }
    return { type: "object", span: { start: open.start, end: this.#lastEnd }, members };
  }

  #array(): ArrayNode {
    const open = this.#tokenSpan();
    const items: Node[] = [];
    let comma: Span | undefined;
    this.#next();
    for (;;) {
      if (this.#closes("[", open, comma)) break;
      const item = this.#value();
      if (item !== undefined) items.push(item);
      else if (this.#kind === Kind.colon) {
        this.#report("config/unexpected", `unexpected ":" in an array`, this.#tokenSpan(), {
          hint: "a name and its value go in { }",
        });
        this.#next();
        comma = undefined;
        this.#swallowed = true;
        continue;
      }
      comma = this.#separator(comma, item !== undefined);
    }
    return { type: "array", span: { start: open.start, end: this.#lastEnd }, items };
  }

  /** Whether the object or array ends at the current token; consumes its bracket and reports what is wrong about it. */
  #closes(bracket: "{" | "[", open: Span, comma: Span | undefined): boolean {
    const own = bracket === "{" ? Kind.closeBrace : Kind.closeBracket;
    const other = bracket === "{" ? Kind.closeBracket : Kind.closeBrace;
    if (this.#byLines && this.#isOutside(open)) {
      this.#unclosed(bracket, open, comma);
      return true;
    }
    if (this.#kind === own) {
      if (comma !== undefined) this.#surplusComma(comma, `trailing comma before ${this.#tokenText()}`);
      this.#swallowed = false;
      this.#next();
      return true;
    }
    if (this.#kind !== Kind.end && this.#kind !== other) return false;
    // The other bracket belongs to an enclosing value if one of its kind is open; else it is a slip for this one's own.
    const isOwn = !this.#open.slice(0, -1).includes(bracket === "{" ? "[" : "{") || this.#isBelow(open);
    if (this.#kind === other && isOwn) {
      const right = bracket === "{" ? "}" : "]";
      if (comma !== undefined) this.#surplusComma(comma, `trailing comma before ${this.#tokenText()}`);
      this.#report("config/wrong-bracket", `${this.#tokenText()} closes what "${bracket}" opened`, this.#tokenSpan(), {
        hint: `write ${right}`,
        fix: { title: `Replace with ${right}`, edits: [{ span: this.#tokenSpan(), text: right }] },
      });
      this.#next();
      return true;
    }
    if (this.#kind === Kind.end && this.#truncated) return true;
    if (this.#byLines) this.#unclosed(bracket, open, comma);
    else
      this.#report("config/unclosed", `"${bracket}" is never closed`, open, {
        hint: `add ${bracket === "{" ? "}" : "]"}`,
      });
    return true;
  }

  /** Whether the current token begins a line that is indented as what is around an object or array, or less. */
  #isOutside(open: Span): boolean {
    const indent = this.#kind === Kind.end ? undefined : indentOf(this.#source, this.#start);
    if (indent === undefined || !/[\r\n]/.test(this.#source.slice(open.end, this.#start))) return false;
    const around = lineIndentOf(this.#source, open.start);
    return this.#kind === Kind.closeBrace || this.#kind === Kind.closeBracket ? indent < around : indent <= around;
  }

  /** Whether the current token begins a line that is indented as the one that an object or array begins on. */
  #isBelow(open: Span): boolean {
    return this.#byLines && indentOf(this.#source, this.#start) === lineIndentOf(this.#source, open.start);
  }

  #unclosed(bracket: "{" | "[", open: Span, comma: Span | undefined) {
    const close = bracket === "{" ? "}" : "]";
    const end = comma?.start ?? this.#lastEnd;
    // The next token is separated from it by the comma that was read, or by none.
    const closing = this.#kind === Kind.closeBrace || this.#kind === Kind.closeBracket || this.#kind === Kind.end;
    const text = comma === undefined && !closing ? `${close},` : close;
    this.#guess("config/unclosed", `"${bracket}" is never closed`, open, {
      hint: `add ${close}`,
      fix: {
        title: `Add ${close}`,
        edits: [{ span: { start: end, end }, text }],
      },
    });
    this.#swallowed = true;
  }

  /** Consumes commas after a member or item, or says that one is missing. Gives the comma that is still unanswered. */
  #separator(before: Span | undefined, read: boolean): Span | undefined {
    let comma = read ? undefined : before;
    if (this.#kind === Kind.comma) {
      while (this.#kind === Kind.comma) {
        const span = this.#tokenSpan();
        if (comma !== undefined || !read) this.#surplusComma(span, "one comma too many");
        else comma = span;
        this.#next();
      }
      this.#swallowed = false;
      return comma;
    }
    const closing = this.#kind === Kind.closeBrace || this.#kind === Kind.closeBracket || this.#kind === Kind.end;
    if (read && !closing && !this.#swallowed) {
      if (this.#open.at(-1) === "{" && this.#stray()) return this.#separator(before, read);
      const span = { start: this.#lastEnd, end: this.#lastEnd };
      this.#guess("config/missing-comma", "a comma is missing here", span, {
        fix: {
          title: "Insert a comma",
          edits: [{ span, text: "," }],
        },
      });
    }
    this.#swallowed = false;
    return comma;
  }

  /** Words after a member on its line, which no colon follows; skipped if there are some. */
  #stray(): boolean {
    const start = this.#lastEnd;
    const stray = strayAfter(this.#source, start);
    if (stray === undefined) return false;
    const span = { start: stray.start, end: stray.end };
    const by = stray.isComma ? "," : "";
    this.#guess(
      stray.isComma ? "config/missing-comma" : "config/unexpected",
      stray.isComma
        ? `";" is in the place of a comma`
        : `${quote(this.#source.slice(span.start, span.end))} is not expected here`,
      span,
      {
        hint: stray.isComma ? "write ," : "remove it",
        fix: {
          title: stray.isComma ? "Change to ," : "Remove it",
          edits: [{ span: stray.isComma ? span : { start, end: span.end }, text: by }],
        },
      },
    );
    this.#jump(span.end);
    if (stray.isComma) this.#swallowed = true;
    return true;
  }

  #surplusComma(span: Span, message: string) {
    this.#report("config/comma", message, span, {
      hint: "remove it",
      fix: {
        title: "Remove the comma",
        edits: [{ span, text: "" }],
      },
    });
  }

  /** A member; "skipped" for one without a readable key, undefined if a comma is in its place. */
  #member(): Member | "skipped" | undefined {
    if (this.#kind === Kind.comma) return undefined;
    const key = this.#key();
    if (key === undefined) return "skipped";
    this.#equalsForColon();
    if (this.#kind === Kind.colon) {
      const colon = this.#tokenSpan();
      this.#next();
      const below = this.#nameBelow(key);
      const value = below === "member" ? undefined : below === "inside" ? this.#unopened(key) : this.#value();
      if (below === "member") this.#swallowed = true;
      if (value === undefined) this.#report("config/value-expected", `${quote(key.value)} has no value`, colon);
      return { key, value };
    }
    if (this.#swallowed) return { key, value: undefined };
    const span = { start: key.span.end, end: key.span.end };
    // A value on the same line: the colon alone is missing. Else the next token is the next member's.
    const sameLine = !/[\r\n]/.test(this.#source.slice(key.span.end, this.#start));
    const value = sameLine ? this.#value() : undefined;
    if (value !== undefined) {
      this.#guess("config/missing-colon", `a colon is missing after ${quote(key.value)}`, span, {
        fix: {
          title: "Insert a colon",
          edits: [{ span, text: ":" }],
        },
      });
    } else {
      this.#report("config/value-expected", `${quote(key.value)} has no value`, key.span);
      this.#swallowed = true;
    }
    return { key, value };
  }

  /** The role of a name in place of a key's value: a member inside, or on a line like the key's the next member. */
  #nameBelow(key: StringNode): "member" | "inside" | undefined {
    if (this.#kind !== Kind.string || !isKeyName(this.#source, this.#tokenSpan().end)) return undefined;
    const indent = indentOf(this.#source, this.#start);
    return indent === undefined || indent > lineIndentOf(this.#source, key.span.start) ? "inside" : "member";
  }

  /** An object that lacks its opening brace. */
  #unopened(key: StringNode): Node {
    const at = { start: this.#lastEnd, end: this.#lastEnd };
    this.#guess("config/unopened", `the value of ${quote(key.value)} has no "{"`, key.span, {
      hint: "add {",
      fix: {
        title: "Add {",
        edits: [{ span: at, text: " {" }],
      },
    });
    return this.#nested("{", () => this.#object(false));
  }

  /** `=` and `=>` of other languages are read as the colon that they stand for. */
  #equalsForColon() {
    if (this.#kind !== Kind.unknown) return;
    const span = this.#tokenSpan();
    const text = this.#source.slice(span.start, span.end);
    if (!/^:?=>?$/.test(text)) return;
    this.#report("config/missing-colon", `${quote(text)} is in the place of a colon`, span, {
      hint: "write :",
      fix: {
        title: "Change to :",
        edits: [{ span, text: ":" }],
      },
    });
    this.#kind = Kind.colon;
  }

  #key(): StringNode | undefined {
    if (this.#kind === Kind.string) return this.#string("key");
    if (this.#kind === Kind.unknown && OTHER_QUOTES.test(this.#source[this.#start]!)) {
      const node = this.#literal();
      return node.type === "string" ? node : undefined;
    }
    const start = this.#start;
    const begun = this.#kind;
    if (begun === Kind.colon) {
      this.#report("config/key-expected", `a key is missing before ":"`, this.#tokenSpan());
      this.#next();
      this.#value();
      this.#swallowed = true;
      return undefined;
    }
    if (begun === Kind.openBrace || begun === Kind.openBracket) {
      this.#report("config/key-expected", `a key in double quotes is expected here, not ${this.#tokenText()}`, {
        start,
        end: start + 1,
      });
      this.#value();
      return undefined;
    }
    const lost = this.#lostBefore(start, "key");
    if (lost !== undefined) return this.#unopenedString(start, lost);
    const text = this.#run();
    const span = { start, end: start + text.length };
    this.#report("config/unquoted-key", `the key ${quote(text)} has no quotes`, span, {
      hint: "write it in double quotes",
      fix: {
        title: "Put it in double quotes",
        edits: [{ span, text: JSON.stringify(text) }],
      },
    });
    return { type: "string", span, value: text, content: span };
  }

  #string(what: "key" | "value" = "value"): StringNode {
    const error = this.#scanner.getTokenError();
    const start = this.#start;
    const end = start + this.#scanner.getTokenLength();
    // jsonc-parser's ScanError: 2 is an unclosed string, which ends with its line.
    const unclosed = error === 2;
    // Nearly every string has its quotes, and is followed by what follows strings.
    if (unclosed || !isSeparator(this.#source.charCodeAt(end))) {
      const lost = lostAfter(this.#source, { start, end }, { isKey: what === "key", endsLine: unclosed });
      if (lost !== undefined) return this.#unclosedString({ start, end }, unclosed, lost);
    }
    if (error === 0) {
      const value = this.#scanner.getTokenValue();
      this.#next();
      return new QuotedString(value, start, end);
    }
    const span = { start, end };
    const raw = this.#source.slice(start, end);
    const content = { start: span.start + 1, end: span.end - 1 };
    for (const bad of raw.matchAll(/\\u[0-9A-Fa-f]{4}|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{0,3}|\\.|[\u0000-\u001f]/gs)) {
      if (/^\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])$/.test(bad[0])) continue;
      this.#badCharacter(bad[0], span.start + bad.index);
    }
    this.#next();
    return { type: "string", span, value: decode(raw.slice(1, -1)).value, content };
  }

  /** A string that lacks its closing quote: read up to where it was meant, and on from there. */
  #unclosedString(token: Span, endsLine: boolean, end: number): StringNode {
    const { start } = token;
    const span = endsLine ? token : { start, end };
    const content = { start: start + 1, end };
    const text = this.#source.slice(content.start, end);
    this.#guess("config/unclosed-string", `the string ${quote(text)} is never closed`, span, {
      hint: `add "`,
      fix: {
        title: 'Add the closing "',
        edits: [{ span: { start: end, end }, text: '"' }],
      },
    });
    this.#jump(end);
    return { type: "string", span: { start, end }, value: decode(text).value, content };
  }

  /** A text that lacks its opening quote and ends before the quote at `end`. */
  #unopenedString(start: number, end: number): StringNode {
    const span = { start, end: end + 1 };
    const text = this.#source.slice(start, end);
    this.#guess("config/unclosed-string", `the string ${quote(text)} has no opening quote`, span, {
      hint: `add "`,
      fix: {
        title: 'Add the opening "',
        edits: [{ span: { start, end: start }, text: '"' }],
      },
    });
    this.#jump(span.end);
    return { type: "string", span, value: decode(text).value, content: { start, end } };
  }

  /** Goes on reading at an offset, as if the token before ended there. */
  #jump(offset: number) {
    this.#scanner.setPosition(offset);
    this.#lastEnd = offset;
    this.#next(offset);
  }

  #badCharacter(text: string, start: number) {
    const span = { start, end: start + text.length };
    if (!text.startsWith("\\")) {
      const escaped = JSON.stringify(text).slice(1, -1);
      this.#report("config/control-character", `a string contains a control character`, span, {
        hint: `write ${escaped}`,
        fix: {
          title: `Write ${escaped}`,
          edits: [{ span, text: escaped }],
        },
      });
      return;
    }
    const hint = text.startsWith("\\u")
      ? "four hexadecimal digits follow \\u"
      : 'the escapes are \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX; a backslash itself is \\\\';
    // Paths and expressions are full of backslashes that were meant as themselves.
    const doubled = `\\${text}`;
    // A character by its number whose digits are missing may be meant as well.
    const isSuggestion = /^\\u[0-9a-f]+$/i.test(text);
    const fix = { title: `Write ${doubled}`, edits: [{ span, text: doubled }], ...(isSuggestion && { isSuggestion }) };
    this.#report("config/escape", `unknown escape ${quote(text)}`, span, {
      hint,
      fix: /^\\(?:[\w.$^()[\]{}*+?|-]|u[0-9a-f]{1,3})$/i.test(text) ? fix : undefined,
    });
  }

  /** A keyword, a number, or what was meant as one of them or as a string. */
  #literal(): Node {
    const start = this.#start;
    const kind = this.#kind;
    const tokenEnd = start + this.#scanner.getTokenLength();
    if (kind === Kind.unknown && OTHER_QUOTES.test(this.#source[start]!)) {
      const quoted = this.#source[start] === "'" ? this.#singleQuoted() : this.#otherQuotes();
      if (quoted !== undefined) return quoted;
    }
    const text = this.#run();
    const span = { start, end: start + text.length };
    if (span.end === tokenEnd) {
      if (kind === Kind.null) return { type: "null", span };
      if (kind === Kind.true || kind === Kind.false) return { type: "boolean", span, value: kind === Kind.true };
      if (kind === Kind.number && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) {
        return { type: "number", span, value: Number(text) };
      }
    }
    const lost = this.#lostBefore(start, "value");
    return lost === undefined ? this.#badLiteral(text, span) : this.#unopenedString(start, lost);
  }

  #lostBefore(start: number, what: "key" | "value"): number | undefined {
    return ++this.#lost > MAX_LOST ? undefined : lostBefore(this.#source, start, what);
  }

  #badLiteral(text: string, span: Span): Node {
    const replace = (by: string): Fix => ({ title: `Write ${by}`, edits: [{ span, text: by }] });
    const spelled: Record<string, string> = {
      True: "true",
      False: "false",
      None: "null",
      TRUE: "true",
      FALSE: "false",
    };
    const keyword = Object.hasOwn(spelled, text) ? spelled[text] : undefined;
    if (keyword !== undefined) {
      this.#report("config/literal", `${quote(text)} is not a JSON value`, span, {
        hint: `write ${keyword}`,
        fix: replace(keyword),
      });
      this.#repaired.push(this.#problems.at(-1)!);
      return keyword === "null" ? { type: "null", span } : { type: "boolean", span, value: keyword === "true" };
    }
    if (/^[+-]?[\d.]/.test(text) || /^[+-]?(NaN|Infinity)$/.test(text)) {
      const plain = text
        .replace(/^\+/, "")
        .replace(/(?<=\d)_(?=\d)/g, "")
        .replace(/^(-?)0+(?=\d)/, "$1")
        .replace(/^(-?)\./, "$10.")
        .replace(/\.$/, "");
      const certain = /^-?\d+(\.\d+)?$/.test(plain);
      const hint = certain
        ? `write ${plain}`
        : "write digits, with a fraction if need be; anything else in double quotes";
      this.#report("config/number", `${quote(text)} is not a number`, span, {
        hint,
        fix: certain ? replace(plain) : undefined,
      });
      if (certain) this.#repaired.push(this.#problems.at(-1)!);
      return certain ? { type: "number", span, value: Number(plain) } : { type: "broken", span };
    }
    if (/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(text) && text !== "undefined") {
      const quoted = JSON.stringify(text);
      this.#report("config/literal", `the text ${quote(text)} has no quotes`, span, {
        hint: `write ${quoted}`,
        fix: replace(quoted),
      });
      return { type: "string", span, value: text, content: span };
    }
    this.#report("config/literal", `${quote(text)} is not a JSON value`, span, {
      hint: "strings are in double quotes",
    });
    return { type: "broken", span };
  }

  /** Typographic quotes, as word processors write them, and those of templates; undefined if they do not close. */
  #otherQuotes(): Node | undefined {
    const start = this.#start;
    const pattern =
      /[\u201c\u201d\u201e\u00ab\u2018`]([^"\u201c\u201d\u00bb\u2019`\\\r\n]*)["\u201c\u201d\u00bb\u2019`]/y;
    pattern.lastIndex = start;
    const match = pattern.exec(this.#source);
    if (match === null) return undefined;
    const span = { start, end: start + match[0].length };
    this.#jump(span.end);
    const text = JSON.stringify(match[1]);
    this.#report("config/single-quotes", `${quote(match[1]!)} is in quotes that JSON does not have`, span, {
      hint: "JSON strings are in double quotes",
      fix: { title: "Use double quotes", edits: [{ span, text }] },
    });
    return { type: "string", span, value: match[1]!, content: { start: span.start + 1, end: span.end - 1 } };
  }

  #singleQuoted(): Node {
    const start = this.#start;
    const pattern = /'((?:[^'\\\r\n]|\\.)*)('?)/y;
    pattern.lastIndex = start;
    const match = pattern.exec(this.#source)!;
    const span = { start, end: start + match[0].length };
    this.#jump(span.end);
    // With escapes inside, what was meant is a guess.
    const plain = match[2] === "'" && !match[1]!.includes("\\");
    const text = JSON.stringify(match[1]);
    this.#report("config/single-quotes", `${quote(match[0]).slice(1, -1)} is in single quotes`, span, {
      hint: "JSON strings are in double quotes",
      fix: plain ? { title: "Use double quotes", edits: [{ span, text }] } : undefined,
    });
    // Without its end it has swallowed the rest of the line.
    if (match[2] === "") this.#swallowed = true;
    if (!plain) return { type: "broken", span };
    return { type: "string", span, value: match[1]!, content: { start: span.start + 1, end: span.end - 1 } };
  }

  /** The text of this token and of those glued to it, such as the two that `0x1f` scans as. */
  #run(): string {
    const start = this.#start;
    let end = start;
    const glues = () =>
      this.#kind === Kind.number ||
      this.#kind === Kind.unknown ||
      this.#kind === Kind.true ||
      this.#kind === Kind.false ||
      this.#kind === Kind.null;
    while (this.#start === end && glues()) {
      end = this.#start + Math.max(1, this.#scanner.getTokenLength());
      this.#next();
    }
    return this.#source.slice(start, end);
  }

  #duplicate(first: number, members: readonly Member[]) {
    const { key, value } = members.at(-1)!;
    const before = members[first]!;
    const gone = { start: before.key.span.start, end: members[first + 1]!.key.span.start };
    const fix: Fix = { title: "Remove the first one, which has no effect", edits: [{ span: gone, text: "" }] };
    const same =
      value && before.value && JSON.stringify(plainValue(value)) === JSON.stringify(plainValue(before.value));
    const end = (member: Member) => (member.value ?? member.key).span.end;
    const last = { start: end(members.at(-2)!), end: end(members.at(-1)!) };
    this.#problems.push({
      code: "config/duplicate-key",
      severity: "error",
      message: `the key ${quote(key.value)} is repeated in this object`,
      hint: "only the last one takes effect: remove one of them",
      span: key.span,
      fix: same ? fix : { ...fix, isSuggestion: true },
      // One that says something else may be the one that was meant.
      ...(!same && {
        alternatives: [{ title: "Remove the last one", edits: [{ span: last, text: "" }], isSuggestion: true }],
      }),
    });
  }

  /** Goes to the next token that means something; comments are reported on the way. */
  #next(after?: number) {
    if (after === undefined)
      this.#lastEnd = Math.max(
        this.#lastEnd,
        this.#start + (this.#kind === Kind.end ? 0 : this.#scanner.getTokenLength()),
      );
    for (;;) {
      this.#kind = this.#scanner.scan();
      this.#start = this.#scanner.getTokenOffset();
      if (this.#kind === Kind.lineComment || this.#kind === Kind.blockComment) this.#comment();
      else if (this.#kind !== Kind.trivia && this.#kind !== Kind.lineBreak) return;
    }
  }

  #comment() {
    const span = this.#tokenSpan();
    let lineStart = span.start;
    while (lineStart > 0 && /[ \t]/.test(this.#source[lineStart - 1]!)) lineStart--;
    const alone = lineStart === 0 || /[\r\n]/.test(this.#source[lineStart - 1]!);
    const rest = /^[ \t]*(\r\n|\r|\n)/.exec(this.#source.slice(span.end, span.end + 200));
    const whole =
      alone && rest !== null
        ? { start: lineStart, end: span.end + rest[0].length }
        : { start: rest !== null ? lineStart : span.start, end: span.end };
    this.#report("config/comment", "JSON has no comments", span, {
      hint: "remove it",
      fix: {
        title: "Remove the comment",
        edits: [{ span: whole, text: "" }],
      },
    });
  }

  #tokenSpan(): Span {
    // The scanner counts one character too many at the end of an unclosed comment.
    const end = Math.min(this.#start + this.#scanner.getTokenLength(), this.#source.length);
    return { start: this.#start, end };
  }

  #tokenText(): string {
    const { start, end } = this.#tokenSpan();
    return this.#kind === Kind.end ? "the end of the file" : quote(this.#source.slice(start, end));
  }

  #guess(code: string, message: string, span: Span, remedy: Remedy) {
    this.#report(code, message, span, remedy);
    this.#guesses.add(this.#problems.at(-1)!);
  }

  #report(code: string, message: string, span: Span, { hint, fix }: Remedy = {}) {
    this.#problems.push({ code, severity: "error", message, ...(hint && { hint }), span, ...(fix && { fix }) });
  }
}

/** Whether a text is JSON without a slip. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
