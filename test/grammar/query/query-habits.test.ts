// Queries as users of Datadog, Kibana, LogQL, Splunk, SQL and grep type them, or anybody out of habit, on a small log in
// which each should find something: it does, or a message says what to write. None is silent.
import { spawnSync } from "node:child_process";
import t from "tap";
import { explainSelection } from "../../../cli/logs/explain-selection.ts";
import { lineScan } from "../../../cli/logs/line-scan.ts";
import type { EntrySource } from "../../../cli/logs/source.ts";
import { nothingAmong, Survey } from "../../../cli/logs/survey.ts";
import { applyEdits, describe, editsTogether } from "../../../grammar/problem.ts";
import {
  compilePredicate,
  doubtsOf,
  NOTHING_SEEN,
  otherTypesIn,
  parsePipeline,
  parseQuery,
  type Query,
  seenFields,
  seenInService,
} from "../../../grammar/query/index.ts";
import { cleanEnv, cliPath } from "../../support/cli.ts";
import { habits } from "../../support/query-habits.ts";

const NOW_MS = Date.parse("2025-06-30T12:30:00Z");
const log = [
  '{"timestamp":"2025-06-30T12:00:00Z","level":"INFO","message":"response","fields":{"status":200,"method":"GET","path":"/api/users","duration":12,"ip":"10.0.0.1","stage":"production","cached":true,"http":{"status_code":200}}}',
  '{"timestamp":"2025-06-30T12:00:01Z","level":"ERROR","message":"upstream timeout after 30s","fields":{"status":503,"method":"POST","path":"/api/orders","duration":30000,"stage":"production","user":{"email":"a@b"},"http":{"status_code":500}}}',
  '{"timestamp":"2025-06-30T12:00:02Z","level":"Warning","message":"payment failed: connection refused","fields":{"stage":"staging","attempt":3,"user":null}}',
  '{"timestamp":"2025-06-30T12:00:03Z","level":"debug","message":"user signed in","fields":{"stage":"staging","version":"5"}}',
  '{"timestamp":"2025-06-30T12:00:04Z","level":"Fatal","message":"out of memory","fields":{}}',
];

/** How many entries are found; or what is said, of the query or since it found nothing. */
function outcomeOf(source: string, lines: readonly string[] = log): number | string {
  const parsed = parseQuery(source);
  if (!parsed.ok) return parsed.problems.map(describe).join("; ");
  const wanted = { query: parsed.value, nowMs: NOW_MS, sinceMs: undefined, untilMs: undefined };
  const text = `${lines.join("\n")}\n`;
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

t.test("what is said of logs of other programs", async (t) => {
  const json = [
    '{"level":"info","message":"ecs hello","service.name":"svc","http.response.status_code":200}',
    '{"level":50,"time":1763841601123,"err":{"message":"connect ECONNREFUSED","codes":["E42"]},"msg":"request failed"}',
    '{"level":"panic","msg":"dead","fields":{"level":"x","odd key":"half-open"}}',
    '{"level":"INFO2","msg":"Stepped up"}',
  ];
  const text = ["ERROR:root:python failed with 502", "[ERROR] something broke"];
  const rows: readonly (readonly [query: string, said: string | number, lines?: readonly string[]])[] = [
    // A key with a dot, and others that are no plain name
    ["service.name = svc", 'no entry has service.name; did you mean fields["service.name"]?'],
    ["status_code = 200", 'no entry has status_code; did you mean fields["http.response.status_code"]?'],
    ["odd_key = 1", 'no entry has odd_key; did you mean fields["odd key"]?'],
    // A text of another field
    ['"ECONNREFUSED"', '"ECONNREFUSED" is in err.message: err.message contains "ECONNREFUSED"'],
    ["message contains E42", '"E42" is in err.codes: err.codes contains "E42"'],
    ['error "ECONNREFUSED"', '"ECONNREFUSED" is in err.message: err.message contains "ECONNREFUSED"'],
    [
      "half-open",
      'no entry has half-open; "half-open" is in fields["odd key"]: fields["odd key"] contains "half-open"',
    ],
    ['info "ECONNREFUSED"', ""],
    ['"nowhere"', ""],
    // A part of a message, in any case
    ['"failed"', 'message contains "failed" finds 1'],
    ['"FAILED"', "message ~ /FAILED/i finds 1"],
    ['message contains "FAILED"', "message ~ /FAILED/i finds 1"],
    ["message ~ /FAIL/", "message ~ /FAIL/i finds 1"],
    ["message ~ /STEPPED.UP/", "message ~ /STEPPED.UP/i finds 1"],
    ['"stepped*"', "message ~ /^stepped/i finds 1"],
    ['service contains "x"', "no entry has service"],
    // Levels by the words, numbers and keys of loggers
    ["level = panic", "level = emergency finds 1"],
    ["level = INFO2", "level = info finds 2"],
    ["INFO2", "no entry has INFO2; level = info finds 2"],
    ["severity = ERROR", "no entry has severity; did you mean level? level = error finds 1"],
    ["log.level = panic", "no entry has log.level; did you mean level? level = emergency finds 1"],
    ["level = 50", "level = error finds 1"],
    // A misspelt level
    ["level = eror", "level = error finds 1"],
    ['level = "inof"', "level = info finds 2"],
    ["level = xyz", ""],
    // Other slips, and conditions that exclude each other
    [
      'error adn message contains "failed"',
      '"adn" is read as a field that is true: did you mean and? error and message contains "failed" finds 1',
    ],
    [
      "info and error",
      "no entry satisfies both of info and error: write or between them for entries with either of them; info or error finds 3",
    ],
    ["eror", "error finds 1"],
    // The key of another logger, and a name that is none
    ["severityText = panic", "no entry has severityText; did you mean level? level = emergency finds 1"],
    ["rack = panic", "no entry has rack"],
    // Lines of text
    ["status = 502", 'the lines are text without fields, which message contains "..." searches', text],
    ["user", 'the lines are text without fields, which message contains "..." searches', text],
    ["error", "message ~ /error/i finds 2", text],
    ["failed", /finds 1/.source, text],
  ];
  for (const [source, said, lines = json] of rows) {
    const head = `no entry found among ${lines.length}`;
    const outcome = String(outcomeOf(source, lines));
    if (said === "finds 1") t.match(outcome, said, source);
    else t.equal(outcome, said === "" ? head : `${head}; ${said}`, source);
  }
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

/** Each fix changes one of the two fields. */
const MEANT_TWICE = [
  "near-field: | where method = GET | sort siez desc",
  "near-field: | where metod = GET | sort size desc",
];

/** A valid query, and what it is after the fix of each doubt about it. */
const DOUBTS: readonly (readonly [query: string, ...meant: readonly string[]])[] = [
  // Fields of our own entries, in conditions and stages
  ["statsu >= 500", "near-field: status >= 500"],
  ["mesage contains x", "near-field: message contains x"],
  ["exists durration", "near-field: exists duration"],
  ["error | count by paht", "near-field: error | count by path"],
  ["| stats avg(duratoin) by path", "near-field: | stats avg(duration) by path"],
  ["| where metod = GET | sort siez desc", ...MEANT_TWICE],
  ["| count by paht | where paht = a | sort paht", "near-field: | count by path | where path = a | sort path"],
  // Fields of the log
  ["custmoer = 5", "near-field: customer = 5"],
  ["user.emial = a", "near-field: user.email = a"],
  ["usre.email = a", "near-field: user.email = a"],
  // Levels
  ["level = eror", "near-level: level = error"],
  ['level in ("wran", info)', "near-level: level in (warn, info)"],
  ["level != infoo", "near-level: level != info"],
  ['eror path = "/x"', 'near-level: error path = "/x"'],
  ["prodution", "near-word: production"],
  // Texts for numbers
  ["status = 50O", "text-for-number: status = 500"],
  ["status in (404, 50l)", "text-for-number: status in (404, 501)"],
  ["status = abc", "text-for-number: status = 500"],
  ["status != not_found", "text-for-number: status != 404"],
  ["duration = 5sec", "text-for-number: duration = 5s"],
  ["size = big", "text-for-number: size = 1mb"],
  // Conditions that exclude each other
  ["status >= 500 status < 400", "contradiction: status >= 500 or status < 400"],
  ["error and duration > 2s and duration < 1s", "contradiction: error and (duration > 2s or duration < 1s)"],
  ["error warn", "contradiction: error or warn"],
  ["level >= error level < warn", "contradiction: level >= error or level < warn"],
  ["path = a and (production staging)", "contradiction: path = a and ((production or staging))"],
  ["method = GET path = /x and method in (PUT, POST)", "contradiction: method = GET path = /x"],
  ["timestamp > 1h timestamp < 2h", "contradiction: timestamp > 1h or timestamp < 2h"],
  ["status = 404 | where status = 500", "contradiction: status = 404"],
  ["status = 404 | where status = 500 and path = a", "contradiction: status = 404 | where path = a"],
  ['"card" "declined"', 'contradiction: message contains "card" and message contains "declined"'],
  // Units
  ["duration > 5 xs", "no-unit: duration > 5s"],
  ["size > 5 kbs error", "no-unit: size > 5kb error"],
  ["duration > 5 sce", "no-unit: duration > 5s"],
  // Words that join
  ["status = 500 adn error", "near-word: status = 500 and error"],
  ["error ro path = a", "near-word: error or path = a"],
  ["nto error", "near-word: not error"],
  // Functions, and steps of time
  ["has(user.id) error", "near-word: exists user.id error"],
  ["error is_set(customer)", "near-word: error exists customer"],
  ["error | count by day", "near-word: error | timeseries 1d"],
  ["| count by hour | limit 3", "near-word: | timeseries 1h | limit 3"],
];

t.test("what is doubtful about valid queries, and what was meant", async (t) => {
  const seen = seenFields(
    'cut off"}\n{"level":"info","message":"","fields":{"customer":1,"user":{"email":"a"}}}\n{"le',
  );
  for (const [source, ...meant] of DOUBTS) {
    const parsed = parsePipeline(source);
    if (!parsed.ok) throw new Error(source);
    const problems = doubtsOf(parsed.value, seen);
    const outcomes = problems.map(
      ({ code, fix }) => `${code.slice("query/".length)}: ${applyEdits(source, fix!.edits)}`,
    );
    t.strictSame(outcomes, meant, source);
    for (const { severity, fix, hint } of problems) {
      const after = parsePipeline(applyEdits(source, fix!.edits));
      t.ok(after.ok && doubtsOf(after.value, seen).length < problems.length, `${source}: a doubt less`);
      t.ok(severity === "warning" && hint !== undefined, "never an error");
    }
  }
});

t.test("what is not doubted", async (t) => {
  const entries = [
    {
      level: "eror",
      fields: { statsu: 1, status: "abc", paht: [1], adn: true, xs: true, eror: true, nested: { siez: 1 } },
    },
    { severity: "INFO", msg: "m", mesage: 1, staeg: "x" },
  ];
  const seen = seenFields(entries.map((entry) => JSON.stringify(entry)).join("\n"));
  const rows = [
    // Fields, levels and texts that the log has
    "statsu >= 500 adn error",
    "level = eror eror",
    "status = abc",
    "duration > 5 xs",
    "mesage = 1 staeg = x nested.siez = 1",
    "| count by paht",
    // Fields of an app's own
    "state = open paths = a sizes > 1 user and cached and item = 1 stats and race and level.x = 1",
    "status = 500 retry",
    "duration > 5 slow",
    "http.status = abc",
    'status = "500"',
    "level = custom level != http",
    "level = panic",
    // Conditions that go together, and those of lists
    "status >= 500 status < 600 status != 503",
    "status >= 400 (status < 300 or error)",
    "tags = a tags = b count > 5 count < 3",
    "level >= warn level <= error level != custom",
    'path = "/a*" path = "*b"',
    "(error or warn) and (info or error)",
    "timestamp > 2h timestamp < 1h",
    "| count by status | where status > 500 status < 400",
  ];
  for (const source of rows) {
    const parsed = parsePipeline(source);
    t.strictSame(parsed.ok && doubtsOf(parsed.value, seen).map(describe), [], source);
  }
});

/** A log in which each field holds values of certain types, 30 of them. */
const typed = Array.from({ length: 30 }, (_, i) =>
  JSON.stringify({
    timestamp: "2025-06-30T12:00:00Z",
    level: "info",
    message: "m",
    fields: {
      ...{ status: 200 + i, http: { status: 404 }, duration: 12, size: 3, cached: i % 2 === 0, latency: "12ms" },
      ...{
        version: "5",
        codes: [500, [404]],
        tags: ["a"],
        mixed: i === 7 ? "x" : i,
        always: null,
        deep: { a: { b: { c: {} } } },
      },
    },
  }),
);

/** A condition, what is said of it, and the query that was meant. */
const OTHER_TYPES: readonly (readonly [source: string, said: string, meant?: string])[] = [
  ['status = "5OO"', 'status is a number in all of 30 entries; "5OO" is a text: did you mean 500?', "status = 500"],
  ['status = "500"', 'status is a number in all of 30 entries; "500" is a text: did you mean 500?', "status = 500"],
  [
    'error or http.status = "404"',
    'http.status is a number in all of 30 entries; "404" is a text: did you mean 404?',
    "error or http.status = 404",
  ],
  [
    'fields.status in (404, "500")',
    'fields.status is a number in all of 30 entries; "500" is a text: did you mean 500?',
    "fields.status in (404, 500)",
  ],
  [
    'not http.status = "4*"',
    'http.status is a number in all of 30 entries; "4*" is a text: did you mean (http.status >= 400 and http.status < 500)?',
    "not (http.status >= 400 and http.status < 500)",
  ],
  [
    "status ~ /^5\\d\\d$/",
    "status is a number in all of 30 entries; ~ tests texts: did you mean status >= 500 and status < 600?",
    "status >= 500 and status < 600",
  ],
  ["status contains 50", "status is a number in all of 30 entries; contains tests texts: compare it with a number"],
  ["duration = 5sec", 'duration is a number in all of 30 entries; "5sec" is a text: did you mean 5s?', "duration = 5s"],
  ["status = teapot", 'status is a number in all of 30 entries; "teapot" is a text: compare it with a number'],
  ["status = true", "status is a number in all of 30 entries; true equals none of them: did you mean 1?", "status = 1"],
  [
    'cached = "TRUE"',
    'cached is true or false in all of 30 entries; "TRUE" is a text: did you mean true?',
    "cached = true",
  ],
  ["cached = 1", "cached is true or false in all of 30 entries; 1 is a number: did you mean true?", "cached = true"],
  ["cached > 0", "cached is true or false in all of 30 entries; > compares numbers: compare it with true or false"],
  [
    "latency > 10",
    'latency is a text in all of 30 entries; > compares numbers: compare it with a text by =, contains or ~; what is a number is written as "seconds": 5, without quotes',
  ],
  [
    "latency = 12ms",
    'latency is a text in all of 30 entries; 12ms is a number: did you mean "12ms"?',
    'latency = "12ms"',
  ],
  [
    "version = true",
    'version is a text in all of 30 entries; true equals none of them: did you mean "true"?',
    'version = "true"',
  ],
  ['codes = "500"', 'codes is a number in all of 30 entries; "500" is a text: did you mean 500?', "codes = 500"],
  [
    "mixed = true",
    'mixed is a text or a number in all of 30 entries; true equals none of them: did you mean "true"?',
    'mixed = "true"',
  ],
  [
    '| where status = "500" | count by path',
    'status is a number in all of 30 entries; "500" is a text: did you mean 500?',
    "| where status = 500 | count by path",
  ],
];

t.test("a condition that can never hold with the types that were seen", async (t) => {
  const seen = seenFields(typed.join("\n"));
  for (const [source, said, meant] of OTHER_TYPES) {
    const parsed = parsePipeline(source);
    if (!parsed.ok) throw new Error(source);
    const problems = doubtsOf(parsed.value, seen);
    t.strictSame(problems.map(describe), [said], source);
    t.strictSame(
      problems.map(({ code, severity, fix }) => [code, severity, fix?.isSuggestion]),
      [["query/other-type", "warning", meant && true]],
      source,
    );
    const [fix] = problems.flatMap(({ fix }) => fix ?? []);
    const after = fix && applyEdits(source, fix.edits);
    t.equal(after, meant, source);
    if (after === undefined) continue;
    const parsedAfter = parsePipeline(after);
    t.ok(parsedAfter.ok && doubtsOf(parsedAfter.value, seen).length === 0, `${after}: no doubt is left`);
  }
});

t.test("a condition that may hold with the types that were seen", async (t) => {
  const seen = seenFields(typed.join("\n"));
  const rows = [
    "status = 500 status >= 400 status in (404, 500) status != ok",
    'version = 5 version = "5" version contains 5 version ~ /5/',
    "codes = 500 codes > 400 tags = a tags contains a",
    "mixed = x mixed = 5 mixed > 3 mixed ~ /x/",
    "always = null always = 5 status = null",
    "unseen = 5 unseen = x codes[0] = x deep.a.b.c = x",
    "level = custom message = 5 id = 7 timestamp > 1h",
    "| count by status | where count > 5 status > 5",
    '| stats max(latency) as status | where status = "x"',
  ];
  for (const source of rows) {
    const parsed = parsePipeline(source);
    if (!parsed.ok) throw new Error(`${source}: ${parsed.problems.map(describe)}`);
    const codes = doubtsOf(parsed.value, seen).map(({ code }) => code);
    t.notOk(codes.includes("query/other-type"), source);
  }
});

t.test("the types that a log service knows", async (t) => {
  const field = (name: string, type: "string" | "number", count: number) => ({ name, type, count });
  const say = (fields: Parameters<typeof seenInService>[0]) => {
    const parsed = parsePipeline('status = "5OO"');
    return parsed.ok ? otherTypesIn(parsed.value, seenInService(fields)).map(({ message }) => message) : [];
  };
  t.strictSame(say([field("status", "number", 1_204_881)]), [
    'status is a number in all of 1,204,881 events; "5OO" is a text',
  ]);
  t.strictSame(say([field("status", "number", 1)]), ['status is a number in all of 1 event; "5OO" is a text']);
  t.strictSame(say([field("status", "number", 1_204_881), field("status", "string", 1)]), [], "one is a text");
  const others = Array.from({ length: 999 }, (_, i) => field(`f${i}`, "string", 9));
  t.strictSame(say([field("status", "number", 10), ...others]), [], "the list may be cut off");
});

t.test("what was found need not satisfy every condition", async (t) => {
  const wanted = (source: string) => ({
    query: queryOf(source),
    nowMs: NOW_MS,
    sinceMs: undefined,
    untilMs: undefined,
  });
  const block = (lines: readonly string[]) => {
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    return { bytes, start: 0, end: bytes.length - 1 };
  };
  const survey = new Survey(wanted('status = 200 or http.status = "4O4"'));
  t.ok(survey.watches);
  survey.add(block(typed));
  t.equal(survey.explainFound(), 'http.status is a number in all of 30 entries; "4O4" is a text: did you mean 404?');
  survey.leaveRest();
  t.match(survey.explainFound(), "in all of the first 30 entries");

  // The first entry shows that each of these can hold: no other is read.
  const usual = new Survey(wanted("status = 200 or http.status = 404 or not latency contains ms"));
  t.ok(usual.watches);
  usual.add(block(typed.slice(0, 1)));
  t.notOk(usual.watches);
  t.equal(usual.explainFound(), undefined);
  t.notOk(new Survey(wanted('status = "200" cached = 1')).watches, "what is found shows that all of it holds");
});

t.test("what is said of fields that are known by their names", async (t) => {
  const period = { nowMs: NOW_MS, sinceMs: NOW_MS - 3_600_000, untilMs: undefined };
  const say = (source: string, names: readonly string[]) =>
    nothingAmong(queryOf(source), { seen: { ...NOTHING_SEEN, names } }, { ...period, query: queryOf(source) });
  const head = "no entry found since 2025-06-30T11:30:00Z";
  t.equal(say("statsu = 500", ["status", "path"]), `${head}; no entry has statsu; did you mean status?`);
  t.equal(say("status_code = 500", ["status"]), `${head}; no entry has status_code; did you mean status?`);
  t.equal(say("user", ["user.email"]), head, "a field below it is there");
  t.equal(say("statsu = 500", []), head, "nothing is known");
  const part = (text: string) => `for a part of one write: message contains ${text}`;
  t.equal(say('"card declined"', []), `${head}; "card declined" is a whole message; ${part('"card declined"')}`);
  t.equal(say('error and "it says \\"no\\""', []).endsWith(part('"it says \\"no\\""')), true, "a quoted quote");
  t.equal(say("declined", []), `${head}; declined alone is a field; for the text write: message contains "declined"`);
  t.equal(say('"*declined*"', []), head, "a part is asked for already");
});

t.test("a source that counts is asked for similar queries", async (t) => {
  const messages = ["the card declined", "card declined twice", "Timeout of the bank"];
  const questions: string[] = [];
  const say = (source: string, names: readonly string[] | undefined = undefined) => {
    const query = queryOf(source);
    const wanted = { query, nowMs: NOW_MS, sinceMs: undefined, untilMs: undefined };
    const signal = new AbortController().signal;
    const counting: EntrySource = {
      ...{ sinceMs: undefined, note: undefined, live: false, limitsToNewest: true, totalBytes: undefined },
      evidence: names === undefined ? "period" : async () => ({ ...NOTHING_SEEN, names }),
      async count(near) {
        questions.push(near.source);
        const selects = compilePredicate(near, { nowMs: NOW_MS });
        const entries = messages.map((message) => ({
          timestamp: "",
          level: "error",
          message,
          fields: { status: 5, note: "5 times" },
        }));
        return { count: entries.filter(selects).length, isLeast: near.source.includes("of the bank") };
      },
      async *inputs() {},
    };
    return explainSelection({ source: counting, wanted, survey: undefined, signal, count: 0 });
  };
  const head = "no entry found";
  for (const [query, said, names] of [
    ['"card declined"', `${head}; message contains "card declined" finds 2`],
    ["error and declined", `${head}; no entry has declined; error and message contains "declined" finds 2`, ["status"]],
    ["level = eror and status = 5", `${head}; level = error and status = 5 finds 3`],
    ["not message", `${head}; not message contains "message" finds 3`],
    ["fields.status = 6", head, ["status"]],
    ['"5"', `${head}; "5" is in note: note contains "5"`, ["code", "status", "note", "path"]],
    ['"a\\nb"', head],
    ['"timeout of"', `${head}; message ~ /timeout of/i finds 1`],
    ['"of the bank"', `${head}; message contains "of the bank" finds at least 1`],
    ["statuss = 5", `${head}; no entry has statuss; did you mean status? status = 5 finds 3`, ["status"]],
    ["level = eror", `${head}; level = error finds 3`],
    ['"nowhere"', head],
  ] as const)
    t.equal(await say(query, names), said, query);
  t.ok(questions.length <= 24, "a few questions each");
});

t.test("a source that knows types is asked only about what was found need not satisfy", async (t) => {
  let questions = 0;
  const say = (source: string, count: number) => {
    const query = queryOf(source);
    const wanted = { query, nowMs: NOW_MS, sinceMs: undefined, untilMs: undefined };
    const typedSource: EntrySource = {
      ...{ sinceMs: undefined, note: undefined, live: false, limitsToNewest: true, totalBytes: undefined },
      evidence: async () => {
        questions++;
        return seenInService([{ name: "status", type: "number", count: 1_204_881 }]);
      },
      async *inputs() {},
    };
    return explainSelection({
      ...{ source: typedSource, wanted, survey: undefined, count },
      signal: new AbortController().signal,
    });
  };
  const said = 'status is a number in all of 1,204,881 events; "5OO" is a text: did you mean 500?';
  t.equal(await say('error or status = "5OO"', 3), said);
  t.equal(questions, 1);
  t.equal(await say('status = "5OO" method = GET', 3), undefined);
  t.equal(await say("error", 3), undefined);
  t.equal(questions, 1, "what was found shows that it can hold");
  t.match(await say('status = "5OO"', 0), `no entry found; ${said}`);
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
        // One that was stopped for a second says how far it is, and takes it back.
        .stdout.replace(/\rsearched [^\r\n]*\u001b\[K/g, "")
        .replace(/\r/g, "")
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
    const none = "no entry found among 5; no entry has statsu; did you mean status?\n";
    t.equal(onTerminal("--file a.ndjson --count 'statsu = 500'"), `0\n${none}`);
    t.equal(onTerminal("--file a.ndjson 'statsu = 500' | cat"), none, "stdout is a pipe, stderr a terminal");
    t.equal(onTerminal("--file a.ndjson 'statsu = 500' > out"), none, "stdout is a file, stderr a terminal");
    const words = (name: string) => `no entry has the field ${name}; for the text write: message contains "${name}"\n`;
    t.equal(onTerminal("--file a.ndjson --count 'not failed'"), `5\n${words("failed")}`);
    t.equal(onTerminal("--file a.ndjson --count 'error or refused'"), `1\n${words("refused")}`);
    t.equal(onTerminal("--file a.ndjson --count 'not cached'"), "4\n", "a field of one entry");
    const otherType = 'http.status_code is a number in all of 2 entries; "5OO" is a text: did you mean 500?\n';
    t.equal(onTerminal("--file a.ndjson --count 'http.status_code = \"5OO\" or error'"), `1\n${otherType}`);
    t.match(onTerminal("--file a.ndjson 'http.status_code = \"5OO\" or error | count by level'"), otherType);
    t.equal(
      onTerminal("--file a.ndjson 'http.status_code = \"5OO\"'"),
      `no entry found among 5; ${otherType}`,
      "nothing is found",
    );
    const unread = /; only the development log was read: the log of the deployed app needs AWS credentials\n$/;
    t.match(onTerminal("production"), unread);
    t.match(onTerminal("'stage = staging'"), unread);
    t.notMatch(onTerminal("development"), unread);
    const piped = spawnSync(process.execPath, [cliPath, "logs", "--file", "a.ndjson", "statsu = 500"], {
      cwd,
      encoding: "utf8",
    });
    t.strictSame([piped.status, piped.stdout, piped.stderr], [0, "", ""]);
    const followed = (input: string) =>
      spawnSync("sh", ["-c", `echo '${input}' | '${process.execPath}' '${cliPath}' logs -f error`], {
        cwd: t.testdir(),
        encoding: "utf8",
      });
    t.match(followed("{}").stderr, /there is no log to read.*\n {2}to follow what is piped in, add --file -\n$/);
  },
);
