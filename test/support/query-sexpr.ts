import type { Expr, Field, Query, Value } from "../../grammar/query/index.ts";

/** A query's tree as one line that a person reads: `(and (= .status 5) (level error))`. Wildcards show as `…`. */
export function sexpr(query: Query): string {
  return query.expr === undefined ? "()" : expr(query.expr);
}

function expr(node: Expr): string {
  switch (node.kind) {
    case "or":
    case "and":
      return `(${node.kind} ${node.terms.map(expr).join(" ")})`;
    case "not":
      return `(not ${expr(node.term)})`;
    case "comparison":
      return `(${node.op} ${field(node.field)} ${value(node.value)})`;
    case "in":
      return `(in ${field(node.field)} ${node.values.map(value).join(" ")})`;
    case "contains":
      return `(contains ${field(node.field)} ${value(node.text)})`;
    case "match":
      return `(~ ${field(node.field)} /${node.regex.source}/${node.regex.flags})`;
    case "exists":
      return `(exists ${field(node.field)})`;
    case "truthy":
      return `(truthy ${field(node.field)})`;
    case "level":
    case "stage":
      return `(${node.kind} ${node.word})`;
    case "message":
      return `(message ${value(node.text)})`;
  }
}

const field = ({ path }: Field) =>
  path
    .map((segment, at) => {
      if (segment.kind === "index") return `[${segment.index}]`;
      return at === 0 || /^\w+$/.test(segment.key) ? `.${segment.key}` : `.${JSON.stringify(segment.key)}`;
    })
    .join("");

function value(node: Value): string {
  switch (node.kind) {
    case "string":
      return node.chunks.map((chunk) => JSON.stringify(chunk)).join("…");
    case "word":
      return `'${node.chunks.join("…")}`;
    case "number":
      return node.unit === undefined ? node.text : `${node.text}:${node.value}`;
    case "boolean":
      return String(node.value);
    case "null":
      return "null";
  }
}
