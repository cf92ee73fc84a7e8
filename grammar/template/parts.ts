import type { Span } from "../problem.ts";
import type { Expr } from "./ast.ts";
import { NO_MATCH, parsers } from "./template-parser.generated.ts";

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
  const part = parsers.part(source, start, end);
  if (part === NO_MATCH)
    throw new Error(`the grammar of templates refuses ${JSON.stringify(source.slice(start, end))}`);
  return part as Part;
}
