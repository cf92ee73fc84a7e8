// A rival: the same events in one DuckDB table with the fields as JSON, as one would begin.
import { openDuckDb } from "../../../logservice/events/duckdb/duckdb.ts";
import type { NewEvent } from "../../../logservice/events/store.ts";

export async function openPlainTable(path: string) {
  const engine = await openDuckDb(path, { threads: "2", memory_limit: "512MB" });
  const connection = await engine.connect();
  await connection.run("create table events (t bigint, level varchar, message varchar, fields json)");
  return {
    /** Milliseconds that it took. */
    async append(events: readonly NewEvent[]): Promise<number> {
      const began = performance.now();
      const appender = await connection.createAppender("events");
      for (const { timestamp, level, message, fields } of events) {
        appender.appendBigInt(BigInt(Date.parse(timestamp)));
        appender.appendVarchar(level);
        appender.appendVarchar(message);
        appender.appendVarchar(JSON.stringify(fields));
        appender.endRow();
      }
      appender.closeSync();
      await connection.run("checkpoint");
      return performance.now() - began;
    },
    all: async (sql: string) => (await connection.runAndReadAll(sql)).getRows(),
    close() {
      connection.closeSync();
      engine.closeSync();
    },
  };
}
