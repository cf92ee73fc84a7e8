import type { Problem, Span } from "../grammar/problem.ts";
import { checkDialect } from "./dialect.ts";
import { type Node, parseByLines, plainValue } from "./json.ts";
import { memberSchema, resolve, rootSchema, type Schema } from "./keywords.ts";
import { ProblemReport } from "./report.ts";

/** A setting of tool.json that needs Pro: what tool.schema.json marks with `x-pro`. */
export interface ProKey {
  /** With the keys that lead to it: `alerts`, `function.warm`, `stages.production.function.layers`. */
  readonly path: string;
  /** Place of the key. */
  readonly span: Span;
}

/** The settings of a tool.json that need Pro, in the order of the text; an older dialect is read, too. Never throws. */
export function proKeysIn(text: string): ProKey[] {
  const { root } = parseByLines(text);
  if (root?.type !== "object") return [];
  return keysBelow(checkDialect(new ProblemReport(text), root), rootSchema, "");
}

/** A setting as a problem, of the severity that it has for a command or an editor of the free edition. */
export function proProblem({ path, span }: ProKey, severity: Problem["severity"]): Problem {
  return { code: "config/pro", severity, message: `${JSON.stringify(path)} is a Pro feature`, span };
}

function keysBelow(node: Node, schema: Schema, path: string): ProKey[] {
  if (node.type === "array") {
    const { items } = schema;
    return items === undefined ? [] : node.items.flatMap((item) => keysBelow(item, resolve(items), path));
  }
  if (node.type !== "object") return [];
  return node.members.flatMap(({ key, value }) => {
    const member = memberSchema(schema, key.value);
    const name = path === "" ? key.value : `${path}.${key.value}`;
    if (member["x-pro"] === true) return value !== undefined && isUsed(value) ? [{ path: name, span: key.span }] : [];
    return value === undefined ? [] : keysBelow(value, member, name);
  });
}

/** `"warm": false` and `"alerts": []` switch nothing on. */
function isUsed(value: Node): boolean {
  return value.type === "array" ? value.items.length > 0 : value.type !== "null" && plainValue(value) !== false;
}
