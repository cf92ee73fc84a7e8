// An entry in one line: rows of test/vectors/summary.json. `line` is what a sender writes; `summary` the line that is made of
// it; `used` the fields that the line needs no more; `terminal` and `row` are read by logs.test.ts and ui-explorer.test.ts.
import fc from "fast-check";
import t from "tap";
import { readEntryLine } from "../../../cli/logs/entry-line.ts";
import { exchangeHalf, memberPath, summaryLine, summaryOf } from "../../../grammar/summary/index.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { recorderOf } from "../../support/vectors.ts";
import rows from "../../vectors/summary.json" with { type: "json" };

t.test("a line in which an entry is summed up", (t) => {
  const record = recorderOf("summary.json", rows);
  for (const row of rows) {
    const summary = summaryOf(readEntryLine(row.line).entry);
    const said = { summary: summaryLine(summary), used: [...summary.used].sort() };
    record(row, said);
    t.same(said, { summary: row.summary, used: row.used }, row.name);
  }
  t.end();
});

t.test("the tone of each part", (t) => {
  const rows: readonly (readonly [message: string, parts: string])[] = [
    [access("GET /a HTTP/1.1", 200), "plain:GET /a good:200 quiet:7 B quiet:::1"],
    [access("GET /a HTTP/1.1", 302), "plain:GET /a moved:302 quiet:7 B quiet:::1"],
    [access("GET /a HTTP/1.1", 404), "plain:GET /a refused:404 quiet:7 B quiet:::1"],
    [access("GET /a HTTP/1.1", 503), "plain:GET /a failed:503 quiet:7 B quiet:::1"],
    ["GET /slow - - ms - -", "quiet:GET /slow"],
    ["7f Task timed out after 3.00 seconds", "failed:Task timed out after 3.00 seconds quiet:7f"],
    ["any message", "plain:any message"],
  ];
  for (const [message, parts] of rows) {
    const summary = summaryOf({ timestamp: "2025-06-30T10:00:00Z", message, fields: {} });
    t.equal(summary.parts.map(({ tone, text }) => `${tone}:${text}`).join(" "), parts, message);
  }
  t.end();
});

function access(request: string, status: number): string {
  return `::1 - - [30/Jun/2025:10:00:00 +0000] "${request}" ${status} 7 "-" "-"`;
}

t.test("the two halves of a request", (t) => {
  const proxy = { id: "7", method: "GET", path: "/a", query: "" };
  const rows: readonly (readonly [name: string, message: string, fields: Record<string, unknown>, half: string])[] = [
    ["a request of the proxy", "request", proxy, "7 request"],
    ["a response of the proxy", "response", { ...proxy, status: 200 }, "7 response"],
    ["a response without an id", "response", { ...proxy, id: undefined, status: 200 }, "none"],
    ["a response without a query", "response", { ...proxy, query: undefined, status: 200 }, "none"],
    ["an id that is a number", "request", { ...proxy, id: 7 }, "none"],
    ["a message alone", "request", { id: "7" }, "none"],
    ["another message", "sent", proxy, "none"],
    ["a request of Fastify", "incoming request", { reqId: "req-1", req: { method: "GET", url: "/" } }, "req-1 request"],
    ["a response of Fastify", "request completed", { reqId: "req-1", res: { statusCode: 200 } }, "req-1 response"],
    ["what a handler of Fastify logs", "charging", { reqId: "req-1" }, "none"],
  ];
  for (const [name, message, fields, half] of rows) {
    const is = exchangeHalf({ message, fields });
    t.equal(is === undefined ? "none" : `${is.id} ${is.half}`, half, name);
  }
  t.end();
});

t.test("any entry has a line: it throws for none, and paths that are used are paths of fields", (t) => {
  const key = fc.constantFrom(
    ...[
      "req",
      "res",
      "request",
      "method",
      "url",
      "status",
      "http",
      "attributes",
      "err",
      "stack",
      "type",
      "record",
      "meta",
    ],
    ...["__proto__", "http.method", "http.target", "constructor", "platform.x", "statusCode", "message", "reqId"],
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom("GET", "/a", "200", "platform.start", "a\n    at b", "Traceback (most recent call last)\nE: x"),
      fc.jsonValue({ maxDepth: 1 }),
      fc.dictionary(key, tie("any"), { maxKeys: 4 }),
    ),
  })).any;
  const message = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "request", "response", "{}", '] "" 1 - ms'),
  );
  fc.assert(
    fc.property(message, fc.dictionary(key, value, { maxKeys: 6 }), (message, fields) => {
      const { parts, used } = summaryOf({ timestamp: "", message, fields });
      const paths = new Set(pathsOf("", fields));
      const isOfProxy = message === "request" || message === "response";
      return parts.length > 0 && (isOfProxy || [...used].every((path) => paths.has(path)));
    }),
    { seed: 1, numRuns: 2_000 },
  );
  t.end();
});

function pathsOf(path: string, value: unknown): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = memberPath(path, key);
    return [own, ...pathsOf(own, inner)];
  });
}

t.test("a long message takes as long as it is", (t) => {
  const quoted = (length: number) => `::1 - - [${"x".repeat(20)}] "${"\\a".repeat(length / 2)}`;
  const rows: readonly (readonly [name: string, make: (length: number) => string])[] = [
    ["a request that is never closed", quoted],
    ["a trace of many lines", (length) => `E: x\n${"    at f (a.js:1:1)\n".repeat(length / 20)}`],
    ["many blanks", (length) => `a ms${" ".repeat(length)}`],
    ["facts of the platform", (length) => `REPORT RequestId: 7\t${"A: b\t".repeat(length / 5)}`],
  ];
  for (const [name, make] of rows) {
    const [short, long] = [make(4_000), make(16_000)].map((message) => ({ timestamp: "", message, fields: {} }));
    const bound = 10;
    const times = timesAsLong(
      () => summaryOf(long!),
      () => summaryOf(short!),
      bound,
    );
    t.ok(times <= bound, `${name}: ${times.toFixed(1)} times as long for 4 times as much`);
  }
  t.end();
});
