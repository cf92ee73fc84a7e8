// The service under a clock that is set back and ahead while it runs, by hours and by years.
import t from "tap";
import type { Upkeep } from "../../logservice/events/open.ts";
import type { EventsStore } from "../../logservice/events/store.ts";
import { startTestService } from "../support/service.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BEGIN_MS = Date.parse("2026-03-01T12:00:00Z");

/** How far the clock is moved, one after the other. */
const JUMPS_MS = [0, -HOUR_MS, 3 * DAY_MS, -400 * DAY_MS, 5 * HOUR_MS, 800 * DAY_MS, -403 * DAY_MS];

t.test("tokens are taken, and their rate is theirs, whatever the clock says", async (t) => {
  let nowMs = BEGIN_MS;
  const limits = { requestsPerSecond: 1, requestBurst: 3, holdMs: 50 };
  const service = await startTestService(t, { nowMs: () => nowMs, limits });
  for (const jumpMs of JUMPS_MS) {
    nowMs += jumpMs;
    const token = await service.token(["projects:read", "tokens:read"]);
    const title = new Date(nowMs).toISOString();
    t.equal((await service.call("get_projects", {}, token)).status, 200, title);
    nowMs -= 2 * HOUR_MS;
    t.equal((await service.call("get_projects", {}, token)).status, 200, `${title}, then two hours back`);
    const { json } = await service.call("get_tokens", {}, token);
    const used = json.tokens.map((one: { last_used_at: string }) => one.last_used_at);
    t.ok(used.includes(new Date(nowMs).toISOString()), "its last use is the last one");
    // Two hours ahead again no second has passed: the bucket stays empty.
    nowMs += 2 * HOUR_MS;
    const answers = await Promise.all(Array.from({ length: 30 }, () => service.call("get_projects", {}, token)));
    t.ok(
      answers.some(({ status }) => status === 429),
      `${title}: a loop is refused`,
    );
  }
});

t.test("records: a change does not lie before the one before", async (t) => {
  let nowMs = BEGIN_MS;
  const service = await startTestService(t, { nowMs: () => nowMs });
  const added = async (name: string, body: unknown): Promise<string> => (await service.call(name, body)).json.id;
  const project_id = await added("add_project", { project: { name: "app" } });
  const email = { project_id, type: "email", name: "n", email_addresses: ["a@example.com"] };
  const notification_id = await added("add_notification", { notification: email });
  const counted = { query: "error", severity: "info", operator: ">", threshold: 1 };
  const alert_id = await added("add_alert", { alert: { project_id, name: "a", notification_id, ...counted } });
  const search_id = await added("add_search", { search: { project_id, name: "s", query: "error" } });
  const change = async (name: string) => {
    const answers = [
      await service.call("update_project", { project: { id: project_id, name } }),
      await service.call("update_notification", { notification: { id: notification_id, project_id, name } }),
      await service.call("update_alert", { alert: { id: alert_id, project_id, name } }),
      await service.call("update_search", { search: { id: search_id, project_id, name } }),
    ];
    for (const { status, text } of answers) t.equal(status, 204, text);
    const tables = ["projects", "notifications", "alerts", "searches"] as const;
    return Promise.all(
      tables.map((table) => service.records.db.selectFrom(table).selectAll().executeTakeFirstOrThrow()),
    );
  };
  const begin = new Date(BEGIN_MS).toISOString();
  nowMs = BEGIN_MS - 400 * DAY_MS;
  for (const row of await change("of before")) {
    t.match(row, { name: "of before", created_at: begin, updated_at: begin });
  }
  nowMs = BEGIN_MS + DAY_MS;
  for (const row of await change("of after")) {
    t.match(row, { name: "of after", created_at: begin, updated_at: new Date(nowMs).toISOString() });
  }
});

t.test("events: none is lost, none is listed twice, the order of acceptance stays", async (t) => {
  let nowMs = BEGIN_MS;
  const service = await startTestService(t, { nowMs: () => nowMs, engine: "duckdb" });
  const events = service.events as EventsStore & Upkeep;
  const project_id = (await service.call("add_project", { project: { name: "app" } })).json.id;
  const add = async (number: number) => {
    const headers = { authorization: `Bearer ${service.owner}`, "idempotency-key": `key ${number}` };
    const batch = [
      { level: "info", message: `${number}`, fields: { at: "now" } },
      { level: "info", message: `${number}`, timestamp: "2026-01-01T00:00:00Z" },
      { level: "info", message: `${number}`, timestamp: "2026-01-01T00:00:00Z", id: `id ${number}` },
    ];
    const body = JSON.stringify({ project_id, events: batch });
    const { status, text } = await service.send({ path: "/add_events", headers, body });
    t.equal(status, 204, text);
    // Without the key the event with an id is known by that.
    const again = await service.call("add_events", { project_id, events: [batch[2]] });
    t.equal(again.status, 204, again.text);
  };
  for (const [number, jumpMs] of JUMPS_MS.entries()) {
    nowMs += jumpMs;
    await add(number);
    if (number % 2 === 0) await events.flush();
    await add(number);
    nowMs -= 2 * HOUR_MS;
    await add(number);
    nowMs += 2 * HOUR_MS;
  }
  const range = { project_id, start: "2000-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  const results = (await service.call("search", { ...range, limit: 1000, order: "ascending" })).json.events as {
    readonly id: string;
    readonly timestamp: string;
    readonly message: string;
    readonly fields: { readonly at?: string };
  }[];
  const numbers = JUMPS_MS.map((_, number) => `${number}`);
  const ofNow = results.filter(({ fields }) => fields.at === "now");
  t.strictSame(ofNow.map(({ message }) => message).sort(), numbers, "events without a time have the one of the clock");
  const times = ofNow.map(({ timestamp }) => timestamp);
  t.strictSame([...times].sort(), times);
  t.equal(times.at(-1), new Date(BEGIN_MS + JUMPS_MS.slice(0, 6).reduce((sum, jump) => sum + jump, 0)).toISOString());
  const ofOneTime = results.filter(({ fields, id }) => fields.at === undefined && !id.startsWith("id "));
  t.strictSame(
    ofOneTime.map(({ message }) => message),
    numbers,
    "events of one time are in the order in which they came",
  );
  t.strictSame(
    results.filter(({ id }) => id.startsWith("id ")).map(({ message }) => message),
    numbers,
  );
});

t.test("retention deletes what the clock says is too old, and no more when it is set back", async (t) => {
  let nowMs = BEGIN_MS;
  const service = await startTestService(t, { nowMs: () => nowMs, engine: "duckdb" });
  const events = service.events as EventsStore & Upkeep;
  const project_id = (await service.call("add_project", { project: { name: "app", retention: 30 } })).json.id;
  for (const days of [40, 25, 5, 0]) {
    const timestamp = new Date(BEGIN_MS - days * DAY_MS).toISOString();
    await service.call("add_events", { project_id, events: [{ level: "info", message: `${days}`, timestamp }] });
    // A segment for each, since those are what goes.
    await events.flush();
  }
  const kept = async () => {
    await events.compact();
    const range = { project_id, start: "2000-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
    const { json } = await service.call("search", { ...range, order: "ascending" });
    return json.events.map(({ message }: { message: string }) => message);
  };
  const rows: [days: number, kept: string[]][] = [
    [0, ["25", "5", "0"]],
    [-400, ["25", "5", "0"]],
    [2, ["25", "5", "0"]],
    [10, ["5", "0"]],
    [-400, ["5", "0"]],
    [0, ["5", "0"]],
  ];
  for (const [days, expected] of rows) {
    nowMs = BEGIN_MS + days * DAY_MS;
    t.strictSame(await kept(), expected, `the clock is ${days} days off`);
  }
});
