import { FORBIDDEN_FUNCTIONS, TABLE_FUNCTIONS } from "./functions.ts";

/** Parse tree of `json_serialize_sql`. */
type Tree = null | string | number | boolean | readonly Tree[] | Node;
type Node = { readonly [key: string]: Tree };

/** Names that WITH has defined so far, in lower case. */
type Scope = ReadonlySet<string>;

/**
 * Why a statement is refused, as DuckDB's own parser sees it; undefined if it may run. Allowed is one SELECT over `events`,
 * its own common table expressions, values, and the table functions of a list: everything else that a FROM can name reads
 * files, settings or other tables, or changes the engine. The first reason in the order of the statement is given.
 */
export function statementRefusal(serialized: string): string | undefined {
  const parsed = JSON.parse(withoutNonFinite(serialized)) as {
    error: boolean;
    error_type?: string;
    error_message?: string;
    statements?: readonly { node: Tree }[];
  };
  if (parsed.error) {
    return parsed.error_type === "not implemented"
      ? "is not a SELECT: only one SELECT is allowed"
      : parsed.error_message;
  }
  const statements = parsed.statements ?? [];
  if (statements.length !== 1) return `holds ${statements.length} statements: write exactly one SELECT`;
  return refusal(statements[0]!.node, new Set());
}

/** DuckDB writes numbers beyond a double, such as 1e400, as words that JSON does not have. No rule asks for a number. */
function withoutNonFinite(serialized: string): string {
  return serialized.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:Infinity|NaN)\b/g, (token) =>
    token[0] === '"' ? token : "null",
  );
}

function refusal(tree: Tree, scope: Scope): string | undefined {
  if (Array.isArray(tree)) return firstOf(tree, scope);
  if (typeof tree !== "object" || tree === null) return undefined;
  const node = tree as Node;
  if ("cte_map" in node) return ofQuery(node, scope);
  if ("class" in node) return ofExpression(node) ?? firstOf(Object.values(node), scope);
  if ("alias" in node && "sample" in node) return ofTable(node, scope) ?? firstOf(Object.values(node), scope);
  return firstOf(Object.values(node), scope);
}

function firstOf(trees: readonly Tree[], scope: Scope): string | undefined {
  for (const tree of trees) {
    const reason = refusal(tree, scope);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/**
 * A name of WITH is visible in the definitions after its own and in the query that they belong to, never outside. In its own
 * definition it is visible only in the recursive part: anywhere else DuckDB looks for a table of that name.
 */
function ofQuery({ type, cte_map, modifiers = [], ...parts }: Node, outer: Scope): string | undefined {
  if (!QUERIES.has(String(type))) return notAllowed(type);
  const scope = new Set(outer);
  for (const { key, value } of (cte_map as { map: readonly { key: string; value: Tree }[] }).map) {
    const reason = refusal(value, scope);
    if (reason !== undefined) return reason;
    scope.add(lower(key));
  }
  if (type !== "RECURSIVE_CTE_NODE") return firstOf([...Object.values(parts), modifiers], scope);
  const { left = [], right = [], ...others } = parts;
  const inside = new Set([...scope, lower(String(parts.cte_name))]);
  return refusal(left, scope) ?? refusal(right, inside) ?? firstOf([...Object.values(others), modifiers], scope);
}

/** The engine's names of parts of a statement, where SQL has other words for them. */
const WORDS: Readonly<Record<string, string>> = { SHOW_REF: "SHOW or DESCRIBE" };

function notAllowed(type: unknown): string {
  const name = String(type);
  return `has ${WORDS[name] ?? name.replace(/_(?:REF|NODE)$/, "").replaceAll("_", " ")}, which is not allowed`;
}

function ofExpression(node: Node): string | undefined {
  if (!EXPRESSIONS.has(String(node.class))) return notAllowed(node.class);
  const name = lower(String(node.function_name ?? ""));
  return FORBIDDEN_FUNCTIONS.has(name) ? `calls ${name}, which is not allowed` : undefined;
}

function ofTable(node: Node, scope: Scope): string | undefined {
  const { type } = node;
  if (type === "BASE_TABLE") {
    const names = [node.catalog_name, node.schema_name, node.table_name].filter((name) => name !== "").map(String);
    const name = lower(names[0]!);
    const isPlain = names.length === 1 && node.at_clause == null;
    if (isPlain && (name === "events" || scope.has(name))) return undefined;
    const read = names.map((name) => JSON.stringify(name)).join(".");
    return `reads ${read}: there are only the view events and names that WITH has defined before`;
  }
  if (type === "TABLE_FUNCTION") {
    const name = lower(String((node.function as Node).function_name));
    return TABLE_FUNCTIONS.has(name) ? undefined : `calls ${name}, which is not allowed`;
  }
  return TABLES.has(String(type)) ? undefined : notAllowed(type);
}

/** Folds ASCII only, as DuckDB does when it compares names: toLowerCase() would also turn the Kelvin sign into a "k". */
const lower = (name: string) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const QUERIES = new Set(["SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE"]);

const TABLES = new Set(["SUBQUERY", "JOIN", "EXPRESSION_LIST", "EMPTY", "EMPTY_FROM"]);

const EXPRESSIONS = new Set([
  "BETWEEN",
  "CASE",
  "CAST",
  "COLLATE",
  "COLUMN_REF",
  "COMPARISON",
  "CONJUNCTION",
  "CONSTANT",
  "FUNCTION",
  "LAMBDA",
  "LAMBDA_REF",
  "OPERATOR",
  // Refused after it is prepared, with a message of its own.
  "PARAMETER",
  "POSITIONAL_REFERENCE",
  "STAR",
  "SUBQUERY",
  "TYPE",
  "WINDOW",
]);
