/** Table functions that may be called: they make rows of their arguments and look at nothing else. */
export const TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  "range",
  "generate_series",
  "unnest",
  "json_each",
  "json_tree",
  "repeat",
]);

/** Functions that may not be called. */
export const FORBIDDEN_FUNCTIONS: ReadonlySet<string> = new Set([
  // They show the state of the engine and its process.
  "current_setting",
  "getvariable",
  "getenv",
  "current_query",
  "current_query_id",
  "current_connection_id",
  "current_transaction_id",
  "txid_current",
  "stats",
  // Macros that read tables of the engine, such as the SQL of views.
  "pg_get_viewdef",
  "pg_get_constraintdef",
  "format_type",
  "get_block_size",
  // Binds any text, and shows its tables and files.
  "json_serialize_plan",
  // They wait, write or keep state.
  "write_log",
  "parse_duckdb_log_message",
  "sleep_ms",
  "pg_sleep",
  "nextval",
  "currval",
  "setseed",
]);
