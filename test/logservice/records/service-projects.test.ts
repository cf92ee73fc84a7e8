// Under which name the events of a project are kept: its own, which nobody sees and no other project ever gets.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { checkDataDirectory } from "../../../logservice/admin/check.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { FIRST_TEAM } from "../../../logservice/records/accounts-migration.ts";
import { openRecords } from "../../../logservice/records/open.ts";
import { eventsKeyOf } from "../../../logservice/records/projects.ts";
import { damagedRows, summed } from "../../../logservice/records/row-sums.ts";
import { ROW_SUMS } from "../../../logservice/records/row-sums-migration.ts";
import { openDatabase } from "../../../logservice/records/sqlite.ts";
import { root } from "../../support/cli.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const PERIOD = { start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
const never = new AbortController().signal;

t.test("a project gets a key of its own, which is shown nowhere", async (t) => {
  const service = await startTestService(t, { engine: "duckdb" });
  const project_id = (await service.call("add_project", { project: { name: "api" } })).json.id;
  const key = await eventsKeyOf(service.records.db, { team_id: FIRST_TEAM, id: project_id });
  t.match(key, /^[a-z0-9]{20}$/);
  await service.call("add_events", { project_id, events: [{ level: "info", message: "one" }] });
  const range = { project_id, ...PERIOD };
  const answers = await Promise.all([
    service.call("get_projects"),
    service.call("get_project_stats", { project_id }),
    service.call("search", range),
    service.call("get_count", range),
    service.call("query", { project_id, query: "select * from events" }),
    service.call("query", { project_id, query: "select * from nothing" }),
    service.call("query", { project_id, query: "select error(id) from events" }),
    service.call("get_discovered_fields", range),
    service.send({ method: "GET", path: "/metrics" }),
  ]);
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 400, 400, 200, 200],
  );
  for (const { text } of answers) t.notOk(text.includes(key), text);
  t.same(answers[1]!.json.events_total, 1);
  const project = answers[0]!.json.projects[0];
  const fields = ["created_at", "description", "id", "location", "mode", "name", "retention", "updated_at"];
  t.same(Object.keys(project).sort(), fields);
  await service.call("update_project", { project: { id: project_id, name: "API", retention: 7 } });
  t.equal(await eventsKeyOf(service.records.db, { team_id: FIRST_TEAM, id: project_id }), key, "it never changes");

  t.equal((await service.call("remove_project", { project_id })).status, 204);
  t.equal((await service.call("add_project", { project: { name: "api" } })).json.id, project_id);
  t.not(
    await eventsKeyOf(service.records.db, { team_id: FIRST_TEAM, id: project_id }),
    key,
    "a namesake has another one",
  );
  t.equal((await service.call("get_count", range)).json.count, 0);
});

t.test("usage is of the team's projects, and the disk is for owners", async (t) => {
  const service = await startTestService(t, { engine: "duckdb", nowMs: () => Date.parse("2026-01-31T12:00:00Z") });
  for (const name of ["api", "web"]) await service.call("add_project", { project: { name } });
  const [timestamp, before] = ["2026-01-31T00:00:00Z", "2026-01-01T23:59:59Z"];
  await service.call("add_events", {
    project_id: "api",
    events: [
      { timestamp, level: "warn", message: "today" },
      { timestamp, level: "info", message: "today" },
      { timestamp: before, level: "info", message: "30 days before" },
    ],
  });
  const owner = await service.person("ann@example.com", "owner");
  const member = await service.person("bob@example.com", "member");
  const { json } = await service.call("get_usage", {}, owner);
  const [api, web] = json.projects;
  const levels = [
    { level: "info", count: 1 },
    { level: "warning", count: 1 },
  ];
  const [day] = api.days;
  t.ok(day.bytes > 0 && day.stored_bytes > 0);
  t.same(
    api,
    { project_id: "api", days: [{ ...day, day: "2026-01-31", events: 2, levels }] },
    "30 days unless told otherwise",
  );
  t.same(web, { project_id: "web", days: [] });
  t.ok(json.disk.free_bytes > 0 && json.disk.free_bytes <= json.disk.total_bytes);
  const rows = [
    ["a month", { days: 31 }, ["2026-01-01", "2026-01-31"]],
    ["a day", { days: 1 }, ["2026-01-31"]],
    ["one project", { project_id: "api" }, ["2026-01-31"]],
  ] as const;
  for (const [name, input, days] of rows) {
    const answer = await service.call("get_usage", input, member);
    t.same(
      answer.json.projects[0].days.map((one: { day: string }) => one.day),
      days,
      name,
    );
    t.notOk("disk" in answer.json, "not for members");
  }
  t.equal((await service.call("get_usage", { project_id: "api" })).json.projects.length, 1);
  t.notOk("disk" in (await service.call("get_usage")).json, "nor for programs");
  t.equal((await service.call("get_usage", { days: 93 })).status, 400);
});

t.test("records of before there were teams belong to the first team", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tool-before-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const path = join(directory, "records.sqlite");
  const before = await openDatabase(path);
  const at = "2026-11-22T12:30:00.000Z";
  before.exec(readFileSync(join(root, "test/fixtures/records-2026-01.sql"), "utf8"));
  before.exec(
    `insert into notifications values ('n1', 'shop', 'email', 'people', '["a@b.c"]', '[]', '', '', '', '', '${at}', '${at}')`,
  );
  before.exec(
    `insert into alerts ("id", "project_id", "name", "description", "query", "severity", "operator", "notification_id", "created_at", "updated_at", "threshold", "limit", "interval", "muted", "triggered")
     values ('a1', 'shop', 'errors', '', 'error', 'error', '>', 'n1', '${at}', '${at}', 9007199254740991, 10, 5, 0, 1)`,
  );
  before.exec(`insert into outbox values ('o1', 'test_alert', 'shop', 'n1', '{}', '${at}')`);
  // The next step of the migration fails here.
  before.exec(`create table new_outbox (id text)`);
  before.close();
  await t.rejects(openRecords(directory), /cannot be migrated/);
  const between = await openDatabase(path);
  const names = between.prepare("select name from sqlite_schema where type = 'table'").all([]) as { name: string }[];
  t.notOk(
    names.some(({ name }) => ["teams", "new_projects"].includes(name)),
    "nothing of a migration that failed is left",
  );
  between.exec("drop table new_outbox");
  between.close();

  const service = await startTestService(t, { directory });
  t.match((await service.call("get_projects")).json.projects, [{ id: "shop", retention: 30 }, { id: "api" }]);
  t.match((await service.call("get_searches", { project_id: "shop" })).json.searches, [{ name: "errors" }]);
  t.match((await service.call("get_notifications", { project_id: "shop" })).json.notifications, [
    { id: "n1", email_addresses: ["a@b.c"], created_at: at },
  ]);
  t.match((await service.call("get_alerts", { project_id: "shop" })).json.alerts, [
    { id: "a1", threshold: 9007199254740991, triggered: true, notification_id: "n1" },
  ]);
  t.match((await service.call("get_tokens")).json.tokens, [{ id: "tok_pcxp8g8j4gvkjdqj67nw" }, {}]);
  t.equal((await service.call("get_audit")).json.entries.length, 3);
  t.equal((await service.call("get_instance_config")).json.config.team_id, "owner");
  await service.call("remove_project", { project_id: "shop" });
  for (const table of ["notifications", "alerts", "searches"] as const)
    t.same(await service.records.db.selectFrom(table).select("id").execute(), [], `${table} go with their project`);
});

t.test("records of before, whose events are kept under the project's id", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tool-before-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const before = await openDatabase(join(directory, "records.sqlite"));
  before.exec(readFileSync(join(root, "test/fixtures/records-2026-01.sql"), "utf8"));
  before.close();
  const events = await openEventsStore({ directory: join(directory, "events") });
  const kept = { timestamp: "2026-11-22T12:00:00Z", level: "info", message: "kept", fields: {} };
  await events.append("shop", [kept, kept]);
  await events.append("api", [kept]);
  await events.close();

  for (const start of ["the first", "the next"]) {
    const service = await startTestService(t, { engine: "duckdb", directory });
    const count = async (project_id: string) => (await service.call("get_count", { project_id, ...PERIOD })).json.count;
    t.same([await count("shop"), await count("api")], [2, 1], `${start} start finds them`);
    t.match((await service.call("get_searches", { project_id: "shop" })).json.searches, [{ name: "errors" }]);
    t.match((await service.call("get_projects")).json.projects, [{ id: "shop", retention: 30 }, { id: "api" }]);
    const { db } = service.records;
    t.same(await damagedRows(db), [], "rows of before have their checksums");
    await summed(db).updateTable("tokens").set({ sum: null }).execute();
    await ROW_SUMS.up(db);
    t.same(await damagedRows(db), [], "also if the migration was ended half way");
    await service.running.close();
  }

  const records = await openDatabase(join(directory, "records.sqlite"));
  records.exec(`update tokens set scopes = '["tokens:write"]' where id = 'tok_pcxp8g8j4gvkjdqj67nw'`);
  records.close();
  const [folder, nothing] = [directory, async () => {}];
  const options = { folder, repair: false, acceptedLosses: [], nowMs: Date.now, reading: nothing, repaired: () => {} };
  const detail = /^the token tok_pcxp8g8j4gvkjdqj67nw: its row is damaged, so it is refused: remove it/;
  const { findings } = await checkDataDirectory(options);
  t.match(
    findings.filter((one) => one.file === "records.sqlite"),
    [{ file: "records.sqlite", state: "damaged", detail, remedy: "write the row again" }],
  );
});

t.test("a migration that was ended half way is done again", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tool-before-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const before = await openDatabase(join(directory, "records.sqlite"));
  before.exec(readFileSync(join(root, "test/fixtures/records-2026-01.sql"), "utf8"));
  before.exec(`alter table projects add column events_key text not null default ''`);
  before.exec(`create table accepted_losses (id text primary key, at text not null)`);
  before.exec(`create table billing_events (id text primary key, at text not null)`);
  before.close();
  const service = await startTestService(t, { directory });
  t.equal(await eventsKeyOf(service.records.db, { team_id: FIRST_TEAM, id: "shop" }), "shop");
  t.equal(await eventsKeyOf(service.records.db, { team_id: FIRST_TEAM, id: "api" }), "api");
  t.same(await service.records.db.selectFrom("subscriptions").selectAll().execute(), []);
});

t.test("no append outlives the removal of its project", async (t) => {
  let hold: Promise<void> | undefined;
  let appends = 0;
  // The store itself, slow where a disk may be.
  const around = (events: EventsStore): EventsStore =>
    new Proxy(events, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (name !== "append" || typeof value !== "function")
          return value instanceof Function ? value.bind(target) : value;
        return async (...batch: Parameters<EventsStore["append"]>) => {
          appends++;
          await hold;
          return target.append(...batch);
        };
      },
    });
  const service = await startTestService(t, { engine: "duckdb", around });
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const key = await eventsKeyOf(service.records.db, { team_id: FIRST_TEAM, id: project_id });
  const events = [{ level: "info", message: "m" }];
  const add = () => service.call("add_events", { project_id, events });
  const ingest = () =>
    service.send({
      path: `/ingest/${project_id}`,
      headers: { authorization: `Bearer ${service.owner}` },
      body: "{}\n",
    });
  t.equal((await add()).status, 204);

  let release = () => {};
  hold = new Promise((resolve) => {
    release = resolve;
  });
  const under = [add(), ingest()];
  await until("the appends under way", () => appends === 3);
  // One of them waits for the appends, the other is told so.
  const removals = [1, 2].map(() => service.call("remove_project", { project_id }));
  const refused = await Promise.race(removals);
  t.same(
    [refused.status, refused.json],
    [503, { type: "unavailable", message: 'the project "p" is being removed: try again' }],
  );
  for (const answer of [await add(), await ingest()])
    t.same([answer.status, answer.headers["retry-after"]], [503, "1"]);
  release();
  t.same(
    (await Promise.all(under)).map(({ status }) => status),
    [204, 200],
  );
  t.same((await Promise.all(removals)).map(({ status }) => status).sort(), [204, 503]);
  t.equal((await add()).status, 404);
  const left = await service.events.count({ project: key, startMs: 0, stopMs: 4e12, query: undefined, signal: never });
  t.equal(left.count, 0, "nothing is left under its key");
});

t.test("a removal that fails lets appends go on", async (t) => {
  let failure: Error | undefined;
  const around = (events: EventsStore): EventsStore => ({
    ...events,
    async deleteProject(project) {
      if (failure !== undefined) throw failure;
      await events.deleteProject(project);
    },
  });
  const service = await startTestService(t, { around });
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const events = [{ level: "info", message: "m" }];
  failure = Object.assign(new Error("no space"), { code: "ENOSPC" });
  t.equal((await service.call("remove_project", { project_id })).status, 503);
  t.equal((await service.call("add_events", { project_id, events })).status, 204);
  failure = undefined;
  t.equal((await service.call("remove_project", { project_id })).status, 204);
});
