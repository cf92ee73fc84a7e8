// A rival: the same events in SQLite, with an index of time and level and the messages in FTS5.
import { rival } from "../rival.ts";
import type { BenchEvent } from "./bodies.ts";
import type { RivalStore } from "./rivals.ts";

interface Statement {
  run(...values: unknown[]): void;
  raw(): Statement;
  all(): unknown[][];
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export async function openSqlite(path: string): Promise<RivalStore> {
  const { default: Sqlite } = await rival<{ default: new (path: string) => Database }>("libsql");
  const database = new Sqlite(path);
  database.exec(`pragma journal_mode = wal; pragma synchronous = full;
    create table if not exists events (id integer primary key, t integer, level text, message text, fields text);
    create index if not exists by_time on events (t); create index if not exists by_level on events (level, t);
    create virtual table if not exists texts using fts5 (message, content = 'events', content_rowid = 'id');`);
  const insert = database.prepare("insert into events values (?, ?, ?, ?, ?)");
  const index = database.prepare("insert into texts (rowid, message) values (?, ?)");
  let id = 0;
  return {
    async append(events: readonly BenchEvent[]) {
      database.exec("begin");
      for (const { timestamp, level, message, fields } of events) {
        id++;
        insert.run(id, Date.parse(timestamp), level, message, JSON.stringify(fields));
        index.run(id, message);
      }
      database.exec("commit");
    },
    settle: async () => database.exec("pragma wal_checkpoint(truncate)"),
    all: async (sql) => database.prepare(sql).raw().all(),
    close: () => database.close(),
  };
}
