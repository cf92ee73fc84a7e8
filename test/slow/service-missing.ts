// The words about answers that lack events: on the wire, by _ready, by `tool logs`. The store's part is put around the
// real one, since it says by itself only what a damaged disk makes it say.
import t from "tap";
import type { EventsStore, Loss } from "../../logservice/events/store.ts";
import { openDatabase } from "../../logservice/records/sqlite.ts";
import { tool } from "../support/cli.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const PERIOD = { start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };

const loss = (id: string, project: string, bytes: number): Omit<Loss, "isAccepted"> => ({
  id,
  project,
  file: `${id}.parquet`,
  reason: "is gone",
  bytes,
  events: undefined,
  firstMs: undefined,
  lastMs: undefined,
  isPossible: false,
});

/** A store whose answers lack `bytes` bytes, and which has these losses. */
function lacking(state: { bytes: number; losses: Omit<Loss, "isAccepted">[]; accepted: ReadonlySet<string> }) {
  return (events: EventsStore): EventsStore =>
    new Proxy(events, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (name === "losses") {
          return () => state.losses.map((one) => ({ ...one, isAccepted: state.accepted.has(one.id) }));
        }
        if (name === "acceptLosses") {
          return (ids: ReadonlySet<string>) => {
            state.accepted = ids;
          };
        }
        if (typeof value !== "function") return value;
        if (name === "projectStats") {
          return async (project: string) => ({ ...(await target.projectStats(project)), missingBytes: state.bytes });
        }
        return (...question: unknown[]) => {
          const answer = value.apply(target, question) as unknown;
          if (!(answer instanceof Promise)) return answer;
          return answer.then((result) =>
            result?.stats === undefined ? result : { ...result, stats: { ...result.stats, missingBytes: state.bytes } },
          );
        };
      },
    });
}

t.test("answers over missing data say so", async (t) => {
  const state = { bytes: 0, losses: [], accepted: new Set<string>() };
  const service = await startTestService(t, { engine: "duckdb", around: lacking(state) });
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  await service.call("add_events", { project_id, events: [{ level: "info", message: "m", fields: { a: 1 } }] });
  const range = { project_id, ...PERIOD };
  const rows: [operation: string, input: object][] = [
    ["search", range],
    ["get_count", range],
    ["get_timeseries", { ...range, max_points: 5 }],
    ["get_level_timeseries", { ...range, max_points: 5 }],
    ["aggregate", { ...range, query: "| count" }],
    ["query", { project_id, query: "select 1 as one" }],
    ["get_discovered_fields", range],
    ["get_string_field_stats", { ...range, field: "a" }],
    ["get_boolean_field_stats", { ...range, field: "a" }],
    ["get_numeric_field_stats", { ...range, field: "a" }],
  ];
  for (const [bytes, said] of [
    [0, undefined],
    [0.2, 1],
    [1234.6, 1235],
  ] as const) {
    state.bytes = bytes;
    for (const [operation, input] of rows) {
      const { status, json } = await service.call(operation, input);
      t.same([status, json.stats.missing_bytes], [200, said], `${operation}: ${bytes}`);
    }
    const { json } = await service.call("get_project_stats", { project_id });
    t.same([json.events_total, json.missing_bytes], [1, said], `get_project_stats: ${bytes}`);
  }
});

t.test("_ready counts the losses that nobody has accepted", async (t) => {
  const losses = [loss("a", "secret-1", 1_000), loss("b", "secret-1", 200), loss("c", "secret-2", 30)];
  const state = { bytes: 0, losses, accepted: new Set<string>(["of another start"]) };
  const service = await startTestService(t, { around: lacking(state) });
  t.same(state.accepted, new Set(), "told at the start");
  const ready = async () => {
    const { status, text } = await service.send({ method: "GET", path: "/_ready" });
    return [status, text];
  };
  t.same(await ready(), [200, '{"status":"ready","missing":{"losses":3,"bytes":1230,"projects":2}}']);

  // As another process accepts them.
  const other = await openDatabase(`${service.directory}/records.sqlite`);
  t.teardown(() => other.close());
  const accept = (id: string) =>
    other.prepare("insert into accepted_losses values (?, ?)").run([id, "2026-11-22T12:00:00Z"]);
  accept("c");
  await until("the acceptance", () => state.accepted.has("c"));
  t.same(await ready(), [200, '{"status":"ready","missing":{"losses":2,"bytes":1200,"projects":1}}']);
  for (const id of ["a", "b", "unknown"]) accept(id);
  await until("the others", () => state.accepted.size === 4);
  t.same(await ready(), [200, '{"status":"ready"}']);
});

t.test("tool logs says once that events are missing", async (t) => {
  const state = { bytes: 1_234_567, losses: [], accepted: new Set<string>() };
  const service = await startTestService(t, { engine: "duckdb", around: lacking(state) });
  const project_id = (await service.call("add_project", { project: { name: "p" } })).json.id;
  const events = Array.from({ length: 2_500 }, (_, i) => ({ level: "info", message: `m${i}` }));
  t.equal((await service.call("add_events", { project_id, events })).status, 204);
  const logs = (...argv: string[]) =>
    tool(["logs", "--service", service.running.url, "--project", project_id, ...argv], {
      env: { TOOL_LOGS_TOKEN: service.owner },
    });
  const rows: [argv: string[], lines: number, bytes: number, said: string | undefined][] = [
    [[], 2_500, 1_234_567, "1.2 MB"],
    [["--format", "json"], 2_500, 1_234_567, "1.2 MB"],
    [["--count"], 1, 4_500, "4.5 kB"],
    [["-n", "3"], 3, 1, "1 byte"],
    [["-n", "3"], 3, 999_949, "999.9 kB"],
    [["-n", "3"], 3, 999_951, "1.0 MB"],
    [["-n", "3"], 3, 20e9, "20.0 GB"],
    [["-n", "3"], 3, 0, undefined],
  ];
  for (const [argv, lines, bytes, said] of rows) {
    state.bytes = bytes;
    const { code, stdout, stderr } = await logs(...argv);
    const words = `tool logs ${argv.join(" ")}: ${bytes}`;
    t.same([code, stdout.trim().split("\n").length], [0, lines], words);
    const warnings = stderr.split("\n").filter((line) => line.startsWith("warning"));
    const which = `"tool service check" on the service's machine says which`;
    t.same(warnings, said === undefined ? [] : [`warning: ${said} of this time's events are missing: ${which}`], words);
    t.notOk(stdout.includes("warning"));
  }
  state.bytes = 4_500;
  const counted = await logs("| count");
  t.same([counted.code, counted.stdout], [0, '{"count":2500}\n']);
  t.match(counted.stderr, "partial: 4.5 kB of this time's events are missing\n");
});
