// `tool alerts test`: the tests beside alerts, and replays over files, a log service and CloudWatch.
import { join } from "node:path";
import t from "tap";
import { startAws } from "../../support/aws/index.ts";
import { tool } from "../../support/cli.ts";
import { startTestService } from "../../support/service.ts";
import { signedIn } from "../../support/signed-in.ts";

const entry = (time: string, path: string, status = 500) =>
  JSON.stringify({
    ...{ timestamp: `2026-01-15T${time}Z`, level: "error", message: "response" },
    fields: { path, status },
  });
const spike = [
  ...["12:00:10", "12:00:20", "12:00:30"].map((time) => entry(time, "/pay")),
  entry("12:03:00", "/pay", 200),
  entry("12:04:10", "/cart"),
  entry("12:04:20", "/cart"),
];

const NOTIFICATIONS = { ops: { type: "email", email_addresses: ["ops@example.com"] } };
const ERRORS = { query: "status >= 500", operator: ">", threshold: 1, interval: "1m", notify: "ops" };
const BY_PATH = { ...ERRORS, query: "status >= 500 | count by path" };

const project = (alerts: object, more: object = {}) => ({
  "tool.json": JSON.stringify({ name: "app", logs: { alerts, notifications: NOTIFICATIONS, ...more } }),
  "app.js": "",
  "spike.ndjson": `${spike.join("\n")}\n`,
});

t.test("the tests beside alerts, with their exit code", async (t) => {
  const tests = (...triggers: number[]) => ({ tests: triggers.map((n) => ({ file: "spike.ndjson", triggers: n })) });
  const cwd = t.testdir({
    ...project({ errors: { ...ERRORS, ...tests(2) } }, { include: ["ops/*.json"] }),
    ops: { "a.json": JSON.stringify({ logs: { alerts: { paths: { ...BY_PATH, ...tests(2, 1) } } } }) },
  });
  const { code, stdout } = await tool(["alerts", "test"], { cwd });
  t.equal(code, 1, "one fails");
  t.same(stdout.trimEnd().split("\n"), [
    "ok: errors on spike.ndjson: triggered 2 times",
    "ok: paths on spike.ndjson: triggered 2 times",
    "failed: paths on spike.ndjson: triggered 2 times, not 1",
    "  paths: triggered 2 times in 5 intervals of 1m",
    '    triggered 2026-01-15T12:01:00Z, resolved 2026-01-15T12:02:00Z (1m), by 3 path="/pay"',
    '    triggered 2026-01-15T12:05:00Z, not resolved, by 2 path="/cart"',
  ]);
  const passing = await tool(["alerts", "test", "errors", "--format", "json"], { cwd });
  t.equal(passing.code, 0, "those that are named");
  t.match(JSON.parse(passing.stdout), {
    tests: [{ alert: "errors", file: "spike.ndjson", passed: true, triggers: 2, expected: 2, intervals: 5 }],
  });
});

t.test("links in the place of a test's file are not followed out of the project", async (t) => {
  const tests = ["key.ndjson", "linked/b.ndjson", "within.ndjson"].map((file) => ({ file, triggers: 0 }));
  const at = t.testdir({
    "secret.txt": "key = a secret",
    other: { "b.ndjson": "another secret" },
    app: {
      ...project({ errors: { ...ERRORS, query: "| count by message", tests } }),
      "key.ndjson": t.fixture("symlink", "../secret.txt"),
      linked: t.fixture("symlink", "../other"),
      "within.ndjson": t.fixture("symlink", "spike.ndjson"),
    },
  });
  const { code, stdout, stderr } = await tool(["alerts", "test"], { cwd: join(at, "app") });
  t.equal(code, 1);
  t.notMatch(stdout + stderr, / secret/, "nothing of what is elsewhere is shown");
  const said = [...stderr.matchAll(/error: the link ("[^"]+") leads out of the project directory/g)].map(
    (one) => one[1],
  );
  t.same(said, ['"key.ndjson"', '"linked/b.ndjson"']);
});

t.test("a folder in the place of a test's file is no file, nor is that of the project", async (t) => {
  const tests = ["ops", "."].map((file) => ({ file, triggers: 0 }));
  const cwd = t.testdir({ ...project({ errors: { ...ERRORS, tests } }), ops: {} });
  const { code, stderr } = await tool(["alerts", "test"], { cwd });
  t.equal(code, 1);
  const said = [...stderr.matchAll(/error: (.*)/g)].map((one) => one[1]?.replace(/ \[.*/, ""));
  t.match(said, ['there is no file "ops"', 'there is no file "."']);
});

t.test("a replay over a file", async (t) => {
  const cwd = t.testdir(project({ errors: ERRORS, calm: { ...ERRORS, threshold: 9 } }));
  const { code, stdout } = await tool(["alerts", "test", "--file", "spike.ndjson"], { cwd });
  t.equal(code, 0, "what is found is no failure");
  t.same(stdout.trimEnd().split("\n"), [
    "errors: triggered 2 times in 5 intervals of 1m",
    "  triggered 2026-01-15T12:01:00Z, resolved 2026-01-15T12:02:00Z (1m), by 3",
    "  triggered 2026-01-15T12:05:00Z, not resolved, by 2",
    "calm: triggered 0 times in 5 intervals of 1m",
  ]);
  const json = await tool(["alerts", "test", "calm", "--file", "spike.ndjson", "--format", "json"], { cwd });
  t.same(JSON.parse(json.stdout), { alerts: [{ name: "calm", episodes: [], intervals: 5, missing_bytes: 0 }] });
});

t.test("entries without a time are counted, and a file that has no others is refused", async (t) => {
  const untimed = '{"level":"error","message":"response","fields":{"status":500}}\n';
  const cwd = t.testdir({
    ...project({ errors: ERRORS }),
    "untimed.ndjson": untimed,
    "text.ndjson": "not json\n",
    "empty.ndjson": "",
    "mixed.ndjson": `${spike.join("\n")}\n${untimed}not json\n`,
  });
  const own = (file: string) =>
    t.testdir({ ...project({ errors: { ...ERRORS, tests: [{ file, triggers: 0 }] } }), "bad.ndjson": untimed });
  const rows: [file: string, error: string][] = [
    ["untimed.ndjson", 'no entry in "untimed.ndjson" has a time'],
    ["text.ndjson", 'no entry in "text.ndjson" has a time'],
    ["empty.ndjson", 'there are no entries in "empty.ndjson"'],
  ];
  for (const [file, error] of rows) {
    const { code, stdout, stderr } = await tool(["alerts", "test", "--file", file], { cwd });
    t.same([code, stdout], [2, ""], file);
    t.match(stderr, `error: ${error}\n`);
  }
  const mixed = await tool(["alerts", "test", "--file", "mixed.ndjson"], { cwd });
  t.match(mixed, { code: 0, stdout: /^errors: triggered 2 times in 5 intervals/ });
  t.equal(mixed.stderr, '"mixed.ndjson": 2 entries have no time, and are left out\n');
  const tested = await tool(["alerts", "test"], { cwd: own("bad.ndjson") });
  t.match(tested, { code: 2, stdout: "", stderr: /error: no entry in "bad\.ndjson" has a time\n/ });
});

t.test("a replay without a log is refused: an alert would look tested", async (t) => {
  const cwd = t.testdir(project({ errors: ERRORS }));
  const { code, stdout, stderr } = await tool(["alerts", "test", "--since", "1h"], { cwd });
  t.same([code, stdout], [2, ""]);
  t.equal(
    stderr,
    ".tool/development.ndjson does not exist yet: tool start writes it\nerror: there is no log to replay\n  name another one by --sandbox, --cloud, --service URL or --file; tool start writes that of development\n",
  );
});

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

t.test("a replay over seven days of the service, and of CloudWatch, as preview_alert says", async (t) => {
  const [service, aws] = [await startTestService(t), await startAws(t)];
  const { url, host } = { ...service.running, host: new URL(service.running.url).host };
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const startMs = Math.floor(Date.now() / (5 * MINUTE_MS)) * 5 * MINUTE_MS;
  // Failures of two intervals, and of one before the seven days.
  const failures = [8, 5, 2].flatMap((days) => [1, 2].map((minute) => startMs - days * DAY_MS + minute * MINUTE_MS));
  const entries = failures.map((ms, at) => {
    const timestamp = new Date(ms).toISOString();
    return { timestamp, level: "error", message: "response", fields: { path: `/${at % 2}`, status: 500 } };
  });
  await service.call("add_events", { project_id: "app", events: entries.map((one, at) => ({ id: `${at}`, ...one })) });
  const lines = entries.map((one) => ({ timestamp: Date.parse(one.timestamp), message: JSON.stringify(one) }));
  aws.state.service("logs").append("/aws/lambda/app", "2026/01/15/[1]aaaa", lines);

  const { interval: _, ...errors } = ERRORS;
  const cwd = t.testdir(project({ errors }, { service: url }));
  const env = { ...aws.env, ...(await signedIn(t, service)) };
  const replay = async (...argv: string[]) => {
    const ran = await tool(["alerts", "test", "--since", "7d", ...argv], { cwd, env });
    t.equal(ran.code, 0, ran.stderr);
    return ran;
  };
  const text = await replay();
  const whole = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");
  const ends = [5, 2].map((days) => startMs - days * DAY_MS + 5 * MINUTE_MS);
  const [head, ...times] = text.stdout.trimEnd().split("\n");
  t.match(head, /^errors: triggered 2 times in 201[45] intervals of 5m$/);
  t.same(
    times,
    ends.map((ms) => `  triggered ${whole(ms)}, resolved ${whole(ms + 5 * MINUTE_MS)} (5m), by 2`),
  );

  const range = { start: new Date(startMs - 7 * DAY_MS).toISOString(), stop: new Date(startMs).toISOString() };
  const rule = {
    project_id: "app",
    query: errors.query,
    operator: ">",
    threshold: 1,
    interval: 5,
    notification_id: "none",
  };
  const preview = await service.call("preview_alert", {
    ...range,
    alert: { ...rule, name: "errors", severity: "error" },
  });
  t.equal(preview.status, 200, preview.text);
  for (const [flags, place] of [
    [[], host],
    [["--cloud"], "eu-west-1"],
  ] as const) {
    const { stdout, stderr } = await replay("--format", "json", ...flags);
    t.same(JSON.parse(stdout).alerts[0].episodes, preview.json.episodes, place);
    t.match(stderr, `reading the log of app in ${place}`);
  }
});

t.test("what cannot be tested says what to do", async (t) => {
  const rows: [alerts: object, argv: string[], error: RegExp][] = [
    [{}, [], /tool\.json has no alerts of the log service\n {2}write "logs"/],
    [{ errors: ERRORS }, [], /no alert has tests\n {2}give an alert "tests"/],
    [{ errors: ERRORS }, ["erors"], /there is no alert "erors"\n {2}did you mean errors\?/],
    [{ errors: ERRORS }, ["--file", "gone.ndjson"], /cannot read "gone\.ndjson"/],
  ];
  for (const [alerts, argv, error] of rows) {
    const { code, stdout, stderr } = await tool(["alerts", "test", ...argv], { cwd: t.testdir(project(alerts)) });
    t.same([code, stdout], [2, ""], argv.join(" "));
    t.match(stderr, error, argv.join(" "));
  }
  const cwd = t.testdir({
    ...project({ errors: ERRORS }),
    "long.ndjson": `${spike[0]}\n${entry("12:00:00", "/").replace("2026-01", "2026-03")}\n`,
  });
  const long = await tool(["alerts", "test", "--file", "long.ndjson"], { cwd });
  t.equal(long.code, 1);
  t.match(long.stderr, /cannot replay "errors": it has too many intervals in this time\n {2}give a shorter time/);
});
