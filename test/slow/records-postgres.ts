// The records on a real PostgreSQL: the same tables and orders as in SQLite, transactions of two connections, the key, and a
// server that is away, breaks off or is a standby. The suites of the service run on it by TOOL_TEST_RECORDS=postgres.
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { FIRST_TEAM } from "../../logservice/records/accounts-migration.ts";
import { findAudit, writeAudit } from "../../logservice/records/audit.ts";
import { RecordsAway } from "../../logservice/records/away.ts";
import { takeLease } from "../../logservice/records/evaluator-lease.ts";
import { instanceId, makeInstanceId } from "../../logservice/records/instance.ts";
import { openRecords, type Records } from "../../logservice/records/open.ts";
import { ensureUser } from "../../logservice/records/people.ts";
import { openPostgresRecords } from "../../logservice/records/postgres/open.ts";
import { readPostgresAddress } from "../../logservice/records/postgres/place.ts";
import { addProject, listProjects } from "../../logservice/records/projects.ts";
import { transact } from "../../logservice/records/transact.ts";
import { databaseOf, requiresPostgres, type TestPostgres, testPostgres } from "../support/postgres.ts";
import { openOnPostgres, UNBOUNDED } from "../support/records.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

const skip = requiresPostgres();
const NOW = "2026-11-29T12:00:00.000Z";

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "records-pg-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The records of a folder, by as many connections' pools as are asked for, as several processes have them. */
async function opened(t: Test, folder: string, clock?: Clock): Promise<Records> {
  const records = await openOnPostgres(folder, clock === undefined ? {} : { clock });
  t.teardown(() => records.close());
  return records;
}

/** The types of PostgreSQL by those of the columns of SQLite. */
const TYPES: Readonly<Record<string, string>> = { TEXT: "text", INTEGER: "int8", BIGINT: "int8", REAL: "float8" };

t.test("the tables are those of SQLite", { skip }, async (t) => {
  const folder = folderOf(t);
  const postgres = await opened(t, folder);
  const sqlite = await openRecords(folder);
  t.teardown(() => sqlite.close());
  const tablesOf = async ({ db }: Records) =>
    (await db.introspection.getTables())
      .map(({ name, columns }) => ({
        name,
        columns: columns
          .map(({ name, dataType, isNullable }) => ({
            name,
            type: TYPES[dataType.toUpperCase()] ?? dataType,
            // SQLite lets keys of one column be null, for compatibility.
            isNullable: isNullable && !/^(id|key|team_id|events_key|sequence)$/.test(name),
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  const tables = await tablesOf(sqlite);
  t.ok(tables.length > 20);
  t.same(await tablesOf(postgres), tables);
  const server = await testPostgres();
  const columns = await server.run(
    databaseOf(folder),
    `select c.relname || '.' || a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
     join pg_namespace n on n.oid = c.relnamespace join pg_collation l on l.oid = a.attcollation
     where n.nspname = 'public' and c.relkind in ('r', 'i') and l.collname <> 'C'`,
  );
  t.same(columns, [], "every text is compared by its bytes");
});

t.test("orders, pages and numbers are those of SQLite", { skip }, async (t) => {
  const folder = folderOf(t);
  const postgres = await opened(t, folder);
  const sqlite = await openRecords(folder);
  t.teardown(() => sqlite.close());
  const names = [
    "b",
    "B",
    "a",
    "A-b",
    "Ab",
    "\u00e4",
    "z",
    "Z",
    "_",
    "-x",
    " y",
    "1",
    "10",
    "9",
    "\uff00",
    "\u{1f600}",
    "a b",
    "ab",
  ];
  const factsOf = async ({ db }: Records) => {
    for (const [at, name] of names.entries())
      await addProject(db, FIRST_TEAM, { id: `p${at}`, name, retention: at }, NOW);
    const audit = { team_id: "t", actor: "", operation: "o", project_id: "", address: "", result: "done" } as const;
    for (const target_id of names) await writeAudit(db, { ...audit, target_id, at: target_id });
    const entries = async (start?: string, stop?: string) => {
      const filter = { teams: ["t"], start, stop, projectId: undefined, limit: 100, after: undefined };
      return (await findAudit(db, filter)).map(({ target_id }) => target_id);
    };
    await db
      .insertInto("lateness")
      .values({ events_key: "k", seconds: 2 ** 31, seen_ms: Number.MAX_SAFE_INTEGER })
      .execute();
    const numbers = await db.selectFrom("lateness").selectAll().execute();
    const sums = await db
      .selectFrom("projects")
      .select(({ fn }) => [fn.countAll().as("count"), fn.sum("retention").as("sum"), fn.max("retention").as("max")])
      .executeTakeFirst();
    const none = await db.selectFrom("projects").select("id").where("id", "in", []).execute();
    return {
      projects: (await listProjects(db, FIRST_TEAM)).map(({ name }) => name),
      all: await entries(),
      some: await entries("A", "a"),
      ...{ numbers, sums, none },
    };
  };
  const facts = await factsOf(sqlite);
  t.same(await factsOf(postgres), facts);
  const server = await testPostgres();
  const [row] = await server.run("postgres", "select 'a' < 'B' as is_english");
  t.same(row, { is_english: true }, "the database itself sorts otherwise");
});

t.test("processes that open new records at the same time all get them", { skip }, async (t) => {
  const folder = folderOf(t);
  const all = await Promise.all([1, 2, 3, 4].map(() => opened(t, folder)));
  await makeInstanceId(all[0]!.db);
  const ids = await Promise.all(all.map(({ db }) => instanceId(db)));
  t.equal(new Set(ids).size, 1);
});

t.test("transactions of two processes are as if one had waited for the other", { skip }, async (t) => {
  const folder = folderOf(t);
  const all = [await opened(t, folder), await opened(t, folder)];
  const count = ({ db }: Records) =>
    transact(db, async (db) => {
      const row = await db.selectFrom("instance").select("value").where("key", "=", "count").executeTakeFirst();
      const value = String(Number(row?.value ?? 0) + 1);
      await db
        .insertInto("instance")
        .values({ key: "count", value })
        .onConflict((conflict) => conflict.column("key").doUpdateSet({ value }))
        .execute();
    });
  const rounds = Array.from({ length: 20 }, () => all.map(count));
  await Promise.all(rounds.flat());
  const row = await all[0]!.db.selectFrom("instance").select("value").where("key", "=", "count").executeTakeFirst();
  t.equal(row?.value, "40", "none is lost");
  const person = { email: "ann@example.com", emailKey: "ann@example.com" };
  const users = await Promise.all(
    [...all, ...all, ...all].map(({ db }) => transact(db, (db) => ensureUser(db, person, NOW))),
  );
  t.equal(new Set(users.map(({ id }) => id)).size, 1, "a row that all look for first is added once");
  for (let round = 0; round < 10; round++) {
    const atMs = round * 60_000;
    const holders = await Promise.all(all.map(({ db }, at) => takeLease(db, `process ${at}`, atMs)));
    t.equal(holders.filter((one) => one !== undefined).length, 1, `round ${round}: one has the lease`);
  }
});

t.test("the key of the secrets is the same for all processes", { skip }, async (t) => {
  const [folder, other] = [folderOf(t), folderOf(t)];
  const first = await opened(t, folder);
  const sealed = first.seal.close("secret", "place");
  const place = readPostgresAddress(await (await testPostgres()).database(databaseOf(folder)), undefined);
  if (!place.ok) throw new Error(place.problems[0]);
  const key = join(other, "secrets.key");
  await t.rejects(openPostgresRecords(place.value, key), {
    message: `${key} is missing: the secrets in the records are sealed by a key`,
    hint: "copy the file from another process, or put it back from a backup",
  });
  writeFileSync(key, Buffer.alloc(32, 1));
  await t.rejects(openPostgresRecords(place.value, key), { message: `${key} is not the key of these records` });
  const same = await openPostgresRecords(place.value, join(folder, "secrets.key"));
  t.equal(same.seal.open(sealed, "place"), "secret");
  await same.close();
});

t.test("a database that cannot be used is refused with what to do", { skip }, async (t) => {
  const server = await testPostgres();
  const folder = folderOf(t);
  const open = async (address: string, clock: Clock = systemClock) => {
    const place = readPostgresAddress(address, undefined);
    if (!place.ok) throw new Error(place.problems[0]);
    return openPostgresRecords({ ...place.value, bounds: UNBOUNDED }, join(folder, "secrets.key"), { clock });
  };
  const address = (await server.database("there")).replace("/there?", "/missing?");
  await t.rejects(open(address), {
    message: `the database missing at ${server.socket} does not exist`,
    hint: "make it: createdb --encoding UTF8 missing",
  });
  const foreign = await server.database("foreign");
  await server.run("foreign", "create table orders (id int)");
  await t.rejects(open(foreign), { message: `the database foreign at ${server.socket} has tables of another program` });
  await server.run(
    "foreign",
    "drop table orders; create view statements as select 1; create schema other; create table other.teams (id int)",
  );
  await (await open(foreign)).close();
  t.pass("another schema may have tables of the same names, and this one the views of extensions");
  await server.run("foreign", "insert into kysely_migration values ('9999-01-teleport', '2099-01-01T00:00:00Z')");
  await t.rejects(open(foreign), {
    message: `the database foreign at ${server.socket} was written by a newer version of tool`,
    hint: "upgrade tool",
  });
  await server.run(
    "postgres",
    "create database latin encoding 'SQL_ASCII' locale 'C' locale_provider libc template template0",
  );
  await t.rejects(open(foreign.replace("/foreign?", "/latin?")), {
    name: "RecordsError",
    message: `the database latin at ${server.socket} has the encoding SQL_ASCII`,
    hint: "make another one: createdb --encoding UTF8 --template template0 NAME",
  });
  await t.rejects(open(`${foreign}&sslmode=require`), {
    name: "RecordsError",
    message: `the database foreign at ${server.socket} takes no encrypted connections`,
  });
  const other = await server.database("other");
  await server.run(
    "other",
    `create table users (id int); create table kysely_migration (name varchar(255), timestamp varchar(255));
     insert into kysely_migration values ('001_users', '2026-01-01')`,
  );
  await t.rejects(open(other), { message: `the database other at ${server.socket} has tables of another program` });
  await server.run("other", "drop table users; drop table kysely_migration");
  await server.run("other", "alter database other set search_path = ''");
  await t.rejects(open(other), {
    message: `the database other at ${server.socket} cannot be changed by tool: no schema has been selected to create in`,
    hint: "make a schema for the records, and name it in the search_path of the user",
  });
  const clock = new TestClock();
  const nobody = settled(open(`postgres://tool@localhost/x?host=${encodeURIComponent(folder)}`, clock));
  t.match(await turned(clock, nobody), {
    message: new RegExp(`^the database x at ${folder} cannot be opened: connect ENOENT`),
    hint: "look whether the server runs and can be reached from here",
  });
});

/** The error or the value that a promise ends with. */
const settled = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

/** The longest pause between two attempts to connect. The bound of all of them is later, but for the last ones. */
const PAUSE_MS = 1_000;

/** Lets pauses pass until a promise is settled, and returns what with: what the server does takes no time. */
async function turned<T>(clock: TestClock, promise: Promise<T>): Promise<T> {
  let isOver = false;
  void promise.finally(() => (isOver = true));
  await until("its end", async () => {
    const [nextMs = Number.POSITIVE_INFINITY] = clock.timers;
    if (!isOver && nextMs <= PAUSE_MS) await clock.advance(nextMs);
    return isOver;
  });
  return promise;
}

t.test("a server that is away is waited for, and not for longer than five seconds", { skip }, async (t) => {
  const server = await testPostgres();
  const clock = new TestClock();
  const records = await opened(t, folderOf(t), clock);
  await makeInstanceId(records.db);
  await server.kill();
  const began = clock.monotonicMs();
  const error = await turned(clock, settled(instanceId(records.db)));
  t.ok(error instanceof RecordsAway, String(error));
  t.match((error as RecordsAway).reason, /^connect E/, "the log says why");
  t.equal(Math.ceil((clock.monotonicMs() - began) / 1_000), 5, "seconds of its clock");
  const waiting = instanceId(records.db);
  await server.start();
  t.type(await turned(clock, waiting), "string", "a request that waits is answered when it is back");
});

t.test("a server that refuses connections from now on is one that is away", { skip }, async (t) => {
  const server = await testPostgres();
  const clock = new TestClock();
  const folder = folderOf(t);
  const records = await opened(t, folder, clock);
  await makeInstanceId(records.db);
  const name = databaseOf(folder);
  const allow = (isAllowed: boolean) =>
    server.run("postgres", `alter database "${name}" allow_connections ${isAllowed}`);
  await allow(false);
  await server.run("postgres", `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  const error = await turned(clock, settled(instanceId(records.db)));
  t.ok(error instanceof RecordsAway, String(error));
  t.match((error as RecordsAway).reason, /is not currently accepting connections/);
  const waiting = instanceId(records.db);
  await allow(true);
  t.type(await turned(clock, waiting), "string", "it is used again when it takes them");
});

t.test("a transaction whose connection breaks off is run again", { skip }, async (t) => {
  const server = await testPostgres();
  const { db } = await opened(t, folderOf(t));
  const add = (key: string, on = db) => on.insertInto("instance").values({ key, value: "" }).execute();
  let tries = 0;
  await transact(db, async (db) => {
    tries++;
    await add(`try ${tries}`, db);
    if (tries > 1) return;
    await server.kill();
    await server.start();
    await add("never", db);
  });
  const keys = await db.selectFrom("instance").select("key").where("key", "!=", "key_fingerprint").execute();
  t.same([tries, keys], [2, [{ key: "try 2" }]]);
});

t.test("settings of the database neither bound a statement nor round a number", { skip }, async (t) => {
  const server = await testPostgres();
  const folder = folderOf(t);
  const name = databaseOf(folder);
  await server.database(name);
  for (const setting of ["statement_timeout = 1", "lock_timeout = 1", "extra_float_digits = -15"])
    await server.run("postgres", `alter database "${name}" set ${setting}`);
  const { db } = await opened(t, folder);
  const setting = (name: string) =>
    db.selectNoFrom(({ fn, val }) => fn<string>("current_setting", [val(name)]).as("value")).executeTakeFirst();
  t.same(await setting("statement_timeout"), { value: "0" });
  t.same(await setting("lock_timeout"), { value: "0" });
  t.same(await setting("default_transaction_isolation"), { value: "serializable" });
  const number = db.selectNoFrom(({ cast, val }) => cast<number>(val("0.1234567890123456"), "real").as("value"));
  t.same(await number.executeTakeFirst(), { value: 0.1234567890123456 });
});

/**
 * Passes a server on at a socket of its own, whose folder it returns. A connection that asks with a certain text is cut, or
 * gets no answer to it if `isHeld` returns true.
 */
async function cuttingRelay(t: Test, { socket }: TestPostgres, text: string, isHeld = () => false): Promise<string> {
  const name = ".s.PGSQL.5432";
  const folder = folderOf(t);
  const relay = createServer((near) => {
    const far = connect(join(socket, name));
    const end = () => {
      for (const one of [near, far]) one.destroy();
    };
    for (const one of [near, far]) one.on("error", end).on("close", end);
    near.on("data", (bytes) => {
      if (!bytes.includes(text)) far.write(bytes);
      else if (!isHeld()) end();
    });
    far.pipe(near);
  });
  await once(relay.listen(join(folder, name)), "listening");
  t.teardown(() => relay.close());
  return folder;
}

t.test("a question that breaks off each time ends as one to a server that is away", { skip }, async (t) => {
  const server = await testPostgres();
  const folder = folderOf(t);
  await opened(t, folder);
  const host = await cuttingRelay(t, server, 'from "searches"');
  const place = readPostgresAddress(await server.database(databaseOf(folder)), undefined);
  if (!place.ok) throw new Error(place.problems[0]);
  const key = join(folder, "secrets.key");
  const { db, close } = await openPostgresRecords({ ...place.value, host, bounds: UNBOUNDED }, key);
  t.teardown(close);
  const ask = db.selectFrom("searches").selectAll();
  for (const answer of [ask.execute(), transact(db, (db) => db.selectFrom("searches").selectAll().execute())]) {
    const error = await settled(answer);
    t.match(error, { name: "RecordsAway", advice: "try again" });
    t.match((error as RecordsAway).reason, /^Connection terminated/);
  }
});

t.test("a question that is not answered in its time is not asked again", { skip }, async (t) => {
  const server = await testPostgres();
  const folder = folderOf(t);
  await opened(t, folder);
  let count = 0;
  const host = await cuttingRelay(t, server, 'from "searches"', () => ++count > 0);
  const place = readPostgresAddress(await server.database(databaseOf(folder)), undefined);
  if (!place.ok) throw new Error(place.problems[0]);
  // The driver counts the time itself.
  const bounds = { ...UNBOUNDED, statementMs: 3_000 };
  const { db, close } = await openPostgresRecords({ ...place.value, host, bounds }, join(folder, "secrets.key"));
  t.teardown(close);
  t.match(await settled(db.selectFrom("searches").selectAll().execute()), { name: "RecordsAway", advice: "try again" });
  t.ok(count <= 1, `${count} times`);
  count = 0;
  const inside = transact(db, (db) => db.selectFrom("searches").selectAll().execute());
  t.match(await settled(inside), { name: "RecordsAway", advice: "try again" });
  t.ok(count <= 1, `${count} times in a transaction`);
});

t.test("transactions that wait for a turn go on together when the database is away", { skip }, async (t) => {
  const server = await testPostgres();
  const folder = folderOf(t);
  const { db } = await opened(t, folder);
  const ways: (() => void)[] = [];
  let conflicts = 0;
  const all = Array.from({ length: 4 }, () => {
    let tries = 0;
    const work = async () => {
      if (++tries === 1) {
        conflicts++;
        throw Object.assign(new Error("a conflict"), { code: "40001" });
      }
      await new Promise<void>((resolve) => ways.push(resolve));
      throw new RecordsAway("away");
    };
    return settled(transact(db, work));
  });
  const open = `select 1 from pg_stat_activity where datname = '${databaseOf(folder)}' and state like 'idle in%'`;
  await until("the first one has its turn, and the others wait for theirs", async () => {
    if (ways.length !== 1 || conflicts !== 4) return false;
    return (await server.run("postgres", open)).length === 1;
  });
  ways[0]!();
  await until("all others go on", () => ways.length === 4);
  for (const go of ways) go();
  t.match(
    await Promise.all(all),
    [1, 2, 3, 4].map(() => ({ name: "RecordsAway" })),
  );
});

t.test(
  "a transaction that the server took back has failed, though nobody minded its statement",
  { skip },
  async (t) => {
    const { db } = await opened(t, folderOf(t));
    const add = (on = db) => on.insertInto("instance").values({ key: "k", value: "" }).execute();
    const twice = transact(db, async (db) => {
      await add(db);
      await add(db).catch(() => {});
    });
    await t.rejects(twice, { message: "the transaction was taken back, since a statement of it had failed" });
    await add();
  },
);

t.test("a change whose answer is lost is not made twice", { skip }, async (t) => {
  const server = await testPostgres();
  const folder = folderOf(t);
  const { db } = await opened(t, folder);
  const other = await opened(t, folder);
  await db.insertInto("instance").values({ key: "k", value: "0" }).execute();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let isHeld = false;
  const held = transact(other.db, async (db) => {
    await db.updateTable("instance").set({ value: "held" }).where("key", "=", "k").execute();
    isHeld = true;
    await released;
  });
  await until("the row is locked", () => isHeld);
  const change = settled(db.updateTable("instance").set({ value: "1" }).where("key", "=", "k").execute());
  const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = '${databaseOf(folder)}'`;
  await until("the change waits", async () => (await server.run("postgres", waiting)).length === 1);
  await server.run("postgres", waiting.replace("select pid", "select pg_terminate_backend(pid)"));
  const error = await change;
  t.ok(error instanceof RecordsAway, String(error));
  t.match((error as RecordsAway).advice, "look whether it was made");
  release();
  await held;
});

t.test("a server that became a standby is left", { skip }, async (t) => {
  const server = await testPostgres();
  const clock = new TestClock();
  const records = await opened(t, folderOf(t), clock);
  await server.kill();
  const signal = join(server.socket, "data/standby.signal");
  writeFileSync(signal, "");
  chmodSync(signal, 0o644);
  await server.start();
  const error = await turned(clock, settled(makeInstanceId(records.db)));
  t.match(error, { name: "RecordsAway", cause: { message: "the server is a standby, which takes no changes" } });
  await server.run("postgres", "select pg_promote()");
  await turned(clock, makeInstanceId(records.db));
  t.type(await turned(clock, instanceId(records.db)), "string");
});

t.test("a server that takes no changes any more is left", { skip }, async (t) => {
  const server = await testPostgres();
  const clock = new TestClock();
  const folder = folderOf(t);
  const records = await opened(t, folder, clock);
  const set = (value: string) =>
    server.run("postgres", `alter database "${databaseOf(folder)}" set default_transaction_read_only = ${value}`);
  await set("on");
  await server.kill();
  await server.start();
  const error = await turned(clock, settled(makeInstanceId(records.db)));
  t.match(error, { name: "RecordsAway", cause: { message: "the server takes no changes" } });
  await set("off");
  await turned(clock, makeInstanceId(records.db));
  t.type(await turned(clock, instanceId(records.db)), "string");
});
