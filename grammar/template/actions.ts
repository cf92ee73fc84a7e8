import type { Expr, Name } from "./ast.ts";
import type { TemplatePart, TemplateToken } from "./parts.ts";

/** The meaning of each rule of template.ohm, as in grammar/query/actions.ts. */
export const actions = {
  part_closed: (_source: string, _start: number, _end: number, part: TemplatePart, _rest: undefined) => part,
  action: (
    _source: string,
    start: number,
    end: number,
    _open: undefined,
    _gap: undefined[],
    statement: Statement,
    _close: undefined,
  ): TemplatePart => ({ kind: "action", ...statement, span: { start, end } }),
  malformed: (
    _source: string,
    start: number,
    end: number,
    _open: undefined,
    tokens: (TemplateToken | undefined)[],
    _close: undefined,
  ): TemplatePart => ({ kind: "malformed", tokens: withoutGaps(tokens), span: { start, end } }),
  unclosed: (
    _source: string,
    start: number,
    end: number,
    _open: undefined,
    tokens: (TemplateToken | undefined)[],
    _rest: undefined[],
  ): TemplatePart => ({ kind: "unclosed", tokens: withoutGaps(tokens), span: { start, end } }),

  ifAction: (_s: string, _start: number, _end: number, _if: undefined, _gap: undefined[], expr: Expr) =>
    statement("if", expr),
  elseIfAction: (
    _source: string,
    _start: number,
    _end: number,
    _else: undefined,
    _gap: undefined[],
    _if: undefined,
    _gap2: undefined[],
    expr: Expr,
  ) => statement("elseIf", expr),
  elseAction: (_source: string, _start: number, _end: number) => statement("else", undefined),
  withAction: (_s: string, _start: number, _end: number, _with: undefined, _gap: undefined[], expr: Expr) =>
    statement("with", expr),
  endAction: (_source: string, _start: number, _end: number) => statement("end", undefined),
  outputAction: (_source: string, _start: number, _end: number, expr: Expr) => statement("output", expr),

  call: (_source: string, start: number, end: number, name: Name, args: Expr[]): Expr => ({
    kind: "call",
    name,
    args,
    span: { start, end },
  }),
  spaced: (_source: string, _start: number, _end: number, _gap: undefined[], operand: Expr) => operand,
  group: (
    _source: string,
    _start: number,
    _end: number,
    _open: undefined,
    _gap: undefined[],
    expr: Expr,
    _gap2: undefined[],
    _close: undefined,
  ) => expr,
  string: (source: string, start: number, end: number): Expr => ({
    kind: "constant",
    value: unquote(source.slice(start, end)),
    span: { start, end },
  }),
  number: (source: string, start: number, end: number): Expr => ({
    kind: "constant",
    value: Number(source.slice(start, end)),
    span: { start, end },
  }),
  constant: (source: string, start: number, end: number): Expr => {
    const word = source.slice(start, end);
    return { kind: "constant", value: word === "nil" ? null : word === "true", span: { start, end } };
  },
  fields: (_source: string, start: number, end: number, names: Name[]) => path(start, end, false, names),
  rootFields: (_source: string, start: number, end: number, _root: undefined, names: Name[]) =>
    path(start, end, true, names),
  root: (_source: string, start: number, end: number) => path(start, end, true, []),
  dot: (_source: string, start: number, end: number) => path(start, end, false, []),
  /** A name with the dot before it. */
  field: (source: string, start: number, end: number): Name => ({
    text: source.slice(start + 1, end),
    span: { start, end },
  }),
  name: (source: string, start: number, end: number): Name => ({
    text: source.slice(start, end),
    span: { start, end },
  }),

  /** In a broken action strings, numbers and paths are tokens as all else. */
  loose: (
    source: string,
    start: number,
    end: number,
    it: TemplateToken | Expr | undefined,
  ): TemplateToken | undefined => {
    if (it?.kind === "constant") return token(typeof it.value as "string" | "number", source, start, end);
    if (it?.kind === "path") return token("path", source, start, end);
    return it as TemplateToken | undefined;
  },
  badString: (source: string, start: number, end: number) => token("badString", source, start, end),
  word: (source: string, start: number, end: number) => token("word", source, start, end),
  symbol: (source: string, start: number, end: number) => token("symbol", source, start, end),
};

/** Rules that have neither an action nor a child whose value they pass on, each with the reason. */
export const withoutValue = {
  open: "only begins an action",
  closing: "only ends an action",
  keyword: "the rule that names it knows which one it is",
};

interface Statement {
  readonly statement: "if" | "elseIf" | "else" | "with" | "end" | "output";
  readonly expr: Expr | undefined;
}

function statement(name: Statement["statement"], expr: Expr | undefined): Statement {
  return { statement: name, expr };
}

function path(start: number, end: number, fromRoot: boolean, names: readonly Name[]): Expr {
  return { kind: "path", fromRoot, names, span: { start, end } };
}

function token(kind: TemplateToken["kind"], source: string, start: number, end: number): TemplateToken {
  return { kind, text: source.slice(start, end), span: { start, end } };
}

/** White space has no token. */
function withoutGaps(tokens: readonly (TemplateToken | undefined)[]): TemplateToken[] {
  return tokens.filter((it) => it !== undefined);
}

function unquote(text: string): string {
  if (text.startsWith("`")) return text.slice(1, -1);
  const controls: Record<string, string> = { n: "\n", r: "\r", t: "\t" };
  return text.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, hex: string | undefined, character: string) => {
    return hex === undefined ? (controls[character] ?? character) : String.fromCharCode(Number.parseInt(hex, 16));
  });
}
