// The error-page template language: text in, a tree or problems out, and pages from the tree.
export type { Expr, Path, Template, TemplateNode } from "./ast.ts";
export { parseTemplate } from "./parse.ts";
export { renderTemplate } from "./render.ts";
