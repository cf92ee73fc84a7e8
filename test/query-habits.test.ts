// Queries as people type them who come from Datadog, Kibana, LogQL, Splunk, SQL and grep, or out of plain habit, on a small
// log in which each should find something: they do, or are told what to write. None is silent.
import { spawnSync } from "node:child_process";
import t from "tap";
import { lineScan } from "../cli/logs/line-scan.ts";
import { nothingAmong, Survey } from "../cli/logs/survey.ts";
import { applyEdits, describe, editsTogether } from "../grammar/problem.ts";
import { parseQuery, type Query } from "../grammar/query/index.ts";
import { cleanEnv, cliPath } from "./support/cli.ts";
import { habits } from "./support/query-habits.ts";

const NOW_MS = Date.parse("2025-06-30T12:30:00Z");
const log = [
  '{"timestamp":"2025-06-30T12:00:00Z","level":"INFO","message":"response","fields":{"status":200,"method":"GET","path":"/api/users","duration":12,"ip":"10.0.0.1","stage":"production","cached":true,"http":{"status_code":200}}}',
  '{"timestamp":"2025-06-30T12:00:01Z","level":"ERROR","message":"upstream timeout after 30s","fields":{"status":503,"method":"POST","path":"/api/orders","duration":30000,"stage":"production","user":{"email":"a@b"},"http":{"status_code":500}}}',
  '{"timestamp":"2025-06-30T12:00:02Z","level":"Warning","message":"payment failed: connection refused","fields":{"stage":"staging","attempt":3,"user":null}}',
  '{"timestamp":"2025-06-30T12:00:03Z","level":"debug","message":"user signed in","fields":{"stage":"staging","version":"5"}}',
  '{"timestamp":"2025-06-30T12:00:04Z","level":"Fatal","message":"out of memory","fields":{}}',
];

/** How many entries are found; or what is said, of the query or since it found nothing. */
function outcomeOf(source: string): number | string {
  const parsed = parseQuery(source);
  if (!parsed.ok) return parsed.problems.map(describe).join("; ");
  const wanted = { query: parsed.value, nowMs: NOW_MS, sinceMs: undefined, untilMs: undefined };
  const text = `${log.join("\n")}\n`;
  const block = { bytes: Buffer.from(text), start: 0, end: Buffer.byteLength(text) - 1 };
  let count = 0;
  lineScan(wanted)(block, () => ++count > 0);
  if (count > 0) return count;
  const survey = new Survey(wanted);
  survey.add(block);
  return survey.explain(undefined);
}

/** The query after all fixes. */
function fixed(source: string): string {
  let text = source;
  for (let round = 0; round < 8; round++) {
    const parsed = parseQuery(text);
    const edits = parsed.ok ? [] : editsTogether(parsed.problems);
    if (edits.length === 0) return text;
    text = applyEdits(text, edits).trim();
  }
  return text;
}

t.test("none is silent", async (t) => {
  for (const [text, expected, mended] of habits) {
    const outcome = outcomeOf(text);
    if (typeof expected === "number") t.equal(outcome, expected, text);
    else t.match(outcome, expected, text);
    if (mended !== undefined) t.equal(outcomeOf(fixed(text)), mended, `${text}, as ${fixed(text)}`);
  }
  t.ok(habits.length >= 60);
});

t.test("what looks like a habit and is a query", async (t) => {
  const queries = [
    "last = 1",
    "limit > 10",
    "order.id = 5 and group",
    "user.email cached",
    "cached and retried",
    "error cached",
    "not cached",
    "first in (a, b)",
    "count = 1",
    "count",
    "GET = 1",
    "has = 1",
    "path.starts contains x",
    "class = 5xx",
    "in_flight retries > 3",
    "before = 1",
    "before yesterday = 1",
    "till > 1h",
    "isnt.set",
  ];
  for (const source of queries) {
    const parsed = parseQuery(source);
    t.ok(parsed.ok || source === "count = 1", `${source}: ${parsed.ok ? "" : parsed.problems.map(describe)}`);
  }
});

const queryOf = (source: string): Query => {
  const parsed = parseQuery(source);
  if (!parsed.ok) throw new Error(source);
  return parsed.value;
};

t.test("what is said of fields that are known by their names", async (t) => {
  const period = { nowMs: NOW_MS, sinceMs: NOW_MS - 3_600_000, untilMs: undefined };
  const say = (source: string, names: readonly string[]) =>
    nothingAmong(queryOf(source), names, { ...period, query: queryOf(source) });
  const head = "no entry found since 2025-06-30T11:30:00Z";
  t.equal(say("statsu = 500", ["status", "path"]), `${head}; no entry has statsu; did you mean status?`);
  t.equal(say("status_code = 500", ["status"]), `${head}; no entry has status_code; did you mean status?`);
  t.equal(say("user", ["user.email"]), head, "a field below it is there");
  t.equal(say("statsu = 500", []), head, "nothing is known");
});

t.test(
  "a terminal is told, a pipe is not",
  { skip: spawnSync("script", ["--version"]).status !== 0 && "no script(1)" },
  async (t) => {
    const cwd = t.testdir({
      "a.ndjson": `${log.join("\n")}\n`,
      "tool.json": '{ "name": "app" }',
      ".tool": { "development.ndjson": "" },
    });
    const onTerminal = (args: string) =>
      spawnSync("script", ["-qec", `'${process.execPath}' '${cliPath}' logs ${args}`, "/dev/null"], {
        cwd,
        encoding: "utf8",
        env: cleanEnv({ NO_COLOR: "1" }),
      })
        .stdout.replace(/\r/g, "")
        .replace(/\u001b\[[\d;?]*[A-Za-z]/g, "");
    t.equal(
      onTerminal("--file a.ndjson 'statsu = 500'"),
      "no entry found among 5; no entry has statsu; did you mean status?\n",
    );
    t.match(
      onTerminal("--file a.ndjson --since 2026-01-01 error"),
      /^no entry found: there are none since 2026-01-01T00:00:00Z\n$/,
    );
    t.match(onTerminal("error"), /\nno entry found: there are none since \d{4}-.*Z\n$/, "the development log");
    t.equal(onTerminal("--file a.ndjson --count 'statsu = 500'"), "0\n");
    const piped = spawnSync(process.execPath, [cliPath, "logs", "--file", "a.ndjson", "statsu = 500"], {
      cwd,
      encoding: "utf8",
    });
    t.strictSame([piped.status, piped.stdout, piped.stderr], [0, "", ""]);
  },
);
