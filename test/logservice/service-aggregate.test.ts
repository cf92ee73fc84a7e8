// The operation `aggregate` over HTTP, and what all other readers of events say of stages.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { tool } from "../support/cli.ts";
import { startTestService } from "../support/service.ts";

const PERIOD = { start: "2026-05-01T10:00:00Z", stop: "2026-05-01T10:59:59.999Z" };

const EVENTS = Array.from({ length: 60 }, (_, at) => ({
  timestamp: `2026-05-01T10:${String(at).padStart(2, "0")}:00Z`,
  level: at % 10 === 0 ? "WARN" : at % 4 === 0 ? "error" : "info",
  message: `request ${at}`,
  fields: { path: at % 3 === 0 ? "/a" : "/b", duration: at === 7 ? "slow" : at * 10, status: at % 4 === 0 ? 500 : 200 },
}));

async function filled(t: Parameters<typeof startTestService>[0]) {
  const service = await startTestService(t, { engine: "duckdb" });
  const project_id: string = (await service.call("add_project", { project: { name: "p" } })).json.id;
  await service.call("add_events", { project_id, events: EVENTS });
  const ask = (query: string, more: object = {}) =>
    service.call("aggregate", { project_id, ...PERIOD, query, ...more });
  return { service, project_id, ask };
}

t.test("rows: what a query with stages answers", async (t) => {
  const { ask } = await filled(t);
  const number = (name: string, unit = "") => ({ name, type: "number", unit });
  const value = (name: string) => ({ name, type: "value", unit: "" });
  for (const [query, columns, rows, truncated = false, more = {}] of [
    ["| count", [number("count")], [[60]]],
    [
      "status >= 500 | count by path",
      [value("path"), number("count")],
      [
        ["/b", 10],
        ["/a", 5],
      ],
    ],
    [
      "| count by level",
      [{ name: "level", type: "level", unit: "" }, number("count")],
      [
        ["info", 42],
        ["error", 12],
        ["warning", 6],
      ],
    ],
    ["level = warn | stats first(level) as one", [{ name: "one", type: "level", unit: "" }], [["warning"]]],
    [
      "| stats max(duration), p50(duration) as middle by path | where middle > 0 | sort path",
      [value("path"), number("max(duration)", "ms"), number("middle", "ms")],
      [
        ["/a", 570, 270],
        ["/b", 590, 310],
      ],
    ],
    [
      "| timeseries 30m count(), rate()",
      [{ name: "time", type: "time", unit: "" }, number("count()"), number("rate()", "per second")],
      [
        ["2026-05-01T10:00:00.000Z", 30, 30 / 1800],
        ["2026-05-01T10:30:00.000Z", 30, 30 / 1800],
      ],
    ],
    ["| count by nothing", [value("nothing"), number("count")], [[null, 60]]],
    [
      "| count by duration | limit 3",
      [{ ...value("duration"), unit: "ms" }, number("count")],
      [
        [0, 1],
        [10, 1],
      ],
      true,
      { limit: 2 },
    ],
    ["path = /nowhere | count by path", [value("path"), number("count")], []],
    ["path = /nowhere | stats count(), sum(duration)", [number("count()"), number("sum(duration)", "ms")], [[0, null]]],
    ["| count by status | limit 1", [value("status"), number("count")], [[200, 45]]],
    ["| top 1 status", [value("status"), number("count")], [[200, 45]]],
    ["| count by status", [value("status"), number("count")], [[200, 45]], true, { limit: 1 }],
    [
      "| count by duration | sort duration | limit 3 | fields duration",
      [{ name: "duration", type: "value", unit: "ms" }],
      [[0], [10]],
      true,
      { limit: 2 },
    ],
    ["| sort duration desc | limit 2 | fields message", [value("message")], [["request 7"], ["request 59"]]],
  ] as const) {
    const { status, json } = await ask(query, more);
    t.equal(status, 200, `${query}: ${json.message}`);
    const left = query.includes("max(duration)") ? { left_out: 1 } : {};
    const expected = columns.map((one) => ({ ...one, ...(one.unit === "ms" && query.includes("max(") && left) }));
    t.strictSame([json.columns, json.rows, json.truncated], [expected, rows, truncated], query);
    t.equal(typeof json.stats.duration, "number", query);
  }
});

t.test("stages that give events give rows of them", async (t) => {
  const { ask } = await filled(t);
  const { json } = await ask("warn | limit 1");
  t.same(
    json.columns.map(({ name }: { name: string }) => name),
    ["id", "timestamp", "level", "message", "fields"],
  );
  const [[id, ...rest]] = json.rows;
  t.match(id, /^\w+$/);
  t.strictSame(rest, ["2026-05-01T10:00:00Z", "warning", "request 0", { path: "/a", duration: 0, status: 500 }]);
});

t.test("rows: what is refused", async (t) => {
  const { service, project_id, ask } = await filled(t);
  for (const [query, message] of [
    ["", /^query: is required$/],
    ["status >= 500", /^query: needs a stage, such as \| count by path; the operation search returns events$/],
    ["count by path", /^query: .*\|/],
    ["| count path", /^query: by is missing before "path": write by path$/],
    ["| stats count() by x | sort y", /^query: .*count\(\)/],
    ["| timeseries 7m", /^query: /],
    ["@slow | count", /^query: saved queries are known to the command only: send their text$/],
    ["method = GET and not @slow | count", /^query: saved queries are known to the command only: send their text$/],
  ] as const) {
    const { status, json } = await ask(query);
    t.equal(status, 400, query);
    t.match(json.message, message, query);
    t.equal(json.type, "invalid", query);
  }
  t.match((await ask("| count", { limit: 10_001 })).json.message, /^limit: must be at most 10000$/);
  t.match((await ask("| count", { stop: "2026-01-01T00:00:00Z" })).json.message, /^stop: must not be before start$/);
  const century = { start: "1900-01-01T00:00:00Z", stop: "2026-01-01T00:00:00Z" };
  const { status, json } = await ask("| timeseries 30s", century);
  t.same([status, json.type], [400, "bad_request"]);
  t.match(json.message, /^more than 100,000 steps of time: narrow the period, or write a longer step$/);
  const ages = await ask("| timeseries 7d", { start: "1900-01-01T00:00:00Z", stop: "9000-01-01T00:00:00Z" });
  t.equal(ages.json.message, "more than 100,000 steps of time: narrow the period");
  t.equal((await service.call("aggregate", { project_id: "nobody", ...PERIOD, query: "| count" })).status, 404);
  const writer = await service.token(["events:write"]);
  const refused = await service.call("aggregate", { project_id, ...PERIOD, query: "| count" }, writer);
  t.equal(refused.status, 403);
});

t.test("rows of large events are cut before the answer is too large", async (t) => {
  const { service, project_id, ask } = await filled(t);
  const message = "x".repeat(60_000);
  for (let batch = 0; batch < 6; batch++) {
    const events = Array.from({ length: 60 }, (_, at) => ({
      timestamp: PERIOD.stop,
      level: "debug",
      message: `${batch * 60 + at} ${message}`,
    }));
    await service.call("add_events", { project_id, events });
  }
  for (const query of [
    "debug | limit 1000",
    "debug | fields message",
    "debug | sort message | fields message",
    "debug | unique message",
  ]) {
    const { status, json } = await ask(query);
    t.equal(status, 200, query);
    t.equal(json.truncated, true, query);
    t.ok(json.rows.length > 200 && json.rows.length < 300, `${query}: ${json.rows.length} rows`);
  }
  t.same((await ask("debug | stats count(), distinct(message)")).json.rows, [[360, 360]]);
});

t.test("properties of events without fields are counted, and steps over centuries", async (t) => {
  const service = await startTestService(t, { engine: "duckdb" });
  const project_id: string = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const events = ["a", "b", "a"].map((message, at) => ({
    timestamp: `${1700 + 250 * at}-01-01T00:00:00Z`,
    level: "debug",
    message,
    id: `e${at}`,
  }));
  await service.call("add_events", { project_id, events });
  const ask = async (query: string) =>
    (
      await service.call("aggregate", {
        project_id,
        start: "0002-01-01T00:00:00Z",
        stop: "2300-01-01T00:00:00Z",
        query,
      })
    ).json;
  t.same((await ask("| count by message")).rows, [
    ["a", 2],
    ["b", 1],
  ]);
  t.same((await ask("level = debug | stats count(message), count(id), count(timestamp), count(level)")).rows, [
    [3, 3, 3, 3],
  ]);
  t.same((await ask("debug | count by timestamp, id | limit 1")).rows, [["1700-01-01T00:00:00Z", "e0", 1]]);
  const { rows, message } = (
    await service.call("aggregate", {
      project_id,
      start: "1690-01-01T00:00:00Z",
      stop: "2240-01-01T00:00:00Z",
      query: "message = * | timeseries 7d count() by level | where count > 0 | fields time",
    })
  ).json;
  t.same(rows, [["1699-12-28T00:00:00.000Z"], ["1949-12-26T00:00:00.000Z"], ["2199-12-30T00:00:00.000Z"]], message);
});

t.test("tool logs gives the same of a service and of a file", async (t) => {
  const { service, project_id } = await filled(t);
  const directory = mkdtempSync(join(tmpdir(), "tool-aggregate-"));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "events.ndjson");
  writeFileSync(file, EVENTS.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const url = service.running.url;
  const env = { TOOL_LOGS_TOKEN: service.owner };
  const of = (...argv: string[]) => tool(["logs", ...argv], { cwd: directory, env });
  const inService = ["--service", url, "--project", project_id, "-S", PERIOD.start, "--until", "2026-05-01T11:00:00Z"];
  const inFile = ["--file", file, "-S", PERIOD.start, "--until", "2026-05-01T11:00:00Z"];
  for (const query of [
    "| count by level, path",
    "status >= 500 | where path = /a | stats avg(duration), rate(), first(message), last(level) by status",
    "| timeseries 15m max(duration) by path",
    "| stats distinct(path), p90(duration)",
    "path = /nowhere | count by path",
    "warn | sort duration desc | limit 2",
    "| where level = warn",
  ]) {
    const [mine, theirs] = await Promise.all([of(...inService, query), of(...inFile, query)]);
    const comparable = (text: string) => text.replace(/"id":"\w+",/g, "").replace(/"(?:WARN|warning)"/g, '"warn"');
    t.equal(comparable(mine.stdout), comparable(theirs.stdout), query);
    t.notMatch(mine.stderr, /error/, query);
    t.equal(mine.code, 0, query);
  }
  // Without a period it is that of the events, which are of another day.
  const none = await of("--service", url, "--project", project_id, "| timeseries count()");
  t.same([none.stdout, none.code], ["", 0]);
  const noToken = await tool(["logs", ...inService, "| count"], { cwd: directory, env: { TOOL_LOGS_TOKEN: "lgs_x" } });
  t.equal(noToken.code, 1);
  t.match(noToken.stderr, /set TOOL_LOGS_TOKEN to what tool service token add prints/);
});

t.test("every other reader of events names aggregate; saved searches and alerts take stages", async (t) => {
  const { service, project_id } = await filled(t);
  const query = "error | count by path";
  const range = { project_id, ...PERIOD, query };
  const notification = { project_id, type: "email", name: "n", email_addresses: ["a@example.com"] };
  const notification_id: string = (await service.call("add_notification", { notification })).json.id;
  const alert = { project_id, name: "a", query, severity: "error", operator: ">", threshold: 1, notification_id };
  for (const [operation, input] of [
    ["search", range],
    ["get_count", range],
    ["get_timeseries", { ...range, max_points: 5 }],
    ["get_level_timeseries", { ...range, max_points: 5 }],
    ["get_discovered_fields", range],
    ["get_string_field_stats", { ...range, field: "path" }],
    ["get_boolean_field_stats", { ...range, field: "path" }],
    ["get_numeric_field_stats", { ...range, field: "path" }],
  ] as const) {
    const { status, json } = await service.call(operation, input);
    t.same([status, json.type], [400, "invalid"], operation);
    t.match(json.message, /query: must have no stages: the operation aggregate takes them$/, operation);
  }
  t.equal((await service.call("add_alert", { alert })).status, 200);
  const { status, text } = await service.send({
    method: "GET",
    path: `/tail?${new URLSearchParams({ project_id, query })}`,
    headers: { authorization: `Bearer ${service.owner}` },
  });
  t.equal(status, 400);
  t.match(text, /must have no stages: the operation aggregate takes them/);

  const { json } = await service.call("add_search", { search: { project_id, name: "errors by path", query } });
  const changed = { id: json.id, project_id, query: "| top path" };
  t.equal((await service.call("update_search", { search: changed })).status, 204);
  t.equal((await service.call("get_searches", { project_id })).json.searches[0].query, "| top path");
  const wrong = { search: { project_id, name: "wrong", query: "| count path" } };
  t.match((await service.call("add_search", wrong)).json.message, /^search\.query: /);
});
