// Runs one statement that somebody else wrote, in a process that ends with it. What it may read is decided before the text
// is prepared; the parent watches time and memory and ends the process.
import { setPriority } from "node:os";
import { loadPiece } from "../duckdb/build.ts";
import { type DuckDBConnection, openDuckDb, quoted } from "../duckdb/duckdb.ts";
import { ID } from "../duckdb/source.ts";
import { refusalOf } from "./allowed.ts";
import type { SqlAnswer, SqlRequest } from "./sql-protocol.ts";

setPriority(5);

/** Nothing is fetched, loaded, kept or spilled. */
const SETTINGS = {
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  allow_community_extensions: "false",
  allow_persistent_secrets: "false",
  temp_directory: "",
  extension_directory: "/nonexistent",
};

const isUnread = (message: SqlAnswer) => message.kind === "refused" && message.isUnread === true;
const answer = (message: SqlAnswer, then = () => {}) => process.send?.(message, then);

process.on("message", (request: SqlRequest) => {
  void run(request).then(
    (message) => answer(message, () => (isUnread(message) ? undefined : process.exit(0))),
    (error: unknown) => answer({ kind: "failed", reason: String(error) }, () => process.exit(0)),
  );
});
process.on("disconnect", () => process.exit(0));
// The binary is loaded, and the engine that only reads texts is there, before anybody asks.
const opened = openParser();
opened.then(
  () => answer({ kind: "ready" }),
  (error: unknown) => answer({ kind: "failed", reason: String(error) }, () => process.exit(1)),
);

async function openParser(): Promise<DuckDBConnection> {
  const engine = await openDuckDb(":memory:", { ...SETTINGS, threads: "1", enable_external_access: "false" });
  const parser = await engine.connect();
  await parser.run("set lock_configuration = true");
  return parser;
}

async function run({ text, segments, pieces, maxRows, maxBytes }: SqlRequest): Promise<SqlAnswer> {
  const parser = await opened;
  const serialized = await parser.runAndReadAll("select json_serialize_sql($1::varchar)", [text]);
  const reason = refusalOf(serialized.value(0, 0) as string);
  if (reason !== undefined) return { kind: "refused", reason, isUnread: true };

  const engine = await openDuckDb(":memory:", { ...SETTINGS, threads: "2", memory_limit: "512MB" });
  const connection = await engine.connect();
  await connection.run(`create temp table newest (${NEWEST})`);
  for (const piece of pieces) await loadPiece(connection, piece, "newest");
  const columns = (from: string) =>
    `select ${ID} as id, make_timestamp(t // 1000) as timestamp, level, severity::integer as severity, message,
      fields::json as fields from ${from}`;
  const files =
    segments.length === 0 ? "" : ` union all ${columns(`read_parquet([${segments.map(quoted).join(", ")}])`)}`;
  await connection.run(`set allowed_paths = [${segments.map(quoted).join(", ")}]`);
  await connection.run(`create temp view events as ${columns("newest")}${files}`);
  await connection.run("set enable_external_access = false");
  await connection.run("set lock_configuration = true");
  return read(connection, text, maxRows, maxBytes);
}

const NEWEST =
  "q bigint, t bigint, id varchar, timestamp varchar, level varchar, severity utinyint, message varchar, fields varchar";

async function read(connection: DuckDBConnection, text: string, maxRows: number, maxBytes: number): Promise<SqlAnswer> {
  const { StatementType } = await import("@duckdb/node-api");
  try {
    const statements = await connection.extractStatements(text);
    if (statements.count !== 1) return { kind: "refused", reason: "is not one statement" };
    const prepared = await statements.prepare(0);
    if (prepared.statementType !== StatementType.SELECT) return { kind: "refused", reason: "is no SELECT" };
    if (prepared.parameterCount > 0) return { kind: "refused", reason: "has parameters: write the values into it" };
    const result = await prepared.stream();
    const rows: string[] = [];
    let bytes = 0;
    for await (const chunk of result.yieldRowObjectJson()) {
      for (const row of chunk) {
        const json = JSON.stringify(row);
        bytes += json.length;
        if (rows.length >= maxRows) {
          return { kind: "refused", reason: `gives more than ${maxRows} rows: add a LIMIT or group them` };
        }
        if (bytes > maxBytes) return { kind: "refused", reason: `gives more than ${maxBytes} bytes: select less` };
        rows.push(json);
      }
    }
    return { kind: "rows", json: `[${rows.join(",")}]` };
  } catch (error) {
    // Names of files are nobody's business.
    const message = (error as Error).message.replace(/'?\/[^\s'"]+\.parquet'?/g, "the events");
    return { kind: "refused", reason: message };
  }
}
