// Events of loggers and agents that follow the recipes of the page "Send events": those that need no package run, of the
// others the lines and requests that they document. test/slow/senders.ts runs the rest.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t from "tap";
import { recipes } from "../../logservice/ui/start/recipes.ts";
import type { Event } from "../../schema/rpc.generated.ts";
import { root } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { senderWorld } from "../support/senders.ts";

t.test("Python's logging, by its recipe", { skip: requires("python3") }, async (t) => {
  const world = await senderWorld(t);
  const program = `${world.recipe("Python logging")}
log = logging.getLogger("shop")
log.debug("is not sent")
log.warning("slow %s", "query", extra={"path": "/a", "user": {"id": 7}, "when": datetime(2026, 1, 2)})
try:
    {}["absent"]
except KeyError:
    log.exception("failed")
log.critical("über")
`;
  await world.run({ "app.py": program }, ["python3", "app.py"]);
  const events = await world.events();
  t.same(
    events.map(({ level, message }) => [level, message]),
    [
      ["warning", "slow query"],
      ["error", "failed"],
      ["critical", "über"],
    ],
  );
  const [slow, failed] = events as readonly [Event, Event];
  t.same(slow.fields, { logger: "shop", path: "/a", user: { id: 7 }, when: "2026-01-02 00:00:00" });
  t.match(failed.fields?.exception, /^Traceback .*\n {4}\{\}\["absent"\]\n.*KeyError: 'absent'$/s, "is one event");
  for (const { timestamp } of events) t.match(timestamp, /^[\d-]{10}T[\d:.]+\+00:00$/, "as the program wrote it");
});

t.test("the README names each recipe", (t) => {
  const readme = readFileSync(join(root, "logservice/README.md"), "utf8");
  const place = { origin: "https://logs.example.com", projectId: "shop", token: "TOKEN" };
  for (const { name } of recipes(place)) t.match(readme.split("## Senders")[1]?.split("## Decisions")[0], name, name);
  t.end();
});

/** A line that a sender writes, and what arrives: level, message, time and fields. `now` is the time of arrival. */
const LINES: readonly (readonly [string, string, readonly [string, string, string, object]])[] = [
  [
    "pino",
    '{"level":40,"time":1795366907089,"pid":7,"hostname":"h","path":"/a","msg":"slow"}',
    ["warning", "slow", "2026-11-22T17:01:47.089Z", { pid: 7, hostname: "h", path: "/a" }],
  ],
  [
    "slog by its recipe: milliseconds",
    '{"time":"2026-11-22T17:01:47.089123456+01:00","level":"WARN","msg":"slow","duration":1.5}',
    ["warning", "slow", "2026-11-22T17:01:47.089123456+01:00", { duration: 1.5 }],
  ],
  [
    "log4j2's EcsLayout.json",
    '{"@timestamp":"2026-11-22T17:01:47.089Z","ecs.version":"1.2.0","log.level":"WARN","message":"slow","process.thread.name":"main","log.logger":"Shop"}',
    [
      "warning",
      "slow",
      "2026-11-22T17:01:47.089Z",
      { "ecs.version": "1.2.0", "process.thread.name": "main", "log.logger": "Shop" },
    ],
  ],
  [
    "nginx by its recipe",
    '{"time":1795366907.089,"level":"error","message":"GET /a?b HTTP/1.1","method":"GET","path":"/a","query":"b","status":502,"body_bytes_sent":157,"request_time":0.018,"ip":"192.0.2.7","user_agent":"curl/8"}',
    [
      "error",
      "GET /a?b HTTP/1.1",
      "2026-11-22T17:01:47.089Z",
      {
        ...{ method: "GET", path: "/a", query: "b", status: 502, body_bytes_sent: 157, request_time: 0.018 },
        ...{ ip: "192.0.2.7", user_agent: "curl/8" },
      },
    ],
  ],
  // https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html
  [
    "Lambda, a line of the function",
    '{"timestamp":"2026-11-22T17:01:47.089Z","level":"WARN","message":"slow","requestId":"79b4f56e"}',
    ["warning", "slow", "2026-11-22T17:01:47.089Z", { requestId: "79b4f56e" }],
  ],
  [
    "Lambda, an error of Python with its trace",
    '{"timestamp":"2026-11-22T17:01:47Z","log_level":"ERROR","errorMessage":"absent","errorType":"KeyError","requestId":"79b4f56e","stackTrace":["  File \\"/var/task/a.py\\", line 3"],"level":"ERROR","message":"failed"}',
    [
      "error",
      "failed",
      "2026-11-22T17:01:47Z",
      {
        ...{ log_level: "ERROR", errorMessage: "absent", errorType: "KeyError", requestId: "79b4f56e" },
        stackTrace: ['  File "/var/task/a.py", line 3'],
      },
    ],
  ],
  [
    "Lambda, a report of the platform",
    '{"time":"2026-11-22T17:01:47.089Z","type":"platform.report","record":{"requestId":"79b4f56e","status":"success"}}',
    [
      "info",
      '{"time":"2026-11-22T17:01:47.089Z","type":"platform.report","record":{"requestId":"79b4f56e","status":"success"}}',
      "2026-11-22T17:01:47.089Z",
      { type: "platform.report", record: { requestId: "79b4f56e", status: "success" } },
    ],
  ],
  [
    "Lambda, a start of the platform",
    '{"time":"2026-11-22T17:01:47.000Z","type":"platform.start","record":{"requestId":"79b4f56e","version":"3"}}',
    [
      "info",
      '{"time":"2026-11-22T17:01:47.000Z","type":"platform.start","record":{"requestId":"79b4f56e","version":"3"}}',
      "2026-11-22T17:01:47.000Z",
      { type: "platform.start", record: { requestId: "79b4f56e", version: "3" } },
    ],
  ],
  [
    "another line with a time of its own is as it was",
    '{"time":"2026-11-22T17:01:47.000Z","type":"order","record":{"id":3}}',
    [
      "info",
      '{"time":"2026-11-22T17:01:47.000Z","type":"order","record":{"id":3}}',
      "now",
      { time: "2026-11-22T17:01:47.000Z", type: "order", record: { id: 3 } },
    ],
  ],
];

t.test("the lines of senders", async (t) => {
  const { send, events } = await senderWorld(t);
  for (const [name, line, [level, message, timestamp, fields]] of LINES) {
    const project = await send({ "content-type": "application/x-ndjson" }, `${line}\n`);
    const [event] = await events(project);
    const isNow = Date.parse(event!.timestamp) > Date.parse("2026-11-22T18:00:00Z");
    const time = isNow ? "now" : event!.timestamp;
    t.same([event!.level, event!.message, time, event!.fields], [level, message, timestamp, fields], name);
  }
});

t.test("the requests of agents", async (t) => {
  const rows = [
    // https://vector.dev/docs/reference/configuration/sinks/http: text, newline_delimited, gzip.
    [
      "Vector",
      { "content-type": "text/plain", "content-encoding": "gzip", "user-agent": "Vector/0.50.0" },
      gzipSync('{"level":50,"time":1795366907089,"msg":"failed"}\nplain text'),
      [
        ["error", "failed", "2026-11-22T17:01:47.089Z", {}],
        ["info", "plain text", "now", {}],
      ],
    ],
    // https://docs.fluentbit.io/manual/pipeline/outputs/http: json_lines, json_date_key, iso8601.
    [
      "Fluent Bit",
      { "content-type": "application/x-ndjson", "user-agent": "Fluent-Bit" },
      `{"observed_timestamp":"2026-11-22T17:01:48.000000Z","level":"WARN","time":"2026-11-22T17:01:47.089Z","msg":"slow"}
{"observed_timestamp":"2026-11-22T17:01:48.000000Z","level":"error","message":"has no time"}
{"observed_timestamp":"2026-11-22T17:01:48.000000Z","message":"plain text"}
`,
      [
        ["warning", "slow", "2026-11-22T17:01:47.089Z", { observed_timestamp: "2026-11-22T17:01:48.000000Z" }],
        ["error", "has no time", "2026-11-22T17:01:48.000000Z", {}],
        ["info", "plain text", "now", { observed_timestamp: "2026-11-22T17:01:48.000000Z" }],
      ],
    ],
  ] as const;
  const { send, events } = await senderWorld(t);
  for (const [name, headers, body, expected] of rows) {
    const project = await send(headers, body);
    const arrived = (await events(project)).map(({ level, message, timestamp, fields = {} }) => {
      const isNow = Date.parse(timestamp) > Date.parse("2026-11-22T18:00:00Z");
      return [level, message, isNow ? "now" : timestamp, fields];
    });
    t.same(arrived, expected, name);
  }
});
