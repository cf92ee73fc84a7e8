// A rival: the same events in one DuckDB table with the fields as JSON, as one would begin.
import { openDuckDb } from "../../../logservice/events/duckdb/duckdb.ts";
import type { BenchEvent } from "./bodies.ts";
import type { RivalStore } from "./rivals.ts";

export async function openPlainTable(path: string): Promise<RivalStore> {
  const engine = await openDuckDb(path, { threads: "2", memory_limit: "512MB" });
  const connection = await engine.connect();
  await connection.run("create table if not exists events (t bigint, level varchar, message varchar, fields json)");
  return {
    // The end of an appender commits, so that a batch is durable as ours is.
    async append(events: readonly BenchEvent[]) {
      const appender = await connection.createAppender("events");
      for (const { timestamp, level, message, fields } of events) {
        appender.appendBigInt(BigInt(Date.parse(timestamp)));
        appender.appendVarchar(level);
        appender.appendVarchar(message);
        appender.appendVarchar(JSON.stringify(fields));
        appender.endRow();
      }
      appender.closeSync();
    },
    settle: async () => void (await connection.run("checkpoint")),
    all: async (sql) => (await connection.runAndReadAll(sql)).getRows(),
    close() {
      connection.closeSync();
      engine.closeSync();
    },
  };
}
