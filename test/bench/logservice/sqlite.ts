// A rival: the same events in SQLite, with an index of time and level and the messages in FTS5.
import type { NewEvent } from "../../../logservice/events/store.ts";
import { rival } from "../rival.ts";

interface Database {
  exec(sql: string): void;
  prepare(sql: string): { run(...values: unknown[]): void; all(): unknown[] };
  close(): void;
}

export async function openSqlite(path: string) {
  const { default: Sqlite } = await rival<{ default: new (path: string) => Database }>("libsql");
  const database = new Sqlite(path);
  database.exec(`pragma journal_mode = wal; pragma synchronous = full;
    create table events (id integer primary key, t integer, level text, message text, fields text);
    create index by_time on events (t); create index by_level on events (level, t);
    create virtual table texts using fts5 (message, content = 'events', content_rowid = 'id');`);
  const insert = database.prepare("insert into events values (?, ?, ?, ?, ?)");
  const index = database.prepare("insert into texts (rowid, message) values (?, ?)");
  let id = 0;
  return {
    /** Milliseconds that it took. */
    append(events: readonly NewEvent[]): number {
      const began = performance.now();
      for (let at = 0; at < events.length; at += 1000) {
        database.exec("begin");
        for (const { timestamp, level, message, fields } of events.slice(at, at + 1000)) {
          id++;
          insert.run(id, Date.parse(timestamp), level, message, JSON.stringify(fields));
          index.run(id, message);
        }
        database.exec("commit");
      }
      return performance.now() - began;
    },
    all: (sql: string) => database.prepare(sql).all(),
    close: () => database.close(),
  };
}
