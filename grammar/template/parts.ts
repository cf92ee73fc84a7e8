import type { Span } from "../problem.ts";
import type { Expr } from "./ast.ts";

/** The part of a template between double braces. */
export type TemplatePart = ActionPart | BrokenPart;

export interface ActionPart {
  readonly kind: "action";
  readonly statement: "if" | "elseIf" | "else" | "with" | "end" | "output";
  /** The expression of `if`, `else if`, `with` and output. */
  readonly expr: Expr | undefined;
  readonly span: Span;
}

/** A text that starts like an action and is none; `tokens` without white space. */
export interface BrokenPart {
  readonly kind: "malformed" | "unclosed";
  readonly tokens: readonly TemplateToken[];
  readonly span: Span;
}

export interface TemplateToken {
  readonly kind: "string" | "badString" | "number" | "word" | "path" | "symbol";
  readonly text: string;
  readonly span: Span;
}
