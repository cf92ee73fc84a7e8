// Runs one untrusted statement, in a process that ends with it. What it may read is decided before the text
// is prepared; the parent watches time and memory and ends the process.
import { randomBytes } from "node:crypto";
import { setPriority } from "node:os";
import { LEVEL_NAMES } from "../../level-names.ts";
import { type DuckDBConnection, isOutOfMemory, openDuckDb, quoted } from "../duckdb.ts";
import { loadJournalRange } from "../load-lines.ts";
import { ID, TRUNCATED } from "../segment-schema.ts";
import { statementRefusal } from "./allowed.ts";
import { rowPrinter } from "./json-rows.ts";
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
// An exit would wait for the engine.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
// The binary is loaded, and the engine that only reads texts is ready, before a statement arrives.
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

async function run(request: SqlRequest): Promise<SqlAnswer> {
  const { text, folder, segments, journalRanges, engineBytes, fromMs } = request;
  const reason = await refusalOfText(text);
  if (reason !== undefined) return { kind: "refused", reason, isUnread: true };

  process.chdir(folder);
  const memory = `${Math.floor(engineBytes / 1024)}KiB`;
  const engine = await openDuckDb(":memory:", { ...SETTINGS, threads: "2", memory_limit: memory });
  const connection = await engine.connect();
  // Random, so that a statement that got past the checks could not name it.
  const newest = `newest_${randomBytes(16).toString("hex")}`;
  await connection.run(`create temp table ${newest} (${NEWEST})`);
  for (const range of journalRanges) await loadJournalRange(connection, range, newest);
  const whereClause = fromMs === undefined ? "" : ` where t >= ${BigInt(fromMs) * 1_000_000n}`;
  const columns = (from: string, truncated: string) =>
    `select ${ID} as id, make_timestamp(t // 1000) as timestamp, ${LEVEL} as level, severity::integer as severity,
      message, fields::json as fields, ${truncated} as ${TRUNCATED} from ${from}${whereClause}`;
  const isCut = `coalesce(${TRUNCATED}, false)`;
  const views = [columns(newest, isCut)];
  for (const hasTruncated of [false, true]) {
    const files = segments.filter((segment) => segment.hasTruncated === hasTruncated).map(({ path }) => quoted(path));
    if (files.length > 0) views.push(columns(`read_parquet([${files.join(", ")}])`, hasTruncated ? isCut : "false"));
  }
  await connection.run(`set allowed_paths = [${segments.map(({ path }) => quoted(path)).join(", ")}]`);
  await connection.run(`create temp view events as ${views.join(" union all ")}`);
  await connection.run("set enable_external_access = false");
  await connection.run("set lock_configuration = true");
  return read(connection, request);
}

async function refusalOfText(text: string): Promise<string | undefined> {
  const parser = await opened;
  const serialized = await parser.runAndReadAll("select json_serialize_sql($1::varchar)", [text]);
  try {
    const reason = statementRefusal(serialized.value(0, 0) as string);
    return reason === undefined || !TOO_DEEP.test(reason) ? reason : NESTED;
  } catch (error) {
    // Our own walk over the tree has a limit, too.
    if (error instanceof RangeError) return NESTED;
    throw error;
  }
}

// The engine's own message suggests to change a setting, which is locked.
const TOO_DEEP = /^(Binder Error: )?Max expression depth limit/;
const NESTED = "is nested too deeply: write it in a flatter way";

const NEWEST =
  "q bigint, t bigint, id varchar, timestamp varchar, level varchar, severity utinyint, message varchar, fields varchar, truncated boolean";

/** The name of a level as answers have it, whatever spelling came with the event. */
const LEVEL = `['${LEVEL_NAMES.join("', '")}'][severity + 1]`;

async function read(connection: DuckDBConnection, { text, maxRows, maxBytes }: SqlRequest): Promise<SqlAnswer> {
  const api = await import("@duckdb/node-api");
  try {
    const statements = await connection.extractStatements(text);
    if (statements.count !== 1) return { kind: "refused", reason: "is not one statement" };
    const prepared = await statements.prepare(0);
    if (prepared.statementType !== api.StatementType.SELECT) return { kind: "refused", reason: "is not a SELECT" };
    if (prepared.parameterCount > 0) return { kind: "refused", reason: "has parameters: write the values into it" };
    const result = await prepared.stream();
    const print = rowPrinter(api, result);
    const rows: string[] = [];
    let bytes = 0;
    for await (const chunk of result) {
      const printRow = print(chunk);
      for (let row = 0; row < chunk.rowCount; row++) {
        if (rows.length >= maxRows) {
          return { kind: "refused", reason: `gives more than ${maxRows} rows: add a LIMIT or group them` };
        }
        const json = printRow(row);
        bytes += json.length;
        if (bytes > maxBytes) return { kind: "refused", reason: `gives more than ${maxBytes} bytes: select less` };
        rows.push(json);
      }
    }
    return { kind: "rows", json: `[${rows.join(",")}]` };
  } catch (error) {
    return { kind: "refused", reason: reasonOf(error as Error) };
  }
}

function reasonOf(error: Error): string {
  if (isOutOfMemory(error)) return "takes more memory than it may have: narrow it";
  if (TOO_DEEP.test(error.message)) return NESTED;
  // Names of files are internal.
  return error.message.replaceAll(`${process.cwd()}/`, "").replace(SEGMENT_NAMES, "the events");
}

const SEGMENT_NAMES = /["']?segment-\d+\.parquet["']?/g;
