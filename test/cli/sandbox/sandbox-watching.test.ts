// The work that the sandbox does and writes down by itself: figures of requests, alarms and their mails, schedules.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Dimension } from "@aws-sdk/client-cloudwatch";
import t from "tap";
import { readMetrics } from "../../../cli/aws/metrics.ts";
import { CHAT_SOURCE } from "../../../cli/aws/stack/chat-function.ts";
import { type AlarmRule, type AlarmState, evaluateAlarm } from "../../../cli/sandbox/cloud/alarm-evaluation.ts";
import { addTo, emptyDigest, statisticOf } from "../../../cli/sandbox/cloud/digest.ts";
import { MetricStore, type WrittenMinute } from "../../../cli/sandbox/cloud/metrics.ts";
import { openWorld } from "../../../cli/sandbox/cloud/open-world.ts";
import { isTimeZone, nextTime, parseScheduleExpression } from "../../../cli/sandbox/cloud/schedule-expression.ts";
import { StoredSeries } from "../../../cli/sandbox/cloud/series.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { withDefaults } from "../../../schema/index.ts";
import { TestClock } from "../../support/aws/clock.ts";
import { startAws } from "../../support/aws/index.ts";
import { askEndpoint, openApp } from "../../support/deployed-app.ts";
import { activeFunction } from "../../support/sandbox-function.ts";
import { until } from "../../support/until.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** X breaches, 0 does not, - is missing; the oldest first, as in the tables of CloudWatch's user guide. */
type Points = string;
type States = readonly [missing: string, ignore: string, breaching: string, notBreaching: string];
const FOUR = (state: string): States => [state, state, state, state];
const NONE = "INSUFFICIENT_DATA";

const alarmRows: readonly [points: Points, needed: number, periods: number, states: States][] = [
  ["0 - X - X", 3, 3, FOUR("OK")],
  ["- - - - 0", 3, 3, FOUR("OK")],
  ["0 - - - -", 3, 3, FOUR("OK")],
  ["- - - - -", 3, 3, [NONE, "kept", "ALARM", "OK"]],
  ["0 X X - X", 3, 3, FOUR("ALARM")],
  ["- - - - X", 3, 3, [NONE, "kept", "ALARM", "OK"]],
  ["- - X - -", 3, 3, ["ALARM", "kept", "ALARM", "OK"]],
  ["X - - - -", 3, 3, ["ALARM", "kept", "ALARM", "OK"]],
  ["0 - X - X", 2, 3, FOUR("ALARM")],
  ["0 0 X 0 X", 2, 3, FOUR("ALARM")],
  ["0 - X - -", 2, 3, ["OK", "OK", "ALARM", "OK"]],
  ["- - - - 0", 2, 3, ["OK", "OK", "ALARM", "OK"]],
  ["- - - - X", 2, 3, [NONE, "kept", "ALARM", "OK"]],
  ["- - - X -", 2, 3, ["ALARM", "kept", "ALARM", "OK"]],
  ["X X X 0 0", 3, 3, FOUR("OK")],
  ["0 0 X X X", 3, 3, FOUR("ALARM")],
  ["- - X", 1, 1, FOUR("ALARM")],
  ["X - -", 1, 1, FOUR("ALARM")],
  ["X - 0", 1, 1, FOUR("OK")],
  ["- - -", 1, 1, [NONE, "kept", "ALARM", "OK"]],
  ["- - X - X", 1, 3, FOUR("ALARM")],
];

t.test("when alarms change their state", (t) => {
  const rule: AlarmRule = {
    comparison: "GreaterThanThreshold",
    threshold: 1,
    evaluationPeriods: 1,
    datapointsToAlarm: 1,
    missing: "missing",
  };
  const pointsOf = (text: Points, values: Readonly<Record<string, number>> = { X: 2, "0": 1 }) =>
    text.split(" ").map((one, i) => ({ at: Date.UTC(2026, 10, 23, 15, i), value: values[one] }));
  for (const [text, datapointsToAlarm, evaluationPeriods, states] of alarmRows) {
    for (const [i, missing] of (["missing", "ignore", "breaching", "notBreaching"] as const).entries()) {
      const verdict = evaluateAlarm({ ...rule, datapointsToAlarm, evaluationPeriods, missing }, pointsOf(text));
      t.equal(verdict?.state ?? "kept", states[i], `${text}, ${datapointsToAlarm} of ${evaluationPeriods}, ${missing}`);
    }
  }
  const comparisons: readonly [comparison: string, value: number, state: AlarmState | undefined][] = [
    ["GreaterThanThreshold", 1, "OK"],
    ["GreaterThanThreshold", 1.1, "ALARM"],
    ["GreaterThanOrEqualToThreshold", 1, "ALARM"],
    ["LessThanThreshold", 1, "OK"],
    ["LessThanThreshold", 0, "ALARM"],
    ["LessThanOrEqualToThreshold", 1, "ALARM"],
    ["LessThanLowerThreshold", 0, undefined],
  ];
  for (const [comparison, value, state] of comparisons) {
    const verdict = evaluateAlarm({ ...rule, comparison }, [{ at: 0, value }]);
    t.equal(verdict?.state, state, `${value} ${comparison} 1`);
  }
  const reasons: readonly [rule: Partial<AlarmRule>, points: Points, reason: string][] = [
    [
      {},
      "0 0 X",
      "Threshold Crossed: 1 out of the last 1 datapoints [2.0 (23/11/26 15:02:00)] was greater than the threshold (1.0) (minimum 1 datapoint for OK -> ALARM transition).",
    ],
    [
      { evaluationPeriods: 3, datapointsToAlarm: 2 },
      "0 X 0 0",
      "Threshold Crossed: 2 out of the last 3 datapoints [1.0 (23/11/26 15:03:00), 1.0 (23/11/26 15:02:00)] were not greater than the threshold (1.0) (minimum 2 datapoints for ALARM -> OK transition).",
    ],
    [
      { missing: "notBreaching" },
      "- - -",
      "Threshold Crossed: no datapoints were received for 1 period and 1 missing datapoint was treated as [NonBreaching].",
    ],
    [
      { missing: "breaching", evaluationPeriods: 2, datapointsToAlarm: 2 },
      "- - -",
      "Threshold Crossed: no datapoints were received for 2 periods and 2 missing datapoints were treated as [Breaching].",
    ],
    [{}, "- - -", "Insufficient Data: 1 datapoint was unknown."],
  ];
  for (const [more, text, reason] of reasons) {
    t.equal(evaluateAlarm({ ...rule, ...more }, pointsOf(text))?.reason, reason);
  }
  t.end();
});

t.test("figures in a digest", (t) => {
  const digest = emptyDigest();
  const values = Array.from({ length: 20_000 }, (_, i) => ((i * 7919) % 20_000) / 10 + 1);
  for (const value of values) addTo(digest, value);
  t.equal(digest.count, 20_000);
  t.equal(statisticOf("Minimum", digest), 1);
  t.equal(statisticOf("Maximum", digest), 2000.9);
  t.ok(Math.abs(statisticOf("Sum", digest)! - values.reduce((a, b) => a + b)) < 1e-3);
  for (const percent of [1, 10, 50, 90, 95, 99, 99.9]) {
    const exact = (percent / 100) * 2000 + 1;
    const near = statisticOf(`p${percent}`, digest)!;
    t.ok(Math.abs(near - exact) / exact < 0.06, `p${percent}: ${near} for ${exact}`);
  }
  t.ok(digest.values.length <= 256, `${digest.values.length} values are kept`);
  const few = emptyDigest();
  for (const value of [0, 1, 0, 0, 1]) addTo(few, value);
  t.same(
    [few.values, few.counts],
    [
      [0, 1],
      [3, 2],
    ],
    "equal values are counted",
  );
  t.equal(statisticOf("p50", few), 0);
  t.equal(statisticOf("p95", few), 1);
  t.equal(statisticOf("Median", few), undefined);
  t.end();
});

const METRIC = { namespace: "AWS/ApiGateway", name: "Latency", dimensions: ["Stage=s", "ApiName=a"] };
const SAME_METRIC = { ...METRIC, dimensions: ["ApiName=a", "Stage=s"] };

t.test("figures by minute, through restarts", (t) => {
  const written = new StoredSeries<WrittenMinute>(
    ({ at }) => at,
    undefined,
    (text) => t.fail(text),
  );
  const begin = Date.UTC(2026, 10, 23, 12, 0, 10);
  let now = begin;
  let metrics = new MetricStore(written, () => now);
  const sums = (startMs: number, endMs: number, periodMs: number) =>
    metrics
      .periods(SAME_METRIC, { startMs, endMs, periodMs })
      .map(([at, { sum }]) => `${new Date(at).toISOString().slice(8, 16)} ${sum}`);
  metrics.add(METRIC, now, [1]);
  metrics.add(METRIC, now, [2, 3], [2, 1]);
  now += 40_000;
  metrics.add(METRIC, now, [10]);
  metrics.add({ ...METRIC, name: "Count" }, now, [1]);
  const all = () => sums(begin - DAY_MS, now + 1, MINUTE_MS);
  t.same(all(), ["23T12:00 18"]);
  metrics.flush(true);
  now += 5_000;
  metrics = new MetricStore(written, () => now);
  t.same(all(), ["23T12:00 18"], "after a restart");
  metrics.add(METRIC, now, [100]);
  t.same(all(), ["23T12:00 118"], "more of the same minute");
  now += MINUTE_MS;
  metrics.add(METRIC, now, [1000]);
  t.same(all(), ["23T12:00 118", "23T12:01 1000"]);
  metrics.flush(true);
  metrics = new MetricStore(written, () => now);
  t.same(all(), ["23T12:00 118", "23T12:01 1000"], "a minute that was written twice counts once");
  now += 10 * HOUR_MS;
  metrics.add(METRIC, now, [5]);
  metrics.add(METRIC, begin, [7]);
  t.same(all(), ["23T12:00 125", "23T12:01 1000", "23T22:01 5"], "a late figure of a minute that is not in memory");
  now += MINUTE_MS;
  metrics.flush();
  t.same(all(), ["23T12:00 125", "23T12:01 1000", "23T22:01 5"]);
  t.same(sums(begin, now, HOUR_MS), ["23T12:00 1125", "23T22:00 5"], "by hour from the start's minute on");
  t.same(sums(begin + MINUTE_MS, begin + 2 * MINUTE_MS, MINUTE_MS), ["23T12:01 1000"], "a part");
  t.end();
});

t.test("100,000 requests cost less than 20 MB", async (t) => {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  const clock = new TestClock();
  const folder = t.testdir();
  const open = () => openWorld({ folder, clock, report: (text) => t.fail(text) });
  let world = open();
  const { record } = world.service("monitoring");
  gc();
  const before = process.memoryUsage().heapUsed;
  const begin = process.cpuUsage();
  for (let i = 0; i < 100_000; i += 1) {
    if (i % 1000 === 0) clock.advance(DAY_MS / 100);
    // Times from 1 to 800 ms.
    const ms = Math.exp(((i * 7919) % 1000) / 150);
    const failed = i % 10 === 0 ? 1 : 0;
    const api = { Count: 1, "4XXError": 0, "5XXError": failed, Latency: ms + 5, IntegrationLatency: ms + 3 };
    record("AWS/ApiGateway", [{ ApiName: "a" }, { ApiName: "a", Stage: "s" }], api);
    const invocation = { Invocations: 1, Errors: failed, Throttles: 0, Duration: ms };
    record("AWS/Lambda", [{ FunctionName: "a" }, { FunctionName: "a", Resource: "a:s" }], invocation);
  }
  const { user, system } = process.cpuUsage(begin);
  gc();
  const megabytes = (process.memoryUsage().heapUsed - before) / 1e6;
  t.ok(megabytes < 20, `${megabytes.toFixed(1)} MB, ${((user + system) / 100_000).toFixed(1)} us each`);
  const figure = (Namespace: string, MetricName: string, Stat: string, Dimensions: Dimension[]) => ({
    Id: `${MetricName.replace(/^\d/, "x")}_${Stat}`.toLowerCase(),
    MetricStat: { Metric: { Namespace, MetricName, Dimensions }, Period: 3 * 86_400, Stat },
  });
  const stage = [
    { Name: "Stage", Value: "s" },
    { Name: "ApiName", Value: "a" },
  ];
  const figures = () =>
    world
      .service("monitoring")
      .operations.GetMetricData({
        StartTime: new Date(clock.now() - 2 * DAY_MS),
        EndTime: new Date(clock.now() + 1),
        MetricDataQueries: [
          figure("AWS/ApiGateway", "Count", "SampleCount", stage),
          figure("AWS/ApiGateway", "5XXError", "Sum", stage),
          figure("AWS/ApiGateway", "Latency", "p95", stage),
          figure("AWS/Lambda", "Errors", "Sum", [{ Name: "FunctionName", Value: "a" }]),
        ],
      })
      .MetricDataResults.map(({ Values }) => Values[0]!);
  const exact = Math.exp(950 / 150) + 5;
  for (const when of ["at once", "after a restart"]) {
    const [count, errors, p95, failures] = figures();
    t.same([count, errors, failures], [100_000, 10_000, 10_000], `${when}, all of them count`);
    t.ok(Math.abs(p95! - exact) / exact < 0.06, `${when}, p95 is ${p95} for ${exact}`);
    await world.close();
    world = open();
  }
  await world.close();
});

t.test("when schedules run", (t) => {
  const after = "2026-11-23T15:30:20Z";
  const rows: readonly [expression: string, timeZone: string | undefined, after: string, ...next: string[]][] = [
    ["rate(15 minutes)", undefined, after, "2026-11-23T15:45:00Z", "2026-11-23T16:00:00Z"],
    ["rate(1 hour)", undefined, after, "2026-11-23T16:00:00Z"],
    ["rate(2 days)", undefined, after, "2026-11-25T15:00:00Z"],
    ["rate(1 day)", undefined, "2026-11-01T00:00:00Z", "2026-11-23T15:00:00Z", "2026-11-24T15:00:00Z"],
    ["at(2026-11-23T16:00:00)", undefined, after, "2026-11-23T16:00:00Z", "never"],
    ["at(2026-11-23T16:00:00)", "Asia/Tokyo", after, "never"],
    ["at(2026-11-24T16:00:30)", "Asia/Tokyo", after, "2026-11-24T07:00:30Z", "never"],
    ["cron(* * * * ? *)", undefined, after, "2026-11-23T15:31:00Z", "2026-11-23T15:32:00Z"],
    ["cron(0/20 * * * ? *)", undefined, after, "2026-11-23T15:40:00Z", "2026-11-23T16:00:00Z"],
    ["cron(*/25 * * * ? *)", undefined, after, "2026-11-23T15:50:00Z", "2026-11-23T16:00:00Z"],
    ["cron(5,35 14-16 * * ? *)", undefined, after, "2026-11-23T15:35:00Z", "2026-11-23T16:05:00Z"],
    ["cron(0 10 * * ? *)", undefined, after, "2026-11-24T10:00:00Z", "2026-11-25T10:00:00Z"],
    ["cron(0 18 ? * MON-FRI *)", undefined, after, "2026-11-23T18:00:00Z", "2026-11-24T18:00:00Z"],
    [
      "cron(0 18 ? * FRI-SUN *)",
      undefined,
      after,
      "2026-11-27T18:00:00Z",
      "2026-11-28T18:00:00Z",
      "2026-11-29T18:00:00Z",
      "2026-12-04T18:00:00Z",
    ],
    ["cron(0 18 ? * 1 *)", undefined, after, "2026-11-29T18:00:00Z"],
    ["cron(0 8 1 * ? *)", undefined, after, "2026-12-01T08:00:00Z", "2027-01-01T08:00:00Z"],
    ["cron(0 8 31 * ? *)", undefined, after, "2026-12-31T08:00:00Z", "2027-01-31T08:00:00Z", "2027-03-31T08:00:00Z"],
    ["cron(0 0 29 FEB ? *)", undefined, after, "2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"],
    ["cron(0 0 L * ? *)", undefined, after, "2026-11-30T00:00:00Z", "2026-12-31T00:00:00Z"],
    ["cron(0 0 1W * ? *)", undefined, "2026-07-15T00:00:00Z", "2026-08-03T00:00:00Z", "2026-09-01T00:00:00Z"],
    ["cron(0 0 15W * ? *)", undefined, after, "2026-12-15T00:00:00Z", "2027-01-15T00:00:00Z", "2027-02-15T00:00:00Z"],
    ["cron(0 0 LW * ? *)", undefined, "2027-01-01T00:00:00Z", "2027-01-29T00:00:00Z", "2027-02-26T00:00:00Z"],
    ["cron(0 0 ? * 6#3 *)", undefined, after, "2026-12-18T00:00:00Z", "2027-01-15T00:00:00Z"],
    ["cron(0 0 ? * FRI#5 *)", undefined, after, "2027-01-29T00:00:00Z", "2027-04-30T00:00:00Z"],
    ["cron(0 0 ? * 6L *)", undefined, after, "2026-11-27T00:00:00Z", "2026-12-25T00:00:00Z"],
    ["cron(0 0 ? * L *)", undefined, after, "2026-11-28T00:00:00Z"],
    ["cron(0 0 1 1 ? 2030)", undefined, after, "2030-01-01T00:00:00Z", "never"],
    ["cron(0 0 1 1 ? 2020)", undefined, after, "never"],
    ["cron(0 0 31 2 ? *)", undefined, after, "never"],
    ["cron(0 9 * * ? *)", "America/New_York", after, "2026-11-24T14:00:00Z"],
    ["cron(0 9 * * ? *)", "Asia/Kolkata", after, "2026-11-24T03:30:00Z"],
    ["cron(0 0 * * ? *)", "Pacific/Kiritimati", after, "2026-11-24T10:00:00Z"],
    // A clock that is set forward skips the time, one that is set back does not run twice.
    ["cron(30 2 * * ? *)", "Europe/Paris", "2026-03-27T12:00:00Z", "2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"],
    ["cron(30 2 * * ? *)", "Europe/Paris", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
    ["at(2026-03-29T02:30:00)", "Europe/Paris", "2026-03-01T00:00:00Z", "never"],
  ];
  const timeText = (ms: number | undefined) =>
    ms === undefined ? "never" : new Date(ms).toISOString().replace(".000Z", "Z");
  for (const [text, timeZone, from, ...expected] of rows) {
    const expression = parseScheduleExpression(text)!;
    let at: number | undefined = Date.parse(from);
    const times: string[] = [];
    for (const _ of expected) {
      at = nextTime(expression, at!, { timeZone, fromMs: Date.parse("2026-11-23T15:00:00Z") });
      times.push(timeText(at));
    }
    t.same(times, expected, `${text} ${timeZone ?? ""}`);
  }
  const wrong = [
    "rate(0 minutes)",
    "rate(5 seconds)",
    "rate(5minutes)",
    "at(2026-13-01T00:00:00)",
    "at(2026-11-23)",
    "cron(0 0 * * *)",
    "cron(0 0 * * * *)",
    "cron(0 0 ? * ? *)",
    "cron(60 0 * * ? *)",
    "cron(0 24 * * ? *)",
    "cron(0 0 0 * ? *)",
    "cron(0 0 * 13 ? *)",
    "cron(0 0 ? * 8 *)",
    "cron(0 0 ? * MON#6 *)",
    "cron(0 0 32W * ? *)",
    "cron(*/0 0 * * ? *)",
    "cron(0 0 * * ? 1969)",
    "every minute",
  ];
  for (const text of wrong) t.equal(parseScheduleExpression(text), undefined, text);
  t.same(["UTC", "Europe/Paris", "Mars/Olympus"].map(isTimeZone), [true, true, false]);
  t.end();
});

for (const confirmsMail of [true, false]) {
  t.test(`a message to a chat ${confirmsMail ? "is kept, and nothing leaves" : "is sent"}`, async (t) => {
    const aws = await startAws(t, { clock: { speed: 1_000_000 }, roleDelayMs: 0, confirmsMail });
    const posted: string[] = [];
    const server = createServer((request, response) => {
      posted.push(`${request.url}`);
      response.end("ok");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.teardown(() => server.close());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const WEBHOOK_URL = `http://${host}/hooks/s3cret`;
    const invoke = await activeFunction(
      aws.state,
      { "index.js": CHAT_SOURCE },
      { Environment: { Variables: { WEBHOOK_URL } } },
    );
    const alarm = { AlarmName: "http.5xx", NewStateValue: "ALARM", NewStateReason: "6 > 5" };
    const events = [JSON.stringify(alarm), "plain"].map((Message) => ({ Sns: { Subject: "Hello", Message } }));
    const result = await invoke(JSON.stringify({ Records: events }));
    t.equal(result.kind === "document" && result.payload.toString(), "null");
    const mails = [...aws.state.service("sns").mails.values()];
    const kept = ["*Triggered*: http.5xx\n6 > 5", "Hello\nplain"];
    t.match(mails, confirmsMail ? kept.map((text) => ({ protocol: "chat", to: host, subject: "", text })) : []);
    t.same([mails.length, posted.length], confirmsMail ? [2, 0] : [0, 2]);
    t.notMatch(JSON.stringify(mails), "s3cret");
  });
}

t.test("an app is watched by the clock", async (t) => {
  const config = {
    actions: [
      { name: "ops", type: "email", emails: ["ops@example.com"] },
      { name: "phone", type: "sms", numbers: ["+12125550123"] },
    ],
    alerts: [
      { metric: "http.5xx", statistic: "sum", threshold: 1, action: "ops", description: "It fails" },
      { metric: "http.count", statistic: "count", operator: ">=", threshold: 3, action: "phone" },
    ],
    function: { warm: true, warm_count: 2 },
  };
  const options = { runsByClock: true, confirmsMail: true, issuesAtOnce: true };
  const { aws, app } = await openApp(t, config, options);
  app.write({
    "app.js": `require("node:http").createServer((request, response) => {
      response.statusCode = Number(request.url.slice(1)) || 200;
      response.end();
    }).listen(process.env.PORT);`,
  });
  const deployed = await app.tool(["deploy"]);
  t.equal(deployed.code, 0, deployed.stderr);
  const { clock } = aws.controls;
  const monitoring = aws.state.service("monitoring");
  const { mails } = aws.state.service("sns");
  const stateOf = () =>
    Array.from(monitoring.alarms.values(), ({ AlarmName, state }) => `${AlarmName} ${state}`).sort();

  clock.advance(MINUTE_MS);
  await until("both are OK after the first evaluation", () => mails.size === 2);
  t.same(stateOf(), ["app-staging-http.5xx-sum-above OK", "app-staging-http.count-count-above OK"]);
  const statuses = [200, 500, 200, 404, 502];
  for (const status of statuses) t.equal((await askEndpoint(aws, `${deployed.stdout.trim()}${status}`)).status, status);
  clock.advance(MINUTE_MS);
  await until("mails of the alarms", () => mails.size === 4);
  const [mail, text] = [...mails.values()].slice(2).sort((a, b) => (a.protocol < b.protocol ? -1 : 1));
  t.match(mail, {
    protocol: "email",
    to: "ops@example.com",
    subject: /^ALARM: "app-staging-http.5xx-sum-above" in eu-west-1$/,
  });
  t.match(mail!.text, 'has entered the ALARM state, because "Threshold Crossed: 1 out of the last 1 datapoints [2.0 (');
  t.match(mail!.text, /^- Description: +It fails$/m);
  t.match(mail!.text, /^- State Change: +OK -> ALARM$/m);
  t.match(mail!.text, /^- Dimensions: +\[ApiName = app\] \[Stage = staging\]$/m);
  t.match(text, { protocol: "sms", to: "+12125550123", text: /^app> ALARM: "app-staging-http.count-count-above" in/ });

  const sum = (name: string, FunctionName: string, more: object = {}) => {
    const { MetricDataResults } = monitoring.operations.GetMetricData({
      StartTime: new Date(0),
      EndTime: new Date(clock.now() + 1),
      MetricDataQueries: [
        {
          Id: "sum",
          MetricStat: {
            Metric: {
              Namespace: "AWS/Lambda",
              MetricName: name,
              Dimensions: Object.entries({ FunctionName, ...more }).map(([Name, Value]) => ({ Name, Value })),
            },
            Period: 86_400 * 36_500,
            Stat: "Sum",
          },
        },
      ],
    });
    return MetricDataResults[0]?.Values[0] ?? 0;
  };
  const warmed = (count: number) =>
    until(`${count} invocations of the stage`, () => sum("Invocations", "app", { Resource: "app:staging" }) === count);
  // With those of two containers that were warmed at once.
  await warmed(7);
  // As `tool metrics` asks, but by the clock of the test, which is ahead.
  const resolved = withDefaults({ name: "app" }, { env: aws.env });
  const period = { stage: "staging", sinceMs: clock.now() - DAY_MS, untilMs: clock.now() };
  const target = { env: aws.env, clock: systemClock, config: { name: "app" }, resolved, sandbox: undefined };
  const metrics = await readMetrics(target, period, new AbortController().signal);
  t.match(metrics, {
    requests: { count: 5, clientErrors: 1, serverErrors: 2 },
    invocations: { count: 7, errors: 0, throttles: 0 },
  });
  t.ok(Number(metrics.requests.avgMs) > 0, `${metrics.requests.avgMs} ms`);

  for (let i = 0; i < 4; i += 1) {
    clock.advance(MINUTE_MS);
    await monitoring.evaluate();
  }
  t.same(stateOf(), ["app-staging-http.5xx-sum-above OK", "app-staging-http.count-count-above OK"], "nothing happens");
  t.equal(mails.size, 6);

  // The schedule ran at once, and runs again when its time has come: each time in two containers at the same time.
  const [warmer = ""] = [...aws.state.service("lambda").state.functions.keys()].filter((name) => name !== "app");
  const runs = (count: number) => until(`${count} runs of ${warmer}`, () => sum("Invocations", warmer) === count);
  await runs(1);
  clock.advance(10 * MINUTE_MS);
  await runs(2);
  clock.advance(HOUR_MS);
  await runs(3);
  await warmed(11);
  t.equal(sum("Errors", warmer), 0);
});
