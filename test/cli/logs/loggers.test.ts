// The lines of real loggers (`fixtures/logger-lines.json`, made by `fixtures/make-logger-lines.mjs`) by all three readers:
// the output of an app, `tool logs` on files, and the log service's /ingest.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { readEntryLine } from "../../../cli/logs/entry-line.ts";
import { lineScan } from "../../../cli/logs/line-scan.ts";
import type { Entry } from "../../../grammar/entry.ts";
import {
  LEVEL_KEYS,
  LEVEL_SPELLINGS,
  LEVELS,
  type Level,
  MESSAGE_KEYS,
  parseQuery,
  readLoggerLine,
} from "../../../grammar/query/index.ts";
import { entryOfLine } from "../../../runtime/output.ts";
import { root, tool } from "../../support/cli.ts";
import { start } from "../../support/runtime.ts";
import { startTestService } from "../../support/service.ts";

interface Recorded {
  readonly logger: string;
  readonly package: string;
  readonly version: string;
  /** When the program ran. */
  readonly from: string;
  readonly to: string;
  readonly lines: readonly string[];
}

const recorded: readonly Recorded[] = JSON.parse(readFileSync(join(root, "test/fixtures/logger-lines.json"), "utf8"));
const allLines = recorded.flatMap(({ lines }) => lines);

const NOW = "2030-01-01T00:00:00.000Z";
const nowMs = () => Date.parse(NOW);

/** Loggers that write no time, or one of the machine's own zone without saying which. */
const WITHOUT_TIME = ["winston without a time", "python-json-logger"];

/** The keys that the fields of each logger's lines must not have. */
const MAPPED: Readonly<Record<string, readonly string[]>> = {
  pino: ["level", "time", "msg"],
  "pino with an error and other options": ["level", "time", "message"],
  bunyan: ["level", "time", "msg"],
  winston: ["level", "timestamp", "message"],
  "winston without a time": ["level", "message"],
  structlog: ["level", "timestamp", "event"],
  "python-json-logger": ["levelname", "message"],
  "python-json-logger with renamed keys": ["level", "timestamp", "message"],
  "python-json-logger for Google Cloud": ["severity", "time", "message"],
  "ecs-logging": ["log.level", "@timestamp", "message"],
  "OpenTelemetry for Python": ["severity_text", "timestamp", "body"],
  zap: ["level", "ts", "msg"],
  "zap with other times": ["level", "ts", "msg"],
  zerolog: ["level", "time", "message"],
  slog: ["level", "time", "msg"],
  logrus: ["level", "time", "msg"],
  "OpenTelemetry for Go": ["Body", "ObservedTimestamp"],
  "log4j EcsLayout": ["log.level", "@timestamp", "message"],
  "log4j LogstashJsonEventLayoutV1": ["level", "@timestamp", "message"],
  "log4j GcpLayout": ["severity", "timestamp", "message"],
  "log4j JsonLayout": ["level", "instant", "message"],
  "logback with its encoder for Logstash": ["level", "@timestamp", "message"],
  "logback with its own encoder": ["level", "timestamp", "message"],
};

const levelOf = (word: string): Level | undefined =>
  LEVELS.find((level) => LEVEL_SPELLINGS[level].includes(word.toLowerCase()));

const word = (line: string) => /"at (\w+)"/.exec(line)![1]!;

/** The level that a program asked its logger for. */
const requestedLevel = (line: string) => levelOf(word(line))!;

/** Checks the entry that every reader must make of a line; the time and the level are as the reader keeps them. */
function check(t: Test, { logger, from, to }: Recorded, line: string, entry: Entry, time: "own" | "now"): void {
  const { level, message, timestamp, fields } = entry;
  t.equal(levelOf(level), requestedLevel(line), `${logger}: the level is ${word(line)}: ${level}`);
  t.equal(message, `at ${word(line)}`, `${logger}: the message`);
  const isNow = time === "now" || WITHOUT_TIME.includes(logger);
  if (isNow) t.equal(timestamp, NOW, `${logger}: the time is that of ingestion`);
  else {
    // Seconds may be all that a line has.
    const ms = Date.parse(timestamp);
    t.ok(ms >= Date.parse(from) - 1000 && ms <= Date.parse(to), `${logger}: the time is its own: ${timestamp}`);
  }
  const others = JSON.parse(line);
  for (const key of MAPPED[logger]!) {
    t.ok(key in others, `${logger}: ${key} is in the line`);
    delete others[key];
  }
  // By its text if that is a level, else by its number.
  if (logger === "OpenTelemetry for Go")
    delete others[/^(DEBUG|WARN3)$/.test(others.SeverityText) ? "SeverityText" : "Severity"];
  t.same(fields, others, `${logger}: all other keys are fields`);
}

t.test("the output of an app", (t) => {
  t.same(recorded.map(({ logger }) => logger).sort(), Object.keys(MAPPED).sort(), "a row for each logger");
  for (const one of recorded) {
    for (const line of one.lines) {
      check(t, one, line, entryOfLine(line, { level: "notice", nowMs })!, "own");
      // On the platform.
      check(t, one, line, entryOfLine(line, { level: "notice", nowMs, times: "now" })!, "now");
    }
  }
  t.end();
});

t.test("the output of an app that runs", async (t) => {
  const server = await start(t, {
    command: `cat lines.ndjson && exec ${process.execPath} -e 'require("http").createServer(() => {}).listen(process.env.PORT)'`,
    files: { "lines.ndjson": `${allLines.join("\n")}\n` },
  });
  await server.entry(({ message }) => message === "app listening");
  const entries = server.entries.filter(({ message }) => message.startsWith("at "));
  t.same(
    entries.map(({ level, message }) => [levelOf(level), message]),
    allLines.map((line) => [requestedLevel(line), `at ${word(line)}`]),
  );
});

t.test("files", async (t) => {
  for (const one of recorded) {
    for (const line of one.lines) {
      const { entry, isEntry } = readEntryLine(line);
      t.ok(isEntry);
      const timestamp = WITHOUT_TIME.includes(one.logger) ? NOW : entry.timestamp;
      if (timestamp === NOW) t.equal(entry.timestamp, "", "no time");
      check(t, one, line, { ...entry, timestamp }, "own");
    }
  }
});

t.test("queries on files find the entries, byte for byte as they were", async (t) => {
  const file = `${allLines.join("\n")}\n`;
  const cwd = t.testdir({ "lines.ndjson": file });
  for (const spelling of [...new Set(allLines.map((line) => readEntryLine(line).entry.level))]) {
    // Quoted and as written: whether another case is the same level is the language's matter.
    const query = `level = "${spelling}"`;
    const wanted = allLines.filter((line) => {
      const { level } = readEntryLine(line).entry;
      return spelling === spelling.toLowerCase() && level === level.toLowerCase()
        ? levelOf(level) === levelOf(spelling)
        : level === spelling;
    });
    const matches = scan(query);
    for (const line of wanted) t.ok(matches.includes(line), `${query} finds ${line}`);
    for (const line of matches)
      t.equal(requestedLevel(line), levelOf(spelling), `${query} finds no other level: ${line}`);
  }
  const numbered = allLines.filter((line) => /"level":50/.test(line));
  t.ok(numbered.length >= 3);
  const { stdout, code } = await tool(["logs", "--file", "lines.ndjson", "--format", "json", "level = error"], { cwd });
  t.equal(code, 0);
  for (const line of numbered) t.ok(stdout.split("\n").includes(line), line);
  t.same(scan("message = nothing"), []);
  t.ok(scan("user = 7").length > 80, "the other keys are fields");
  t.same(scan('exists msg or exists fields["log.level"] or exists ts'), []);
  const [first] = recorded;
  const at = readEntryLine(first!.lines[0]!).entry.timestamp;
  t.ok(scan(`timestamp >= "${at}"`).includes(first!.lines[0]!), "and times are read");
  t.notOk(scan(`timestamp < "${at}"`).includes(first!.lines[0]!));

  function scan(source: string): string[] {
    const parsed = parseQuery(source);
    if (!parsed.ok) throw new Error(`${source}: ${parsed.problems[0]!.message}`);
    const lines: string[] = [];
    const bytes = Buffer.from(file);
    const wanted = { query: parsed.value, nowMs: nowMs(), sinceMs: undefined, untilMs: undefined };
    lineScan(wanted)({ bytes, start: 0, end: bytes.length - 1 }, (block, start, end) => {
      lines.push(block.toString("utf8", start, end));
      return true;
    });
    return lines;
  }
});

t.test("/ingest", async (t) => {
  const service = await startTestService(t, { nowMs });
  const headers = { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" };
  for (const one of recorded) {
    const { json } = await service.call("add_project", { project: { name: one.logger } });
    const answer = await service.send({ path: `/ingest/${json.id}`, headers, body: one.lines.join("\n") });
    t.same([answer.status, answer.json], [200, { accepted: one.lines.length, errors: [] }], answer.text);
    const range = { project_id: json.id, start: "2001-01-01T00:00:00Z", stop: "2031-01-01T00:00:00Z", limit: 100 };
    const events: Entry[] = (await service.call("search", range)).json.events;
    t.equal(events.length, one.lines.length);
    const rest = [...events];
    for (const line of one.lines) {
      const { message, fields } = readEntryLine(line).entry;
      const isIt = (event: Entry) =>
        event.message === message && JSON.stringify(event.fields) === JSON.stringify(fields);
      const index = rest.findIndex(isIt);
      if (index < 0) t.fail(`${one.logger}: no event for ${line}`);
      else check(t, one, line, rest.splice(index, 1)[0]!, "own");
    }
  }
});

const own = (timestamp: string, level: string, message: string, fields: object) => ({
  timestamp,
  level,
  message,
  fields,
});

const rows: readonly (readonly [line: string, entry: object | undefined])[] = [
  // Numbers between the levels belong to the one below.
  ['{"level":45,"msg":"m"}', own("", "warn", "m", {})],
  ['{"level":6e1,"msg":"m"}', own("", "fatal", "m", {})],
  ['{"level":9,"msg":"m"}', undefined],
  ['{"level":61,"msg":"m"}', undefined],
  ['{"level":30.5,"msg":"m"}', undefined],
  ['{"level":"30","msg":"m"}', undefined],
  ['{"level":true,"msg":"m"}', undefined],
  ['{"level":"loud","msg":"m"}', undefined],
  ['{"severity":50,"message":"m"}', undefined],
  ['{"severity":"DEFAULT","message":"m"}', undefined],
  // A message is a text.
  ['{"level":50}', undefined],
  ['{"level":50,"msg":5}', undefined],
  ['{"level":50,"body":{"stringValue":5}}', undefined],
  ['{"level":50,"msg":""}', own("", "error", "", {})],
  ['{"severityNumber":17,"body":{"stringValue":"m"}}', own("", "error", "m", {})],
  // The first key that holds a level, a message, a time; the others are fields.
  ['{"level":"gold","severity":"Error","message":"m"}', own("", "Error", "m", { level: "gold" })],
  ['{"level":"info","msg":"a","message":"b","event":"c"}', own("", "info", "b", { msg: "a", event: "c" })],
  ['{"level":"info","message":{"a":1},"msg":"m"}', own("", "info", "m", { message: { a: 1 } })],
  ['{"level":"info","msg":"m","time":35,"ts":1e9}', own("2001-09-09T01:46:40.000Z", "info", "m", { time: 35 })],
  ['{"level":"info","msg":"m","ts":1795366918.496}', own("2026-11-22T17:01:58.496Z", "info", "m", {})],
  ['{"level":"info","msg":"m","time":1795366918496.9}', own("2026-11-22T17:01:58.496Z", "info", "m", {})],
  [
    '{"level":"info","msg":"m","instant":{"epochSecond":1714561199,"nanoOfSecond":999999999}}',
    own("2024-05-01T10:59:59.999Z", "info", "m", {}),
  ],
  ['{"level":"info","msg":"m","time":"soon"}', own("", "info", "m", { time: "soon" })],
  ['{"level":"info","msg":"m","time":"2024-05-01T13:00:00+0200"}', own("2024-05-01T13:00:00+02:00", "info", "m", {})],
  ['{"level":"info","msg":"m","timeUnixNano":"1714561200250000000"}', own("2024-05-01T11:00:00.250Z", "info", "m", {})],
  ['{"level":"info","msg":"m","ts":1714561200250000}', own("2024-05-01T11:00:00.250Z", "info", "m", {})],
  [
    '{"level":"info","msg":"m","timestamp":{"seconds":1714561200,"nanos":250000000}}',
    own("2024-05-01T11:00:00.250Z", "info", "m", {}),
  ],
  ['{"level":"info","msg":"m","a":1,"fields":{"b":2,"a":3}}', own("", "info", "m", { a: 3, b: 2 })],
  ['{"level":"info","msg":"m","__proto__":{"a":1}}', own("", "info", "m", JSON.parse('{"__proto__":{"a":1}}'))],
  // Words that are no spellings of ours, and steps.
  ['{"level":"PANIC","msg":"m"}', own("", "emergency", "m", {})],
  ['{"level":"http","message":"m"}', own("", "debug", "m", {})],
  ['{"level":"WARN+1","msg":"m"}', own("", "WARN", "m", {})],
  ['{"SeverityText":"ERROR4","Body":"m"}', own("", "ERROR", "m", {})],
  ['{"level":"ERROR5","msg":"m"}', undefined],
];

t.test("what is a line of a logger, and what is not", (t) => {
  for (const [line, expected] of rows) {
    const entry = entryOfLine(line, { level: "notice", nowMs })!;
    if (expected === undefined) {
      t.equal(readLoggerLine(JSON.parse(line)), undefined, line);
      const isOurs = /"level":"[^"]*","message":"/.test(line);
      if (!isOurs) t.same(entry, own(NOW, "notice", line, {}), `${line} stays text`);
    } else {
      const { timestamp } = expected as Entry;
      t.same(readEntryLine(line).entry, expected, line);
      t.same(entry, { ...expected, timestamp: timestamp === "" ? NOW : timestamp }, line);
    }
  }
  for (const { key } of LEVEL_KEYS) t.match(key, /eve/, "one search of bytes finds all keys of levels");
  t.equal(
    new Set([...LEVEL_KEYS.map(({ key }) => key), ...MESSAGE_KEYS]).size,
    LEVEL_KEYS.length + MESSAGE_KEYS.length,
  );
  t.end();
});
