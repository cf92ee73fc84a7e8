// An acknowledgement comes after the disk has it: the sync of the journal is held up, and made to fail.
import { type FileHandle, open } from "node:fs/promises";
import { sql } from "kysely";
import t, { type Test } from "tap";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** Replaces the sync of every FileHandle of this process from now on: each waits for `let` to say how it ends. */
async function holdSyncs(t: Test): Promise<{ readonly waiting: ((error?: Error) => void)[] }> {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const real = prototype.datasync;
  const waiting: ((error?: Error) => void)[] = [];
  t.teardown(() => {
    prototype.datasync = real;
  });
  prototype.datasync = async function (this: FileHandle) {
    await new Promise<void>((resolve, reject) => waiting.push((error) => (error ? reject(error) : resolve())));
    await real.call(this);
  };
  return { waiting };
}

const RANGE = { project_id: "app", start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };

t.test("no event is acknowledged, counted or shown before the journal is synced", async (t) => {
  const service = await startTestService(t, { engine: "duckdb" });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const count = async () => (await service.call("get_count", RANGE)).json.count;
  const add = (message: string) => {
    const sent = { status: 0 };
    const events = [{ level: "info", message }];
    const answer = service.call("add_events", { project_id: "app", events }).then(({ status }) => {
      sent.status = status;
    });
    return { sent, answer };
  };

  const { waiting } = await holdSyncs(t);
  const first = add("first");
  await until("the first sync", () => waiting.length === 1);
  const second = add("second");
  // Each is a way to the service and back, on which an answer would have come.
  for (let i = 0; i < 5; i++) t.equal(await count(), 0);
  t.same([first.sent.status, second.sent.status], [0, 0]);

  waiting[0]!();
  await first.answer;
  t.equal(first.sent.status, 204);
  await until("the next sync", () => waiting.length === 2);
  for (let i = 0; i < 5; i++) t.equal(await count(), 1);
  t.equal(second.sent.status, 0, "what came while the first one ran has another");
  waiting[1]!();
  await second.answer;
  t.same([second.sent.status, await count()], [204, 2]);

  const refused = add("refused");
  await until("the sync that fails", () => waiting.length === 3);
  waiting[2]!(new Error("the disk is gone"));
  await until("the sync of what was cut off", () => waiting.length === 4);
  waiting[3]!();
  await refused.answer;
  t.same([refused.sent.status, await count()], [503, 2], "refused, and not there");
});

t.test("a change of records is durable when its transaction ends", async (t) => {
  const { records } = await startTestService(t);
  const mode = await sql<{ journal_mode: string }>`pragma journal_mode`.execute(records.db);
  const synchronous = await sql<{ synchronous: number }>`pragma synchronous`.execute(records.db);
  // https://www.sqlite.org/pragma.html#pragma_synchronous: 2 is FULL, below it WAL loses the last ones with the power.
  t.same([mode.rows[0], synchronous.rows[0]], [{ journal_mode: "wal" }, { synchronous: 2 }]);
});
