// The error-page template language: text in, a tree or problems out, and pages from the tree.
export type {
  Branch,
  Call,
  Constant,
  Expr,
  HtmlContext,
  If,
  Name,
  Output,
  Path,
  Template,
  TemplateNode,
  Text,
  With,
} from "./ast.ts";
export { highlightTemplate } from "./highlight.generated.ts";
export { parseTemplate } from "./parse.ts";
export { printTemplate } from "./print.ts";
export { type ErrorPageData, renderTemplate } from "./render.ts";
