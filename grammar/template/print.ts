import type { Expr, Template, TemplateNode } from "./ast.ts";

/**
 * The canonical text: parsing it gives the same template. Comments are gone; trimmed white space too, and no dash is
 * left but where text ends in a brace.
 */
export function printTemplate(template: Template): string {
  return printNodes(template.nodes);
}

function printNodes(nodes: readonly TemplateNode[]): string {
  return nodes.reduce((printed, node) => append(printed, printNode(node)), "");
}

function printNode(node: TemplateNode): string {
  // Two braces would open an action; a comment that trims keeps them apart.
  if (node.kind === "text") return node.text.replace(/\{(?=\{)/g, "{ {{- /**/}}");
  if (node.kind === "output") return `{{${printExpr(node.expr)}}}`;
  const otherwise = node.otherwise.length > 0 ? append("{{else}}", printNodes(node.otherwise)) : "";
  if (node.kind === "with") {
    return join(`{{with ${printExpr(node.expr)}}}`, printNodes(node.body), otherwise, "{{end}}");
  }
  const branches = node.branches.flatMap(({ condition, body }, i) => [
    `{{${i > 0 ? "else " : ""}if ${printExpr(condition)}}}`,
    printNodes(body),
  ]);
  return join(...branches, otherwise, "{{end}}");
}

function join(...pieces: readonly string[]): string {
  return pieces.reduce(append, "");
}

/** A brace before an action would be read as a part of it. */
function append(printed: string, piece: string): string {
  return printed.endsWith("{") && piece.startsWith("{{") ? `${printed} {{- ${piece.slice(2)}` : printed + piece;
}

function printExpr(expr: Expr): string {
  if (expr.kind === "constant") {
    if (typeof expr.value === "string") return printString(expr.value);
    return expr.value === null ? "nil" : String(expr.value);
  }
  if (expr.kind === "path") {
    const names = expr.names.map(({ text }) => `.${text}`).join("");
    return expr.fromRoot ? `$${names}` : names || ".";
  }
  return [expr.name.text, ...expr.args.map(printArgument)].join(" ");
}

function printArgument(expr: Expr): string {
  return expr.kind === "call" ? `(${printExpr(expr)})` : printExpr(expr);
}

function printString(value: string): string {
  const escaped = value.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029"\\\ud800-\udfff]/gu, (character) => {
    const named = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" }[character];
    return named ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `"${escaped}"`;
}
