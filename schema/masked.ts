import type { Span } from "../grammar/problem.ts";
import { commandsOf, secretsIn } from "./checks/commands.ts";
import { secretsInHeader } from "./checks/headers.ts";
import { isSecretName, isSecretText } from "./checks/secrets.ts";
import { memberOf, type Node, parseByLines, type StringNode, spanInside } from "./json.ts";

/**
 * The text of a tool.json for excerpts in messages, which end up in logs: values of variables, and what looks like a
 * secret anywhere else, are asterisks. Every offset stays what it is.
 */
export function maskSecrets(text: string): string {
  const { root } = parseByLines(text);
  if (root === undefined) return text;
  const spans: Span[] = [];
  const addInside = (node: StringNode, span: Span) => spans.push(spanInside(text, node, span));
  visit(root, "", (node, name) => {
    if (name === "environment" && node.type === "object") {
      for (const { value } of node.members) if (value !== undefined) spans.push(value.span);
    } else if (node.type === "string") {
      if (isSecretText(node.value) || isSecretName(name.replaceAll("-", "_"), node.value)) spans.push(node.span);
      for (const { 0: part, index } of node.value.matchAll(/[^\s"'=;,|<>()]+/g)) {
        if (isSecretText(part)) addInside(node, { start: index, end: index + part.length });
      }
    }
  });
  for (const { node } of commandsOf(root)) for (const { span } of secretsIn(node.value)) addInside(node, span);
  const headers = memberOf(root, "headers")?.value;
  for (const { value: rule } of headers?.type === "object" ? headers.members : []) {
    for (const { key, value } of rule?.type === "object" ? rule.members : []) {
      if (value?.type === "string") for (const span of secretsInHeader(key.value, value.value)) addInside(value, span);
    }
  }
  return masked(text, spans);
}

/** All nodes, each with the name of the nearest member above it. */
function visit(node: Node, name: string, look: (node: Node, name: string) => void): void {
  look(node, name);
  if (node.type === "array") for (const item of node.items) visit(item, name, look);
  if (node.type === "object")
    for (const { key, value } of node.members) if (value !== undefined) visit(value, key.value, look);
}

function masked(text: string, spans: readonly Span[]): string {
  let result = "";
  let at = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    const from = Math.max(start, at);
    result += text.slice(at, from) + text.slice(from, end).replace(/[^"\r\n]/g, "*");
    at = end;
  }
  return result + text.slice(at);
}
