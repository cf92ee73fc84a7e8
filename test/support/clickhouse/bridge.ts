// ClickHouse in one process (chdb) with as much of ClickHouse's HTTP interface as its client uses. It is a process of its
// own, so that a test can kill it, and answers one request at a time, as chdb does:
//
//   node dist/test/support/clickhouse/bridge.js CHDB_FOLDER DATA_FOLDER      prints its port
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

interface Session {
  queryBindAsync(text: string, params: Params, options: { format: string }): Promise<QueryResult>;
  insert(insert: Insert): Promise<{ rowsWritten: number; bytesWritten: number }>;
}
interface QueryResult {
  readonly rowsRead: number;
  readonly bytesRead: number;
  bytes(): Uint8Array;
}
interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly format: string;
  readonly values: Buffer;
  readonly settings: Params;
}
type Params = Readonly<Record<string, string>>;
type Chdb = { readonly Session: new (path: string, options: { connectionArgs: readonly string[] }) => Session };

/** Parameters of a request's address that are not settings. */
const NOT_SETTINGS = new Set(["query", "query_id", "database", "session_id", "role", "default_format"]);
/** Settings of the HTTP interface, which chdb has not, and one that must be known before the text is parsed. */
const OF_SERVER = /^(?:http_|cancel_http_|wait_end_of_query$|send_progress|enable_http_compression$|max_query_size$)/;
const STARTED = ["--max_query_size=67108864"];

const [chdbFolder, dataFolder] = process.argv.slice(2) as [string, string];
const { Session } = createRequire(join(chdbFolder, "package.json"))("chdb") as Chdb;
const session = new Session(dataFolder, { connectionArgs: STARTED });
let database = "default";
let turn: Promise<unknown> = Promise.resolve();

const server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
  const answered = bodyOf(request).then((body) => {
    turn = turn.then(() => answer(request, body, response)).catch((error: Error) => refuse(response, error));
    return turn;
  });
  answered.catch(() => response.destroy());
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

async function answer({ url = "/" }: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(url, "http://bridge");
  if (pathname === "/ping") return void response.end("Ok.\n");
  // Whoever asked is gone: a server would stop the query.
  if (response.destroyed) return;
  const wanted = searchParams.get("database") ?? "default";
  if (wanted !== database) {
    await session.queryBindAsync(`USE \`${wanted}\``, {}, { format: "CSV" });
    database = wanted;
  }
  const params: Record<string, string> = {};
  const settings: Record<string, string> = {};
  for (const [name, value] of searchParams) {
    if (name.startsWith("param_")) params[name.slice("param_".length)] = value;
    else if (!NOT_SETTINGS.has(name) && !OF_SERVER.test(name)) settings[name] = value;
  }
  const query = searchParams.get("query");
  const insert = /^\s*insert into (\S+) \(([^)]+)\) format (\w+)\s*$/i.exec(query ?? "");
  if (insert !== null) {
    const [, table, columns, format] = insert as unknown as [string, string, string, string];
    const names = columns.split(",").map((name) => name.trim().replaceAll("`", ""));
    const done = await session.insert({ table, columns: names, format, values: body, settings });
    return send(response, Buffer.of(), {
      written_rows: String(done.rowsWritten),
      written_bytes: String(done.bytesWritten),
    });
  }
  const text = query === null ? body.toString() : `${query}\n${body}`;
  const format = /\bformat\s+(\w+)\s*;?\s*$/i.exec(text);
  const plain = format === null ? text : text.slice(0, format.index);
  const result = await session.queryBindAsync(withSettings(plain, settings), params, { format: format?.[1] ?? "CSV" });
  send(response, Buffer.from(result.bytes()), {
    read_rows: String(result.rowsRead),
    read_bytes: String(result.bytesRead),
  });
}

/** The settings of a table that is created come after the same word. */
function withSettings(text: string, settings: Params): string {
  const list = Object.entries(settings).map(([name, value]) => `${name} = '${value.replace(/[\\']/g, "\\$&")}'`);
  return list.length === 0 || !/^\s*(?:select|with)\b/i.test(text) ? text : `${text}\nSETTINGS ${list.join(", ")}`;
}

function send(response: ServerResponse, body: Buffer, summary: Readonly<Record<string, string>>): void {
  response.setHeader("x-clickhouse-summary", JSON.stringify(summary));
  response.end(body);
}

function refuse(response: ServerResponse, error: Error): void {
  const text = error.message.slice(Math.max(0, error.message.indexOf("Code: ")));
  const code = /^Code: (\d+)/.exec(text)?.[1];
  response.statusCode = 500;
  if (code !== undefined) response.setHeader("x-clickhouse-exception-code", code);
  response.end(text);
}
