/** What `json_serialize_sql` gives. */
type Tree = null | string | number | boolean | readonly Tree[] | { readonly [key: string]: Tree };

/**
 * Why a statement is refused, as DuckDB's own parser sees it; undefined where it may run. Allowed is one SELECT over
 * `events`, its own common table expressions, values, and the table functions of the list: everything else that a FROM can
 * name reads files, settings or other tables, or changes the engine.
 */
export function refusalOf(serialized: string): string | undefined {
  const parsed = JSON.parse(serialized) as {
    error: boolean;
    error_type?: string;
    error_message?: string;
    statements?: readonly { node: Tree }[];
  };
  if (parsed.error) {
    return parsed.error_type === "not implemented" ? "is no SELECT: only one SELECT is allowed" : parsed.error_message;
  }
  const statements = parsed.statements ?? [];
  if (statements.length !== 1) return `holds ${statements.length} statements: write exactly one SELECT`;
  return refusal(statements[0]!.node, new Set());
}

function refusal(tree: Tree, names: ReadonlySet<string>): string | undefined {
  if (Array.isArray(tree)) return firstOf(tree, names);
  if (typeof tree !== "object" || tree === null) return undefined;
  const node = tree as { readonly [key: string]: Tree };
  const known = withExpressions(node, names);
  return own(node, known) ?? firstOf(Object.values(node), known);
}

function firstOf(trees: readonly Tree[], names: ReadonlySet<string>): string | undefined {
  for (const tree of trees) {
    const reason = refusal(tree, names);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** A node's common table expressions are names for everything below it. */
function withExpressions(node: { readonly [key: string]: Tree }, names: ReadonlySet<string>): ReadonlySet<string> {
  const map = (node.cte_map as { map?: readonly { key: string }[] } | undefined)?.map ?? [];
  // A recursive one names itself.
  const recursive = node.type === "RECURSIVE_CTE_NODE" || node.type === "CTE_NODE" ? [String(node.cte_name)] : [];
  if (map.length === 0 && recursive.length === 0) return names;
  return new Set([
    ...names,
    ...map.map(({ key }) => key.toLowerCase()),
    ...recursive.map((name) => name.toLowerCase()),
  ]);
}

function own(node: { readonly [key: string]: Tree }, names: ReadonlySet<string>): string | undefined {
  const { type } = node;
  if (typeof type !== "string") return undefined;
  if (node.class === "FUNCTION") {
    const name = String(node.function_name).toLowerCase();
    return FUNCTIONS.has(name) ? `calls ${name}, which is not allowed` : undefined;
  }
  // References to tables have an alias and a sample and are no expressions.
  if (node.class !== undefined || !("alias" in node && "sample" in node)) return undefined;
  if (type === "BASE_TABLE") {
    const name = String(node.table_name).toLowerCase();
    const isPlain = node.schema_name === "" && node.catalog_name === "";
    if (isPlain && (name === "events" || names.has(name))) return undefined;
    return `reads ${JSON.stringify(node.table_name)}: there is only the view events`;
  }
  if (type === "TABLE_FUNCTION") {
    const called = node.function as { readonly function_name?: string };
    const name = String(called.function_name).toLowerCase();
    return TABLE_FUNCTIONS.has(name) ? undefined : `calls ${name}, which is not allowed`;
  }
  return TABLES.has(type) ? undefined : `has a ${type}, which is not allowed`;
}

const TABLES = new Set(["SUBQUERY", "JOIN", "EXPRESSION_LIST", "EMPTY", "EMPTY_FROM"]);

/** They make rows of their arguments and look at nothing else. */
const TABLE_FUNCTIONS = new Set(["range", "generate_series", "unnest", "json_each", "json_tree", "repeat"]);

/** They tell of the engine and its process, wait, or write. */
const FUNCTIONS = new Set([
  "current_setting",
  "getvariable",
  "getenv",
  "write_log",
  "parse_duckdb_log_message",
  "sleep_ms",
  "pg_sleep",
  "current_query",
  "current_query_id",
  "current_connection_id",
  "current_transaction_id",
  "txid_current",
  "stats",
  "nextval",
  "currval",
  "setseed",
]);
