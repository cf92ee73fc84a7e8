import type { Node, Semantics } from "ohm-js";
import type { Span } from "../problem.ts";
import type { Expr, Name } from "./ast.ts";
import { loadGrammar } from "./template.generated.ts";

/** What stands between double braces. */
export type Part = ActionPart | BrokenPart;

export interface ActionPart {
  readonly kind: "action";
  readonly statement: "if" | "elseIf" | "else" | "with" | "end" | "output";
  /** What `if`, `else if`, `with` and output are about. */
  readonly expr: Expr | undefined;
  readonly span: Span;
}

/** What starts like an action and is none; `tokens` without white space. */
export interface BrokenPart {
  readonly kind: "malformed" | "unclosed";
  readonly tokens: readonly Token[];
  readonly span: Span;
}

export interface Token {
  readonly kind: "string" | "badString" | "number" | "word" | "path" | "symbol";
  readonly text: string;
  readonly span: Span;
}

/** Reads an action, from its opening braces at `start`. The grammar refuses none. */
export function readAction(source: string, { start, end }: Span): Part {
  semantics ??= addOperations(loadGrammar().createSemantics());
  const match = loadGrammar().match(source.slice(start, end));
  if (match.failed()) throw new Error(`the grammar of templates refuses ${JSON.stringify(source.slice(start, end))}`);
  return semantics(match).part(start);
}

// Made on the first call, as the grammar is.
let semantics: Semantics | undefined;

/** Every operation takes the offset of the action in the template. */
function addOperations(made: Semantics): Semantics {
  made.addOperation<Part>("part(base)", {
    part_closed(part, _end) {
      return part.part(this.args.base);
    },
    action(_open, _gap, statement, _close) {
      const it = statement.child(0);
      const kind = it.ctorName.replace("Action", "") as ActionPart["statement"];
      const { base } = this.args;
      return { kind: "action", statement: kind, expr: it.about(base), span: spanOf(this, base) };
    },
    malformed(_open, tokens, _close) {
      const { base } = this.args;
      return { kind: "malformed", tokens: tokensOf(tokens, base), span: spanOf(this, base) };
    },
    unclosed(_open, tokens, _rest) {
      const { base } = this.args;
      return { kind: "unclosed", tokens: tokensOf(tokens, base), span: spanOf(this, base) };
    },
  });

  made.addOperation<Expr | undefined>("about(base)", {
    ifAction(_if, _gap, pipeline) {
      return pipeline.expr(this.args.base);
    },
    elseIfAction(_else, _gap, _if, _gap2, pipeline) {
      return pipeline.expr(this.args.base);
    },
    elseAction: (_else) => undefined,
    withAction(_with, _gap, pipeline) {
      return pipeline.expr(this.args.base);
    },
    endAction: (_end) => undefined,
    outputAction(pipeline) {
      return pipeline.expr(this.args.base);
    },
  });

  made.addOperation<Expr>("expr(base)", {
    call(name, args) {
      const { base } = this.args;
      const made = args.children.map((arg) => arg.expr(base));
      return { kind: "call", name: nameOf(name, base), args: made, span: spanOf(this, base) };
    },
    spaced(_gap, operand) {
      return operand.expr(this.args.base);
    },
    group(_open, _gap, pipeline, _gap2, _close) {
      return pipeline.expr(this.args.base);
    },
    string(_quoted) {
      return { kind: "constant", value: unquote(this.sourceString), span: spanOf(this, this.args.base) };
    },
    number(_minus, _digits, _point, _fraction) {
      return { kind: "constant", value: Number(this.sourceString), span: spanOf(this, this.args.base) };
    },
    constant(_word) {
      const word = this.sourceString;
      return { kind: "constant", value: word === "nil" ? null : word === "true", span: spanOf(this, this.args.base) };
    },
    fields(fields) {
      return pathOf(this, fields.children, false, this.args.base);
    },
    rootFields(_root, fields) {
      return pathOf(this, fields.children, true, this.args.base);
    },
    root(_root) {
      return pathOf(this, [], true, this.args.base);
    },
    dot(_dot) {
      return pathOf(this, [], false, this.args.base);
    },
  });
  return made;
}

function spanOf(node: Node, base: number): Span {
  return { start: base + node.source.startIdx, end: base + node.source.endIdx };
}

/** A name, with or without the dot before it. */
function nameOf(node: Node, base: number): Name {
  return { text: node.sourceString.replace(".", ""), span: spanOf(node, base) };
}

function pathOf(node: Node, fields: readonly Node[], fromRoot: boolean, base: number): Expr {
  return { kind: "path", fromRoot, names: fields.map((field) => nameOf(field, base)), span: spanOf(node, base) };
}

function tokensOf(tokens: Node, base: number): Token[] {
  return tokens.children.flatMap((looseToken) => {
    const it = looseToken.child(0).child(0);
    if (it.ctorName === "gap") return [];
    return [{ kind: it.ctorName as Token["kind"], text: it.sourceString, span: spanOf(it, base) }];
  });
}

function unquote(text: string): string {
  if (text.startsWith("`")) return text.slice(1, -1);
  const controls: Record<string, string> = { n: "\n", r: "\r", t: "\t" };
  return text.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, hex: string | undefined, character: string) => {
    return hex === undefined ? (controls[character] ?? character) : String.fromCharCode(Number.parseInt(hex, 16));
  });
}
