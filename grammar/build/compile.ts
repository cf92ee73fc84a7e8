// Compiles an Ohm grammar to a specialised recursive-descent parser: one function a rule, no objects but the values that
// the actions make, the next character deciding between alternatives. It accepts exactly what Ohm accepts (see Ohm's
// syntax reference for the meaning of each expression); left recursion is refused here, at build time.
import type { Grammar } from "ohm-js";
import { all, type CharSet, isAll, matching, minus, none, range, union } from "./charset.ts";

/** How many parameters each action takes: 3 for (source, start, end), one more for each child value it wants. */
export type ActionLengths = Readonly<Record<string, number>>;

export interface CompileOptions {
  readonly grammar: Grammar;
  readonly actions: ActionLengths;
  /** The rules that a text can be parsed as; the generated module has a parser for each. */
  readonly starts: readonly string[];
  /** Rules that need no value, each with the reason: nothing reads what they match. */
  readonly withoutValue?: Readonly<Record<string, string>>;
  /** From the generated file to the module that exports `actions`. */
  readonly actionsPath: string;
  /** Named in the head of the generated file. */
  readonly grammarPath: string;
}

/**
 * The source of a TypeScript module with `parsers.<start>(source)`, which answer the start rule's value, or `NO_MATCH`.
 *
 * The value of a rule is what its action returns. A rule without an action has its only child's value. A rule that has
 * neither is refused where a value is wanted, unless `withoutValue` says why none is needed. In an action, a repetition
 * is an array, an option its value or undefined, a terminal undefined.
 */
export function compileGrammar(options: CompileOptions): string {
  const { starts, actionsPath, grammarPath } = options;
  const compiler = new Compiler(options);
  const entries = starts.map((start) => {
    const skip = isSyntactic(start) ? "skip();\n" : "";
    return `  ${start}(source, from = 0, to = source.length) {
    // The text is cut at \`to\`, so that matching need not look where it ends.
    src = to === source.length ? source : source.slice(0, to);
    pos = from;
    len = to;
    forget();
    ${skip}const value = ${compiler.call(start, [], true)};
    if (value === NO_MATCH) return NO_MATCH;
    ${skip}return pos === len ? value : NO_MATCH;
  },`;
  });
  return `// Made from ${grammarPath} by grammar/build. Do not edit.
// @ts-nocheck
import { actions } from ${JSON.stringify(actionsPath)};

/** The answer of a parser to a text that the grammar does not accept. */
export const NO_MATCH: unique symbol = Symbol("no match");

/** Each start rule's value over source[from, to), or NO_MATCH. Spans point into \`source\`. */
export const parsers: Readonly<Record<${starts.map((start) => JSON.stringify(start)).join(" | ")}, (source: string, from?: number, to?: number) => unknown>> = {
${entries.join("\n")}
};

let src = "";
let pos = 0;
let len = 0;

${compiler.finish()}`;
}

// The parts of Ohm's compiled grammar that are read here; its types do not export them.
export interface OhmGrammar {
  readonly name: string;
  readonly defaultStartRule: string;
  readonly rules: Readonly<Record<string, { readonly body: GrammarExpr; readonly formals: readonly string[] }>>;
}

export interface GrammarExpr {
  readonly constructor: { readonly name: string };
  readonly obj?: string;
  readonly from?: string;
  readonly to?: string;
  readonly matchCodePoint?: boolean;
  readonly index?: number;
  readonly terms?: readonly GrammarExpr[];
  readonly factors?: readonly GrammarExpr[];
  readonly expr?: GrammarExpr;
  readonly ruleName?: string;
  readonly args?: readonly GrammarExpr[];
  readonly pattern?: RegExp;
  getArity(): number;
  substituteParams(actuals: readonly GrammarExpr[]): GrammarExpr;
  isNullable(grammar: OhmGrammar): boolean;
  toString(): string;
}

type Kind =
  | "any"
  | "end"
  | "Terminal"
  | "CaseInsensitiveTerminal"
  | "Range"
  | "UnicodeChar"
  | "Alt"
  | "Seq"
  | "Star"
  | "Plus"
  | "Opt"
  | "Not"
  | "Lookahead"
  | "Lex"
  | "Apply";

interface Context {
  readonly isSyntactic: boolean;
  /** Whether values are wanted; a recogniser only moves. */
  readonly wantsValue: boolean;
}

export const isSyntactic = (ruleName: string) => /^\p{Lu}/u.test(ruleName);

class Compiler {
  readonly #grammar: OhmGrammar;
  readonly #actions: ActionLengths;
  readonly #functions = new Map<string, string>();
  readonly #queue: (() => void)[] = [];
  readonly #tables = new Map<string, string>();
  /** How often each function is called, and which of them may remember their last result. */
  readonly #calls = new Map<string, number>();
  readonly #memoizable = new Set<string>();
  readonly #options: CompileOptions;
  /** Rules without a value of which one is wanted. */
  readonly #valueless = new Set<string>();
  #labels = 0;

  constructor(options: CompileOptions) {
    this.#grammar = options.grammar as unknown as OhmGrammar;
    this.#actions = options.actions;
    this.#options = options;
    for (const name of Object.keys(this.#actions)) {
      if (!this.#grammar.rules[name]) throw new Error(`there is an action for "${name}", but no such rule`);
    }
  }

  /** A call of a rule's function: an expression that is the value or NO_MATCH, for a recogniser true or false. */
  call(ruleName: string, args: readonly GrammarExpr[], wantsValue: boolean): string {
    const suffix = args.length > 0 ? `_${args.map((arg) => arg.toString()).join("_")}` : "";
    const name = `${wantsValue ? "v" : "r"}_${(ruleName + suffix).replace(/[^\w]/g, (c) => `$${c.charCodeAt(0).toString(16)}`)}`;
    this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1);
    if (!this.#functions.has(name)) {
      this.#functions.set(name, "");
      if (wantsValue && !isSyntactic(ruleName)) this.#memoizable.add(name);
      this.#queue.push(() => this.#functions.set(name, this.#rule(name, ruleName, args, wantsValue)));
    }
    return `${name}()`;
  }

  /** The source of all functions and tables that the calls asked for. */
  finish(): string {
    const skip = SKIP.replace("SPACES", this.#skipLoop());
    for (let work = this.#queue.shift(); work; work = this.#queue.shift()) work();
    this.#refuseWithoutValue();
    this.#refuseUnused();
    const tables = [...this.#tables].map(([source, name]) => `const ${name} = ${source};`);
    return [...tables, skip, ...this.#remembering(), ...this.#functions.values()].join("\n\n").concat("\n");
  }

  /**
   * Several alternatives that begin with the same token read it again and again at one place. Each such token function
   * remembers its last result; `forget` is called before every parse.
   */
  #remembering(): string[] {
    const names = [...this.#memoizable].filter((name) => this.#calls.get(name)! > 1);
    const wrappers = names.map((name) => {
      this.#functions.set(
        name,
        this.#functions.get(name)!.replace(`function ${name}() {`, `function ${name}$read() {`),
      );
      return `let ${name}$at = -1, ${name}$end = 0, ${name}$value;
function ${name}() {
if (${name}$at === pos) {
if (${name}$value !== NO_MATCH) pos = ${name}$end;
return ${name}$value;
}
const at = pos;
const value = ${name}$read();
${name}$at = at;
${name}$end = pos;
${name}$value = value;
return value;
}`;
    });
    return [
      ...wrappers,
      `function forget() {\n${names.map((name) => `${name}$at = -1; ${name}$value = undefined;`).join("\n")}\n}`,
    ];
  }

  #rule(name: string, ruleName: string, args: readonly GrammarExpr[], wantsValue: boolean): string {
    const body = this.#body(ruleName, args);
    this.#refuseLeftRecursion(ruleName, args);
    const length = this.#actions[ruleName];
    const head = `/** ${ruleName} = ${oneLine(body)} */\nfunction ${name}() {`;
    const fail = wantsValue ? "return NO_MATCH;" : "return false;";
    if (!wantsValue || (length !== undefined && length <= 3)) {
      const { code } = this.#expr(body, { isSyntactic: isSyntactic(ruleName), wantsValue: false }, fail);
      const done = wantsValue ? `return actions.${ruleName}(src, start, pos);` : "return true;";
      return `${head}\n${wantsValue ? "const start = pos;\n" : ""}${code}\n${done}\n}`;
    }
    const { code, values } = this.#expr(body, { isSyntactic: isSyntactic(ruleName), wantsValue: true }, fail);
    if (length === undefined) return `${head}\n${code}\nreturn ${values[0] ?? "undefined"};\n}`;
    if (values.length !== length - 3) {
      throw new Error(`the action of "${ruleName}" takes ${length - 3} children, the rule has ${values.length}`);
    }
    return `${head}\nconst start = pos;\n${code}\nreturn actions.${ruleName}(src, start, pos${values.map((v) => `, ${v}`).join("")});\n}`;
  }

  #body(ruleName: string, args: readonly GrammarExpr[]): GrammarExpr {
    const rule = this.#grammar.rules[ruleName];
    if (!rule) throw new Error(`no rule "${ruleName}"`);
    return args.length > 0 ? rule.body.substituteParams(args) : rule.body;
  }

  /** Whether an application has a value: an action of its own, or a single child that has one. */
  #hasValue(ruleName: string, args: readonly GrammarExpr[], seen: readonly string[] = []): boolean {
    if (this.#actions[ruleName] !== undefined) return true;
    const key = `${ruleName}<${args.join()}>`;
    if (seen.includes(key)) return false;
    const body = this.#body(ruleName, args);
    return body.getArity() === 1 && this.#yields(body, [...seen, key]);
  }

  #yields(expr: GrammarExpr, seen: readonly string[]): boolean {
    switch (exprKind(expr)) {
      case "Apply":
        return this.#hasValue(expr.ruleName!, expr.args!, seen);
      case "Alt":
        return expr.terms!.some((term) => this.#yields(term, seen));
      case "Seq":
        return expr.factors!.some((factor) => this.#yields(factor, seen));
      case "Star":
      case "Plus":
      case "Opt":
      case "Lookahead":
      case "Lex":
        return this.#yields(expr.expr!, seen);
      default:
        return false;
    }
  }

  /**
   * Code that matches `expr` at `pos` and advances it, or runs `fail`; `pos` may then be anywhere, and the code after `fail`
   * restores it. The values are the names of variables declared by the code, one for each of the expression's children.
   */
  #expr(expr: GrammarExpr, context: Context, fail: string): { code: string; values: string[] } {
    const skip = context.isSyntactic ? "skip();\n" : "";
    const nothing = (code: string) => ({ code, values: context.wantsValue ? ["undefined"] : [] });
    const kind = exprKind(expr);

    const set =
      kind === "Apply" ||
      kind === "Seq" ||
      kind === "Alt" ||
      kind === "Range" ||
      kind === "UnicodeChar" ||
      kind === "any"
        ? this.#charSet(expr, context)
        : undefined;
    if (set && (!context.wantsValue || !this.#yields(expr, []))) {
      const code = `${skip}${this.#oneOf(set, fail)}`;
      return { code, values: context.wantsValue ? new Array(expr.getArity()).fill("undefined") : [] };
    }

    switch (kind) {
      case "any":
        return nothing(`${skip}${this.#oneOf(all, fail)}`);
      case "end":
        return nothing(`${skip}if (pos !== len) ${fail}`);
      case "Terminal":
        return nothing(`${skip}${this.#terminal(expr.obj!, fail)}`);
      case "Range": {
        const unit = this.#name("c");
        const outside = `!(${unit} >= ${expr.from!.charCodeAt(0)} && ${unit} <= ${expr.to!.charCodeAt(0)})`;
        return nothing(`${skip}const ${unit} = next();\nif (${outside}) ${fail}\npos++;`);
      }
      case "Apply": {
        const isBuiltInTerminal =
          exprKind(this.#body(expr.ruleName!, expr.args!)) === "end" && !this.#actions[expr.ruleName!];
        if (isBuiltInTerminal) return nothing(`${skip}if (pos !== len) ${fail}`);
        if (!context.wantsValue)
          return { code: `${skip}if (!${this.call(expr.ruleName!, expr.args!, false)}) ${fail}`, values: [] };
        if (!this.#hasValue(expr.ruleName!, expr.args!)) {
          this.#valueless.add(expr.ruleName!);
          return nothing(`${skip}if (!${this.call(expr.ruleName!, expr.args!, false)}) ${fail}`);
        }
        const value = this.#name("x");
        return {
          code: `${skip}const ${value} = ${this.call(expr.ruleName!, expr.args!, true)};\nif (${value} === NO_MATCH) ${fail}`,
          values: [value],
        };
      }
      case "Seq": {
        const parts = expr.factors!.map((factor) => this.#expr(factor, context, fail));
        return { code: parts.map((part) => part.code).join("\n"), values: parts.flatMap((part) => part.values) };
      }
      case "Lex":
        return this.#expr(expr.expr!, { ...context, isSyntactic: false }, fail);
      case "Alt":
        return this.#alternatives(expr, context, fail);
      case "Star":
      case "Plus":
        return this.#repetition(expr, kind, context, fail);
      case "Opt": {
        const label = this.#name("o");
        const before = this.#name("p");
        const inner = this.#expr(expr.expr!, context, `break ${label};`);
        const outs = context.wantsValue ? inner.values.map(() => this.#name("y")) : [];
        const assign = outs.map((out, i) => `${out} = ${inner.values[i]};`).join(" ");
        const done = this.#name("d");
        return {
          code: `${outs.map((out) => `let ${out};`).join(" ")}
const ${before} = pos;
${done}: { ${label}: {
${inner.code}
${assign}
break ${done};
}
pos = ${before};
}`,
          values: outs,
        };
      }
      case "Not": {
        const label = this.#name("n");
        const before = this.#name("p");
        const inner = this.#expr(expr.expr!, { ...context, wantsValue: false }, `break ${label};`);
        return { code: `const ${before} = pos;\n${label}: {\n${inner.code}\n${fail}\n}\npos = ${before};`, values: [] };
      }
      case "Lookahead": {
        const before = this.#name("p");
        const inner = this.#expr(expr.expr!, context, fail);
        return { code: `const ${before} = pos;\n${inner.code}\npos = ${before};`, values: inner.values };
      }
      default:
        throw new Error(`cannot compile ${kind}: ${oneLine(expr)}`);
    }
  }

  #alternatives(expr: GrammarExpr, context: Context, fail: string): { code: string; values: string[] } {
    const done = this.#name("a");
    const before = this.#name("p");
    const next = this.#name("c");
    const outs = context.wantsValue ? new Array(expr.getArity()).fill("").map(() => this.#name("y")) : [];
    let usesNext = false;
    const branches = expr.terms!.map((term) => {
      const label = this.#name("b");
      const inner = this.#expr(term, context, `break ${label};`);
      const assign = outs.map((out, i) => `${out} = ${inner.values[i]};`).join(" ");
      const first = this.#first(term, context, []);
      const guard = first === undefined || isAll(first) ? "" : `if (${this.#test(first, next)}) `;
      if (guard) usesNext = true;
      return `${guard}${label}: {\n${inner.code}\n${assign}\nbreak ${done};\n}\npos = ${before};`;
    });
    // Space is skipped once to look at the next character; each branch starts where the choice did.
    const look = context.isSyntactic ? `skip();\nconst ${next} = next();\n` : `const ${next} = next();\n`;
    return {
      code: `${outs.length > 0 ? `let ${outs.join(", ")};\n` : ""}const ${before} = pos;\n${usesNext ? look : ""}${done}: {\n${branches.join("\n")}\n${fail}\n}`,
      values: outs,
    };
  }

  #repetition(
    expr: GrammarExpr,
    kind: "Star" | "Plus",
    context: Context,
    fail: string,
  ): { code: string; values: string[] } {
    const inner = expr.expr!;
    const set = this.#charSet(inner, context);
    if (set && !context.isSyntactic && (!context.wantsValue || !this.#yields(inner, []))) {
      const begin = this.#name("p");
      const atLeastOne = kind === "Plus" ? `\nif (pos === ${begin}) ${fail}` : "";
      const start = kind === "Plus" ? `const ${begin} = pos;\n` : "";
      return {
        code: `${start}${this.#run(set)}${atLeastOne}`,
        values: context.wantsValue ? new Array(expr.getArity()).fill("undefined") : [],
      };
    }
    const label = this.#name("i");
    const before = this.#name("p");
    const count = this.#name("k");
    const part = this.#expr(inner, context, `break ${label};`);
    const lists = context.wantsValue ? part.values.map(() => this.#name("l")) : [];
    const push = lists.map((list, i) => `${list}.push(${part.values[i]});`).join(" ");
    const declare = lists.map((list) => `const ${list} = [];`).join(" ");
    return {
      code: `${declare}${kind === "Plus" ? ` let ${count} = 0;` : ""}
for (;;) {
const ${before} = pos;
${label}: {
${part.code}
${push}${kind === "Plus" ? ` ${count}++;` : ""}
continue;
}
pos = ${before};
break;
}${kind === "Plus" ? `\nif (${count} === 0) ${fail}` : ""}`,
      values: lists,
    };
  }

  #terminal(text: string, fail: string): string {
    if (text.length === 0) return "";
    // Past the end charCodeAt gives NaN, which is not a code.
    const codes = text.split("").map((c, i) => `src.charCodeAt(pos${i ? ` + ${i}` : ""}) !== ${c.charCodeAt(0)}`);
    const test = codes.length <= 2 ? codes.join(" || ") : `!src.startsWith(${JSON.stringify(text)}, pos)`;
    return `if (${test}) ${fail}\npos += ${text.length};`;
  }

  /** Moves over one character of the set. */
  #oneOf(set: CharSet, fail: string): string {
    if (set.beyond === "false") {
      const next = this.#name("c");
      return `const ${next} = next();\nif (!(${this.#test(set, next)})) ${fail}\npos++;`;
    }
    const step = this.#table("step", set);
    const moved = this.#name("m");
    return `const ${moved} = ${step}(pos);\nif (${moved} === 0) ${fail}\npos += ${moved};`;
  }

  /** Moves over all characters of the set that follow. */
  #run(set: CharSet): string {
    const flags = this.#table("flags", set);
    if (set.beyond === "false") return `while (pos < len && ${flags}[src.charCodeAt(pos)] === 1) pos++;`;
    const step = this.#table("step", set);
    const next = this.#name("c");
    const moved = this.#name("m");
    return `while (pos < len) {
const ${next} = src.charCodeAt(pos);
if (${next} < 128) { if (${flags}[${next}] === 0) break; pos++; continue; }
const ${moved} = ${step}(pos);
if (${moved} === 0) break;
pos += ${moved};
}`;
  }

  /** An expression that is true if the character code in `name` (-1 at the end) may begin a member of the set. */
  #test(set: CharSet, name: string): string {
    const codes = set.ascii.flatMap((has, code) => (has ? [code] : []));
    const beyond = set.beyond === "false" ? "" : `${name} >= 128`;
    if (codes.length <= 4)
      return [...codes.map((code) => `${name} === ${code}`), ...(beyond ? [beyond] : [])].join(" || ") || "false";
    const isRun = codes.at(-1)! - codes[0]! === codes.length - 1;
    const ascii = isRun
      ? `(${name} >= ${codes[0]} && ${name} <= ${codes.at(-1)})`
      : `${this.#table("flags", set)}[${name}] === 1`;
    return beyond ? `${beyond} || ${ascii}` : ascii;
  }

  #table(kind: "flags" | "step", set: CharSet): string {
    const bits = set.ascii.map((has) => (has ? 1 : 0)).join("");
    const flags = `Uint8Array.from("${bits}", Number)`;
    if (kind === "flags") return this.#constant(flags, "T");
    const table = this.#constant(flags, "T");
    return this.#constant(
      `(at) => { if (at >= len) return 0; const cp = src.codePointAt(at); return (cp < 128 ? ${table}[cp] === 1 : ${set.beyond}) ? (cp > 0xffff ? 2 : 1) : 0; }`,
      "S",
    );
  }

  #constant(source: string, prefix: string): string {
    let name = this.#tables.get(source);
    if (name === undefined) {
      name = `${prefix}${this.#tables.size}`;
      this.#tables.set(source, name);
    }
    return name;
  }

  /** The set of characters that `expr` matches, where it matches exactly one character; undefined for all else. */
  #charSet(expr: GrammarExpr, context: Context, seen: readonly string[] = []): CharSet | undefined {
    switch (exprKind(expr)) {
      case "any":
        return all;
      case "Terminal":
        // Half of a surrogate pair is not a code point.
        return expr.obj!.length === 1 && !/[\ud800-\udfff]/.test(expr.obj!)
          ? range(expr.obj!.charCodeAt(0), expr.obj!.charCodeAt(0))
          : undefined;
      case "Range": {
        const from = expr.from!.codePointAt(0)!;
        const to = expr.to!.codePointAt(0)!;
        // A range of code units matches half of a surrogate pair; that is not a set of code points.
        return expr.matchCodePoint || to < 0xd800 || from > 0xdfff ? range(from, to) : undefined;
      }
      case "UnicodeChar":
        return matching(expr.pattern!);
      case "Alt": {
        // In a syntactic rule every alternative skips spaces for itself; the sets still unite.
        const sets = expr.terms!.map((term) => this.#charSet(term, context, seen));
        return sets.every((set) => set !== undefined) ? sets.reduce<CharSet>((a, b) => union(a, b!), none) : undefined;
      }
      case "Seq": {
        if (context.isSyntactic || expr.factors!.length === 0) return undefined;
        // ~x y: y without x.
        const last = this.#charSet(expr.factors!.at(-1)!, context, seen);
        let set = last;
        for (const factor of expr.factors!.slice(0, -1)) {
          const not = exprKind(factor) === "Not" ? this.#charSet(factor.expr!, context, seen) : undefined;
          if (not === undefined || set === undefined) return undefined;
          set = minus(set, not);
        }
        return set;
      }
      case "Lex":
        return context.isSyntactic ? undefined : this.#charSet(expr.expr!, context, seen);
      case "Apply": {
        const key = `${expr.ruleName}<${expr.args!.join()}>`;
        if (seen.includes(key)) return undefined;
        if (isSyntactic(expr.ruleName!)) return undefined;
        const body = this.#body(expr.ruleName!, expr.args!);
        return this.#charSet(body, { isSyntactic: false, wantsValue: false }, [...seen, key]);
      }
      default:
        return undefined;
    }
  }

  /** The characters that `expr` can begin with (spaces skipped), undefined if it can match without one. */
  #first(expr: GrammarExpr, context: Context, seen: readonly string[]): CharSet | undefined {
    const exact = this.#charSet(expr, context);
    if (exact) return exact;
    switch (exprKind(expr)) {
      case "Terminal": {
        if (expr.obj!.length === 0) return undefined;
        const code = expr.obj!.codePointAt(0)!;
        return range(code, code);
      }
      case "Range":
        return all;
      case "Alt": {
        let set: CharSet = none;
        for (const term of expr.terms!) {
          const first = this.#first(term, context, seen);
          if (first === undefined) return undefined;
          set = union(set, first);
        }
        return set;
      }
      case "Seq": {
        for (const factor of expr.factors!) {
          const kind = exprKind(factor);
          if (kind === "Not" || kind === "Lookahead") continue;
          if (kind === "Opt" || kind === "Star") {
            // If this factor is absent, the next one begins: not worth the union here.
            return undefined;
          }
          return this.#first(factor, context, seen);
        }
        return undefined;
      }
      case "Plus":
      case "Lex":
        return this.#first(expr.expr!, context, seen);
      case "Apply": {
        const key = `${expr.ruleName}<${expr.args!.join()}>`;
        if (seen.includes(key)) return undefined;
        // A syntactic rule in a lexical place skips spaces that nobody has skipped before.
        if (isSyntactic(expr.ruleName!) && !context.isSyntactic) return undefined;
        const inner = { isSyntactic: isSyntactic(expr.ruleName!), wantsValue: false };
        // A lexical rule inside a syntactic one may itself begin with spaces; those it takes unskipped.
        return this.#first(this.#body(expr.ruleName!, expr.args!), inner, [...seen, key]);
      }
      default:
        return undefined;
    }
  }

  #skipLoop(): string {
    const set = this.#charSet(this.#grammar.rules.space!.body, { isSyntactic: false, wantsValue: false });
    if (!set) return `while (${this.call("space", [], false)}) ;`;
    return this.#run(set);
  }

  /** The value would silently be undefined, as that of a rule which was added without its action. */
  #refuseWithoutValue(): void {
    const { starts, withoutValue = {}, actionsPath, grammarPath } = this.#options;
    for (const name of starts) if (!this.#hasValue(name, [])) this.#valueless.add(name);
    for (const name of this.#valueless) {
      if (Object.hasOwn(withoutValue, name)) continue;
      throw new Error(
        `the rule "${name}" of the grammar ${this.#grammar.name} (${grammarPath}) has no value: write its action in ` +
          `${actionsPath}, or the reason why it needs none in withoutValue there`,
      );
    }
    for (const name of Object.keys(withoutValue)) {
      if (this.#valueless.has(name)) continue;
      throw new Error(`withoutValue in ${actionsPath} names "${name}" for no reason: no value of it is wanted`);
    }
  }

  #refuseUnused(): void {
    const { starts, grammarPath } = this.#options;
    const used = new Set<string>([...starts, "space"]);
    const visit = (expr: GrammarExpr): void => {
      if (expr.ruleName !== undefined) used.add(expr.ruleName);
      for (const part of [...(expr.terms ?? []), ...(expr.factors ?? []), ...(expr.args ?? [])]) visit(part);
      if (expr.expr !== undefined) visit(expr.expr);
    };
    // A set grows while it is read.
    for (const name of used) visit(this.#body(name, []));
    const unused = Object.keys(this.#grammar.rules).find((name) => !used.has(name));
    if (unused === undefined) return;
    throw new Error(`no rule uses the rule "${unused}" of the grammar ${this.#grammar.name} (${grammarPath})`);
  }

  #refuseLeftRecursion(ruleName: string, args: readonly GrammarExpr[]): void {
    const target = `${ruleName}<${args.join()}>`;
    const visit = (expr: GrammarExpr, seen: Set<string>): void => {
      switch (exprKind(expr)) {
        case "Apply": {
          const key = `${expr.ruleName}<${expr.args!.join()}>`;
          if (key === target) throw new Error(`"${ruleName}" is left-recursive: write it as a list`);
          if (seen.has(key)) return;
          seen.add(key);
          visit(this.#body(expr.ruleName!, expr.args!), seen);
          return;
        }
        case "Alt":
          for (const term of expr.terms!) visit(term, seen);
          return;
        case "Seq":
          for (const factor of expr.factors!) {
            visit(factor, seen);
            const kind = exprKind(factor);
            if (
              kind !== "Not" &&
              kind !== "Lookahead" &&
              kind !== "Opt" &&
              kind !== "Star" &&
              !factor.isNullable(this.#grammar)
            )
              return;
          }
          return;
        case "Star":
        case "Plus":
        case "Opt":
        case "Not":
        case "Lookahead":
        case "Lex":
          visit(expr.expr!, seen);
      }
    };
    visit(this.#body(ruleName, args), new Set());
  }

  #name(prefix: string): string {
    return `${prefix}${++this.#labels}`;
  }
}

const SKIP = `/** The code of the next character; -1 at the end. */
function next() {
return pos < len ? src.charCodeAt(pos) : -1;
}

function skip() {
SPACES
}`;

const oneLine = (expr: GrammarExpr) => expr.toString().replace(/\s+/g, " ").replaceAll("*/", "* /").slice(0, 200);

export function exprKind(expr: GrammarExpr): Kind {
  // Extend and Splice are alternations; `any` and `end` are plain objects.
  const name = expr.constructor.name;
  if (name === "Extend" || name === "Splice") return "Alt";
  if (name === "PExpr" || name === "Object") return expr.toString() === "end" ? "end" : "any";
  return name as Kind;
}
