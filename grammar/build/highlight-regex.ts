// Turns lexical rules of an Ohm grammar into regular expressions of two engines that match exactly what Ohm matches: a
// choice that was made is never given up, as an atomic group says it. That is also what keeps them fast: none backtracks.
import { exprKind, type GrammarExpr, isSyntactic, type OhmGrammar } from "./compile.ts";

/** The text that a lexical rule matches, as a tree of the parts that regular expressions have. */
export type Pattern =
  | { readonly kind: "set"; readonly items: readonly Item[]; readonly without: readonly Item[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "seq"; readonly parts: readonly Pattern[] }
  | { readonly kind: "alt"; readonly branches: readonly Pattern[] }
  | { readonly kind: "repeat"; readonly body: Pattern; readonly sign: "*" | "+" | "?" }
  | { readonly kind: "look"; readonly body: Pattern; readonly isNegative: boolean }
  | { readonly kind: "capture"; readonly body: Pattern; readonly rule: string };

/** Characters from one to another, both included, or a Unicode category. */
export type Item = readonly [from: number, to: number] | string;

/**
 * The pattern of `rule`. Applications of the rules in `captured` become groups. Throws at what has no regular
 * equivalent: recursion, and rules that skip spaces.
 */
export function patternOf(grammar: OhmGrammar, rule: string, captured: readonly string[] = []): Pattern {
  const refuse = (why: string): never => {
    throw new Error(`"${rule}" has no regular expression: ${why}`);
  };
  const application = (name: string, args: readonly GrammarExpr[], path: readonly string[]): Pattern => {
    const key = args.length > 0 ? `${name}<${args.join()}>` : name;
    if (path.includes(key)) refuse(`it is recursive (${[...path.slice(path.indexOf(key)), key].join(" -> ")})`);
    if (isSyntactic(name)) refuse(`"${name}" skips spaces`);
    const definition = grammar.rules[name];
    if (definition === undefined) return refuse(`there is no rule "${name}"`);
    const body = args.length > 0 ? definition.body.substituteParams(args) : definition.body;
    const pattern = convert(body, [...path, key]);
    return captured.includes(name) && path.length > 0 ? { kind: "capture", body: pattern, rule: name } : pattern;
  };
  const convert = (expr: GrammarExpr, path: readonly string[]): Pattern => {
    const kind = exprKind(expr);
    switch (kind) {
      case "any":
        return set([[0, 0x10ffff]]);
      case "Terminal":
        return { kind: "text", text: expr.obj! };
      case "Range":
        return set([[expr.from!.codePointAt(0)!, expr.to!.codePointAt(0)!]]);
      case "UnicodeChar":
        return set([...expr.pattern!.source.matchAll(/\\p\{(\w+)\}/g)].map((match) => match[1]!));
      case "Alt":
        return alternation(expr.terms!.map((term) => convert(term, path)));
      case "Seq":
        return sequence(expr.factors!.flatMap((factor) => splitNegation(convert(factor, path))));
      case "Star":
      case "Plus":
      case "Opt": {
        const body = convert(expr.expr!, path);
        if (kind !== "Opt" && hasCapture(body)) refuse("a group in a repetition captures only its last match");
        return { kind: "repeat", body, sign: kind === "Star" ? "*" : kind === "Plus" ? "+" : "?" };
      }
      case "Not":
      case "Lookahead":
        return { kind: "look", body: convert(expr.expr!, path), isNegative: kind === "Not" };
      case "Lex":
        return convert(expr.expr!, path);
      case "Apply":
        return application(expr.ruleName!, expr.args!, path);
      default:
        return refuse(`${kind} is not supported (${expr})`);
    }
  };
  return application(rule, [], []);
}

const set = (items: readonly Item[], without: readonly Item[] = []): Pattern => ({ kind: "set", items, without });

/** The set that the pattern is, if it is one: a text of one character is. */
function asSet(pattern: Pattern): (Pattern & { kind: "set" }) | undefined {
  if (pattern.kind === "set") return pattern;
  if (pattern.kind !== "text" || [...pattern.text].length !== 1) return undefined;
  const code = pattern.text.codePointAt(0)!;
  return set([[code, code]]) as Pattern & { kind: "set" };
}

/** Single characters unite to a set: which of them matched decides nothing. */
function alternation(branches: readonly Pattern[]): Pattern {
  const sets = branches.map(asSet);
  if (sets.every((it) => it !== undefined && it.without.length === 0)) return set(sets.flatMap((it) => it!.items));
  return branches.length === 1 ? branches[0]! : { kind: "alt", branches };
}

/** `~(a | b)` is `~b ~a`; single characters come last, where the set that follows takes them in. */
function splitNegation(pattern: Pattern): Pattern[] {
  if (pattern.kind !== "look" || !pattern.isNegative || pattern.body.kind !== "alt") return [pattern];
  const { branches } = pattern.body;
  const chars = branches.filter((branch) => asSet(branch)?.without.length === 0);
  const others = branches.filter((branch) => !chars.includes(branch));
  const not = (branches: Pattern[]): Pattern[] =>
    branches.length === 0 ? [] : [{ kind: "look", body: alternation(branches), isNegative: true }];
  return [...not(others), ...not(chars)];
}

/** `~a ~b c`, where each is a set, is the set of c without a and b. */
function sequence(parts: readonly Pattern[]): Pattern {
  const merged: Pattern[] = [];
  for (const part of parts.toReversed()) {
    const next = merged.at(-1) && asSet(merged.at(-1)!);
    const excluded = part.kind === "look" && part.isNegative ? asSet(part.body) : undefined;
    if (next && excluded?.without.length === 0) {
      merged[merged.length - 1] = set(next.items, [...next.without, ...excluded.items]);
    } else {
      merged.push(part);
    }
  }
  return merged.length === 1 ? merged[0]! : { kind: "seq", parts: merged.reverse() };
}

function hasCapture(pattern: Pattern): boolean {
  if (pattern.kind === "capture") return true;
  if (pattern.kind === "seq") return pattern.parts.some(hasCapture);
  if (pattern.kind === "alt") return pattern.branches.some(hasCapture);
  return pattern.kind === "repeat" && hasCapture(pattern.body);
}

/** Whether a match may hold a line end, which an engine that reads line by line would not find. */
export function canMatchLineEnd(pattern: Pattern): boolean {
  const has = (items: readonly Item[]) => items.some((it) => typeof it !== "string" && it[0] <= 10 && it[1] >= 10);
  switch (pattern.kind) {
    case "set":
      return has(pattern.items) && !has(pattern.without);
    case "text":
      return pattern.text.includes("\n");
    case "seq":
      return pattern.parts.some(canMatchLineEnd);
    case "alt":
      return pattern.branches.some(canMatchLineEnd);
    case "look":
      return false;
    default:
      return canMatchLineEnd(pattern.body);
  }
}

/** A regular expression as text, and which rule each of its groups captures, in order; "" where a group is our own. */
export interface HighlightRegex {
  readonly source: string;
  readonly groups: readonly string[];
}

/** For JavaScript, with the flag "u" or "v". It has no atomic groups: a look-ahead that is then repeated is one. */
export const forJavaScript = (pattern: Pattern): HighlightRegex => print(pattern, javaScript);

/** For Oniguruma, which runs TextMate grammars. */
export const forOniguruma = (pattern: Pattern): HighlightRegex => print(pattern, oniguruma);

interface Dialect {
  /** A group that, once it has matched, is not entered again for another match. */
  atomic(body: (groups: string[]) => string, groups: string[]): string;
  character(code: number): string;
  /** Whether the engine's text can hold halves of surrogate pairs. */
  readonly hasSurrogates: boolean;
}

const javaScript: Dialect = {
  atomic(body, groups) {
    groups.push("");
    const number = groups.length;
    return `(?=(${body(groups)}))\\${number}`;
  },
  character: (code) => `\\u{${code.toString(16)}}`,
  hasSurrogates: true,
};

const oniguruma: Dialect = {
  atomic: (body, groups) => `(?>${body(groups)})`,
  character: (code) => `\\x{${code.toString(16)}}`,
  hasSurrogates: false,
};

function print(pattern: Pattern, dialect: Dialect): HighlightRegex {
  const groups: string[] = [];
  return { source: printed(pattern, true), groups };

  /** `isLast`: nothing follows that could fail, so there is nothing to come back for. */
  function printed(node: Pattern, isLast: boolean): string {
    switch (node.kind) {
      case "set":
        return printSet(node.items, node.without, dialect);
      case "text":
        return [...node.text].map((char) => printCharacter(char.codePointAt(0)!, dialect)).join("");
      case "seq":
        return node.parts.map((part, index) => printed(part, isLast && index === node.parts.length - 1)).join("");
      case "alt": {
        const body = () => node.branches.map((branch) => printed(branch, true)).join("|");
        return isLast ? `(?:${body()})` : dialect.atomic(body, groups);
      }
      case "repeat": {
        const body = () => `${printAtom(node.body)}${node.sign}`;
        return isLast ? body() : dialect.atomic(body, groups);
      }
      case "look":
        return `(?${node.isNegative ? "!" : "="}${printed(node.body, true)})`;
      case "capture": {
        const body = () => {
          groups.push(node.rule);
          return `(${printed(node.body, true)})`;
        };
        return isLast ? body() : dialect.atomic(body, groups);
      }
    }
  }

  /**
   * An expression that can be followed by a sign of repetition. An iteration is never given up: the whole is atomic, or
   * last.
   */
  function printAtom(node: Pattern): string {
    const text = printed(node, true);
    const isAtom = asSet(node)?.without.length === 0 || node.kind === "alt" || node.kind === "capture";
    return isAtom ? text : `(?:${text})`;
  }
}

function printSet(items: readonly Item[], without: readonly Item[], dialect: Dialect): string {
  const { ranges, categories } = normal(items, dialect);
  const not = normal(without, dialect);
  const isAny = ranges[0]?.[0] === 0 && ranges.at(-1)![1] === 0x10ffff && ranges.length <= 2;
  if (isAny) return `[^${printItems(not, dialect)}]`.replace(/^\[\^\]$/, "[\\s\\S]");
  const wanted = `[${printItems({ ranges, categories }, dialect)}]`;
  // An empty class: nothing matches.
  if (wanted === "[]") return "(?!)";
  if (not.ranges.length + not.categories.length === 0) return wanted;
  return `(?![${printItems(not, dialect)}])${wanted}`;
}

interface Items {
  readonly ranges: readonly (readonly [number, number])[];
  readonly categories: readonly string[];
}

/** Sorted, without what overlaps, and without surrogates where the engine knows none. */
function normal(items: readonly Item[], dialect: Dialect): Items {
  const all = items.flatMap((it): [number, number][] => {
    if (typeof it === "string") return [];
    const [from, to] = it;
    if (dialect.hasSurrogates || to < 0xd800 || from > 0xdfff) return [[from, to]];
    const halves: [number, number][] = [
      [from, 0xd7ff],
      [0xe000, to],
    ];
    return halves.filter(([first, last]) => first <= last);
  });
  const ranges: [number, number][] = [];
  for (const [from, to] of all.sort((a, b) => a[0] - b[0])) {
    const last = ranges.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else ranges.push([from, to]);
  }
  const categories = new Set(items.filter((it) => typeof it === "string"));
  return { ranges, categories: [...categories] };
}

function printItems({ ranges, categories }: Items, dialect: Dialect): string {
  const printed = ranges.map(([from, to]) => {
    if (from === to) return inClass(from, dialect);
    return `${inClass(from, dialect)}${to === from + 1 ? "" : "-"}${inClass(to, dialect)}`;
  });
  return [...printed, ...categories.map((category) => `\\p{${category}}`)].join("");
}

const inClass = (code: number, dialect: Dialect) => printCharacter(code, dialect, /[\\\]^[-]/);

function printCharacter(code: number, dialect: Dialect, special = /[\^$\\.*+?()[\]{}|]/): string {
  // Blanks, controls and characters beyond ASCII cannot be told apart by eye.
  if (code <= 0x20 || code >= 0x7f) return dialect.character(code);
  const char = String.fromCharCode(code);
  return special.test(char) ? `\\${char}` : char;
}
