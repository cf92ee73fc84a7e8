import fc from "fast-check";
import t from "tap";
import { applyEdits, editsTogether, renderProblem } from "../../../grammar/problem.ts";
import { MAX_QUERY_LENGTH } from "../../../grammar/query/bounds.ts";
import { failureOffset } from "../../../grammar/query/failure.ts";
import { parseQuery } from "../../../grammar/query/index.ts";
import { loadGrammar } from "../../../grammar/query/query.generated.ts";
import { tokenize } from "../../../grammar/query/tokens.ts";
import { queryText } from "../../support/query-arbitrary.ts";
import { runsOf } from "../../support/runs.ts";
import { slow } from "../../support/slow.ts";
import { recorderOf } from "../../support/vectors.ts";
import rows from "../../vectors/query-errors.json" with { type: "json" };

const record = recorderOf("query-errors.json", rows);

t.test("bad queries: all that is said of them, and what their fixes lead to", (t) => {
  for (const row of rows as Row[]) {
    record(row, { problems: rendered(row.query).split("\n"), fixed: allFixed(row.query) });
    const { query, problems, fixed } = row;
    t.equal(rendered(query), problems.join("\n"), JSON.stringify(query));
    t.equal(allFixed(query), fixed, `${JSON.stringify(query)}, fixed`);
    if (fixed !== undefined) t.ok(parseQuery(fixed).ok, fixed);
  }
  t.ok(rows.length >= 100);
  t.end();
});

t.test("a fix stands alone: what it removes is not told again, and what it leaves is", (t) => {
  for (const { query } of rows) {
    const result = parseQuery(query);
    if (result.ok) continue;
    for (const { fix, message } of result.problems) {
      if (fix === undefined) continue;
      const after = parseQuery(applyEdits(query, fix.edits));
      const left = after.ok ? 0 : after.problems.length;
      // Five at most are told, so that a sixth may come to light.
      t.ok(left < result.problems.length || result.problems.length === 5, `${JSON.stringify(query)}: ${message}`);
    }
  }
  t.end();
});

t.test(
  "of any text: spans lie inside it, in order, apart; at most five problems of syntax, none told twice",
  slow(),
  (t) => {
    fc.assert(
      fc.property(queryText, (source) => {
        const result = parseQuery(source);
        if (result.ok) return;
        let end = 0;
        let start = 0;
        const seenKeys = new Set<string>();
        for (const problem of result.problems) {
          const { span, code, fix } = problem;
          if (span.start < start || span.end > source.length || span.end < span.start) throw new Error(code);
          const key = `${code} ${span.start} ${span.end}`;
          if (seenKeys.has(key)) throw new Error(`${key} twice`);
          seenKeys.add(key);
          start = span.start;
          end = Math.max(end, span.end);
          if (fix !== undefined) applyEdits(source, fix.edits);
          renderProblem(problem, { source });
        }
      }),
      { seed: 21, numRuns: runsOf(1000) },
    );
    t.end();
  },
);

t.test("where a long text fails is found without Ohm reading the whole", (t) => {
  const grammar = loadGrammar();
  let long = 0;
  fc.assert(
    fc.property(fc.array(queryText, { minLength: 8, maxLength: 24 }), fc.boolean(), (texts, valid) => {
      // Mostly right, so that failures are deep.
      const parts = valid ? texts.filter((text) => parseQuery(`${text} x`).ok) : texts;
      const source = `${"(status >= 500 and error) or path ~ /x/ a in (1, b) and ".repeat(8)}${parts.join(" and ")}`;
      const match = grammar.match(source);
      if (!match.failed()) return;
      long++;
      const tokens = tokenize(source);
      const at = (offset: number) => tokens.findIndex((token) => token.end > offset);
      const offset = failureOffset(source, tokens);
      if (at(offset) !== at(match.getRightmostFailurePosition())) {
        throw new Error(`${offset}, not ${match.getRightmostFailurePosition()}: ${source}`);
      }
    }),
    { seed: 22, numRuns: 150 },
  );
  t.ok(long > 50, `${long} fail`);
  t.end();
});

t.test("garbage of the longest length is answered soon", slow(), (t) => {
  const pieces = [
    ..."([{<\"'`/\\,;:|&!~=#%$-+*@\u00a0\u201c",
    ...[
      "a => ",
      "a:b ",
      "a:[1 TO ",
      "-a ",
      "a like ",
      "f(",
      "a or ",
      "a and and ",
      "5 kb ",
      "a in [1, ",
      ".a",
      "' ",
      "a = ",
    ],
    ...["{ $.a ", "where ", "select a ", "| where ", '{a="', "a = 1, ", "a = 5 or 6 ", "exists ", "not ", "a b = = "],
  ];
  /** Processor time, which others on the machine do not use up. */
  const usedMs = (length: number): number => {
    const start = process.cpuUsage();
    for (const piece of pieces) {
      const result = parseQuery(piece.repeat(length).slice(0, length));
      if (!result.ok) t.ok(result.problems.length > 0);
    }
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  // Eight times the text is 64 times the work if it is quadratic. The best of three tries counts.
  let times = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && times >= 16; round++)
    times = Math.min(times, usedMs(MAX_QUERY_LENGTH) / usedMs(MAX_QUERY_LENGTH / 8));
  t.ok(times < 16, `${times.toFixed(1)} times as long as an eighth of it`);
  t.end();
});

interface Row {
  readonly query: string;
  readonly problems: readonly string[];
  readonly fixed?: string;
}

function rendered(source: string): string {
  const result = parseQuery(source);
  return result.ok ? "" : result.problems.map((problem) => renderProblem(problem, { source })).join("\n");
}

/** Every fix applied, again and again, until the text is a query; undefined where one is missing. */
function allFixed(query: string): string | undefined {
  let source = query;
  for (let round = 0; round < 8; round++) {
    const result = parseQuery(source);
    if (result.ok) return source;
    const edits = editsTogether(result.problems);
    if (edits.length === 0) return undefined;
    source = applyEdits(source, edits);
  }
  return undefined;
}
