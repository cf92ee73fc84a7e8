import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Clock } from "../../grammar/units/clock.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import { RpcError } from "../error.ts";
import { Yielder } from "../events/event-loop.ts";
import type { ExportOrder } from "../rpc/export-tickets.ts";
import { MOST_ROWS, TOO_MANY_ROWS } from "../rpc/exports.ts";
import { readTimeInput } from "../rpc/read-range.ts";
import { eventLines, type LineFormat, rowLines } from "./lines.ts";

export interface ExportRun {
  readonly order: ExportOrder;
  /** Ends the export: what is sent then is broken off. */
  readonly signal: AbortSignal;
  /** How long a client may read nothing before the response is broken off. */
  readonly stalledMs: number;
  readonly clock: Clock;
  /** Answers an operation in its turn, within the time of a query. */
  ask<Name extends "search" | "aggregate">(
    name: Name,
    input: Operations[Name]["input"],
  ): Promise<Operations[Name]["output"]>;
  /** Throws if the project is no longer the one that the order is about. */
  requireProject(): Promise<void>;
  /** Told of what was sent. */
  sent(rows: number, bytes: number): void;
}

/** Events that are read at once. Fewer make more queries of an export, more hold a slot for longer. */
const PAGE_EVENTS = 5_000;
/** Characters that are written at once. */
const CHUNK_LENGTH = 64 * 1024;

/**
 * Streams a file. What is wrong before its first byte is the answer; a failure after that breaks the response off, so that
 * no client takes a part for the whole.
 */
export async function sendExport(response: ServerResponse, run: ExportRun): Promise<void> {
  const { order } = run;
  if (order.isTable) {
    const table = await run.ask("aggregate", { ...order.range, limit: MOST_ROWS });
    if (table.truncated) throw TOO_MANY_ROWS;
    await run.requireProject();
    const file = new ExportFile(response, run, rowLines(order, table.columns));
    file.begin(table.stats);
    await file.write(table.rows);
    return file.end();
  }
  const file = new ExportFile(response, run, eventLines(order));
  let missing = 0;
  let cursor: string | undefined;
  do {
    const page = await run.ask("search", { ...order.range, limit: PAGE_EVENTS, ...(cursor && { cursor }) });
    await run.requireProject();
    const { missing_bytes = 0 } = page.stats;
    if (!response.headersSent) file.begin(page.stats);
    // The header says how much is missing, and it was sent.
    else if (missing_bytes > missing) throw new RpcError("unavailable", "a file of the store was lost meanwhile");
    missing = missing_bytes;
    await file.write(page.events);
    cursor = page.cursor;
  } while (cursor);
  await file.end();
}

/** A response that is a file of lines. */
class ExportFile<Row> {
  readonly #response: ServerResponse;
  readonly #run: ExportRun;
  readonly #lines: LineFormat<Row>;

  constructor(response: ServerResponse, run: ExportRun, lines: LineFormat<Row>) {
    this.#response = response;
    this.#run = run;
    this.#lines = lines;
  }

  begin({ missing_bytes }: { readonly missing_bytes?: number }): void {
    const { order, signal } = this.#run;
    signal.throwIfAborted();
    this.#response.writeHead(200, {
      "Content-Type": order.format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson",
      "Content-Disposition": `attachment; filename="${fileNameOf(order)}"`,
      "Cache-Control": "no-store",
      ...(missing_bytes !== undefined && { "X-Missing-Bytes": String(missing_bytes) }),
    });
    this.#response.write(this.#lines.head);
  }

  /** Writes rows no faster than the client reads them. */
  async write(rows: readonly Row[]): Promise<void> {
    const { signal } = this.#run;
    const yielder = new Yielder();
    let text = "";
    let count = 0;
    for (const [at, row] of rows.entries()) {
      text += this.#lines.line(row);
      count++;
      if (text.length < CHUNK_LENGTH && at < rows.length - 1) continue;
      const bytes = Buffer.from(text);
      if (!this.#response.write(bytes)) await this.#untilRead("drain");
      signal.throwIfAborted();
      this.#run.sent(count, bytes.length);
      [text, count] = ["", 0];
      if (yielder.isDue()) await yielder.rest(signal);
    }
  }

  /** Resolves when the client has all of it: until then, the export can be ended. */
  async end(): Promise<void> {
    this.#run.signal.throwIfAborted();
    this.#response.end();
    if (!this.#response.writableFinished) await this.#untilRead("finish");
  }

  /** A client that reads nothing would keep its place for ever, as long as it sends something from time to time. */
  async #untilRead(event: "drain" | "finish"): Promise<void> {
    const { signal, stalledMs, clock } = this.#run;
    const timer = clock.after(stalledMs, () => this.#response.destroy());
    try {
      await once(this.#response, event, { signal });
    } finally {
      timer.stop();
    }
  }
}

/** `api-20260131T120000Z-20260131T130000Z.csv`. */
function fileNameOf({ range: { project_id, start, stop }, format }: ExportOrder): string {
  const timeOf = (ms: number) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, "");
  const [from, to] = [timeOf(readTimeInput(start, "start")), timeOf(readTimeInput(stop, "stop"))];
  return `${project_id}-${from}-${to}.${format}`;
}
