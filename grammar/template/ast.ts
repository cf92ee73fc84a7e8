import type { Span } from "../problem.ts";

/** A parsed error-page template. */
export interface Template {
  readonly source: string;
  readonly nodes: readonly TemplateNode[];
}

export type TemplateNode = Text | Output | If | With;

/** Text as it is sent: white space that `{{-` or `-}}` trims is gone, and so are comments. Never empty. */
export interface Text {
  readonly kind: "text";
  readonly text: string;
  readonly span: Span;
}

/** `{{expr}}`. */
export interface Output {
  readonly kind: "output";
  readonly expr: Expr;
  readonly context: HtmlContext;
  readonly span: Span;
}

/** `{{if}} ... {{else if}} ... {{else}} ... {{end}}`. The span is that of the opening action. */
export interface If {
  readonly kind: "if";
  readonly branches: readonly Branch[];
  readonly otherwise: readonly TemplateNode[];
  readonly span: Span;
}

export interface Branch {
  readonly condition: Expr;
  readonly body: readonly TemplateNode[];
}

/** `{{with expr}} ... {{else}} ... {{end}}`: the body, where `.` is the value, only if that is not empty. */
export interface With {
  readonly kind: "with";
  readonly expr: Expr;
  readonly body: readonly TemplateNode[];
  readonly otherwise: readonly TemplateNode[];
  readonly span: Span;
}

export type Expr = Constant | Path | Call;

export interface Constant {
  readonly kind: "constant";
  readonly value: string | number | boolean | null;
  readonly span: Span;
}

/** `.a.b` from the current value, `$.a.b` from the root; without names the value itself. */
export interface Path {
  readonly kind: "path";
  readonly fromRoot: boolean;
  readonly names: readonly Name[];
  readonly span: Span;
}

export interface Name {
  readonly text: string;
  readonly span: Span;
}

export interface Call {
  readonly kind: "call";
  readonly name: Name;
  readonly args: readonly Expr[];
  readonly span: Span;
}

/** Where in the page a value is, which decides how it is escaped: see render.ts. */
export type HtmlContext = "text" | "unquoted" | "url" | "unquoted-url" | "style" | "script";
