import type { Expr, HtmlContext, Template, TemplateNode } from "./ast.ts";

/** The data of an error page. */
export interface ErrorPageData {
  readonly StatusCode: number;
  readonly StatusText: string;
  readonly Variables: Readonly<Record<string, unknown>>;
}

/** The page. Never throws: what is missing renders as nothing. */
export function renderTemplate(template: Template, data: ErrorPageData): string {
  return renderNodes(template.nodes, data, data);
}

function renderNodes(nodes: readonly TemplateNode[], root: ErrorPageData, dot: unknown): string {
  let page = "";
  for (const node of nodes) {
    if (node.kind === "text") {
      page += node.text;
    } else if (node.kind === "output") {
      page += ESCAPE[node.context](textOf(evaluate(node.expr, root, dot)));
    } else if (node.kind === "if") {
      const branch = node.branches.find(({ condition }) => isTrue(evaluate(condition, root, dot)));
      page += renderNodes(branch?.body ?? node.otherwise, root, dot);
    } else {
      const value = evaluate(node.expr, root, dot);
      page += isTrue(value) ? renderNodes(node.body, root, value) : renderNodes(node.otherwise, root, dot);
    }
  }
  return page;
}

function evaluate(expr: Expr, root: ErrorPageData, dot: unknown): unknown {
  if (expr.kind === "constant") return expr.value;
  if (expr.kind === "path") {
    let value: unknown = expr.fromRoot ? root : dot;
    for (const { text } of expr.names) {
      // Own properties only: nothing of what objects inherit is the user's.
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, text)) return undefined;
      value = (value as Record<string, unknown>)[text];
    }
    return value;
  }
  const name = expr.name.text;
  if (name === "and" || name === "or") {
    // As in Go: the argument that decides, and the others are not looked at.
    let value: unknown;
    for (const arg of expr.args) {
      value = evaluate(arg, root, dot);
      if (isTrue(value) === (name === "or")) break;
    }
    return value;
  }
  const [first, ...others] = expr.args.map((arg) => evaluate(arg, root, dot));
  if (name === "not") return !isTrue(first);
  if (name === "eq") return others.some((other) => isEqual(first, other));
  if (name === "ne") return !isEqual(first, others[0]);
  return compare(name, first, others[0]);
}

/** Go's truth: false, 0, nothing, and what is empty, are false. */
function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

// A missing variable is as good as null.
function isEqual(a: unknown, b: unknown): boolean {
  return (a ?? null) === (b ?? null);
}

/** Numbers with numbers, texts with texts; nothing else is less or greater. */
function compare(name: string, a: unknown, b: unknown): boolean {
  const comparable =
    (typeof a === "number" && typeof b === "number") || (typeof a === "string" && typeof b === "string");
  if (!comparable) return false;
  if (name === "lt") return a < b;
  if (name === "le") return a <= b;
  return name === "gt" ? a > b : a >= b;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

// Every context also escapes HTML, since an attribute's value is read as HTML first.
const ESCAPE: Readonly<Record<HtmlContext, (text: string) => string>> = {
  text: escapeHtml,
  unquoted: escapeUnquoted,
  url: (text) => escapeHtml(safeUrl(text)),
  "unquoted-url": (text) => escapeUnquoted(safeUrl(text)),
  style: (text) => (isPlainCss(text) ? text : ""),
  script: escapeScript,
};

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Where no quotes are around, white space and more would end the value. */
function escapeUnquoted(text: string): string {
  return text.replace(/[\u0000-\u0020&<>"'=`/\u007f]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** At the start of a link, the schemes that run or load something else than a page are replaced. */
function safeUrl(text: string): string {
  // Browsers drop white space and control characters before they look for the scheme.
  const beforePath = text.replace(/[\u0000-\u0020]/g, "").split(/[/?#]/)[0]!;
  return !beforePath.includes(":") || /^(?:https?|mailto|tel):/i.test(beforePath) ? text : "#";
}

/**
 * Colours, lengths, names and functions such as rgb(0 0 0 / 50%). Whatever could end a declaration, open a string or a
 * comment, or load something renders as nothing, and the browser drops the declaration.
 */
function isPlainCss(text: string): boolean {
  return /^[\p{L}\p{N}_ #%.,()+*/-]*$/u.test(text) && !/\/[/*]|\*\//.test(text);
}

/**
 * Inside a script's string literal, a value is text and ends nothing; outside of one, numbers and booleans are themselves.
 */
function escapeScript(text: string): string {
  return text.replace(/[^A-Za-z0-9_ .,-]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
