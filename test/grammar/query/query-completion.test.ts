import fc from "fast-check";
import t from "tap";
import { applyEdits } from "../../../grammar/problem.ts";
import { complete } from "../../../grammar/query/complete.ts";
import { Expectation } from "../../../grammar/query/expected.ts";
import {
  type CompletionSources,
  explain,
  explainAt,
  explainPipeAt,
  type KnownField,
  type KnownValue,
  type Pipeline,
  parsePipeline,
  parseQuery,
  printQuery,
  type Query,
  QuerySession,
} from "../../../grammar/query/index.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { queries, queryText } from "../../support/query-arbitrary.ts";
import { runsOf } from "../../support/runs.ts";
import { slow } from "../../support/slow.ts";
import { recorderOf } from "../../support/vectors.ts";
import vectors from "../../vectors/query.json" with { type: "json" };
import completions from "../../vectors/query-completion.json" with { type: "json" };
import errors from "../../vectors/query-errors.json" with { type: "json" };
import explanations from "../../vectors/query-explain.json" with { type: "json" };
import pipes from "../../vectors/query-pipes.json" with { type: "json" };

const recordCompletion = recorderOf("query-completion.json", completions);
const recordWords = recorderOf("query-explain.json", explanations);

const supplied = completions.sources.values as Readonly<Record<string, readonly KnownValue[]>>;
const sources: CompletionSources = {
  fields: completions.sources.fields as readonly KnownField[],
  values: (field) => (Object.hasOwn(supplied, field) ? supplied[field]! : []),
};
const texts = [
  ...(vectors.valid as { query?: string }[]).flatMap(({ query }) => (query === undefined ? [] : [query])),
  ...vectors.invalid.map(({ query }) => query),
  ...errors.map(({ query }) => query),
];

const STAGE = /(?<!\|)\|(?!\|)/;
const pipelines = [
  ...pipes.valid.map(({ query }) => query),
  ...pipes.invalid.map(({ query }) => query),
  ...pipes.foreign.map(({ fixed }) => fixed),
].filter((query) => STAGE.test(query));

t.test("what is offered at the cursor", (t) => {
  // In pipelines a bar is a bar.
  const rows = [
    ...completions.rows.map((row) => ({ row, mark: "|" })),
    ...completions.stages.map((row) => ({ row, mark: "¦" })),
  ];
  for (const { row, mark } of rows as { row: CompletionRow; mark: string }[]) {
    const [source, offset] = cursor(row.at, mark);
    const { items } = complete(source, offset, sources);
    const [top] = items;
    const labels = items.slice(0, row.offers.length || 1).map(({ kind, label }) => `${kind} ${label}`);
    recordCompletion(row, {
      offers: labels,
      count: row.count === undefined && items.length === labels.length ? undefined : items.length,
      first: top && applyEdits(source, [{ span: top.span, text: top.insertText }]),
    });
    const { at, offers, count, first } = row;
    t.same(
      items.slice(0, offers.length || 1).map(({ kind, label }) => `${kind} ${label}`),
      offers,
      JSON.stringify(at),
    );
    t.equal(items.length, count ?? offers.length, `${JSON.stringify(at)}, how many`);
    const item = items[0];
    const applied = item && applyEdits(source, [{ span: item.span, text: item.insertText }]);
    t.equal(applied, first, `${JSON.stringify(at)}, the first applied`);
  }
  t.end();
});

t.test("an item leads to a text that can go on, at any offset of any query", slow(), (t) => {
  const session = new QuerySession();
  const expectation = new Expectation();
  let applied = 0;
  for (const source of texts) {
    session.update(source);
    for (let offset = 0; offset <= source.length; offset++) {
      const { items } = session.complete(offset, sources);
      for (const [index, item] of items.entries()) {
        if (item.span.start > offset || item.span.end < offset)
          t.fail(`${source} at ${offset}: ${item.label} elsewhere`);
        // Each of the many, somewhere.
        if ((index + offset) % 17 !== 0) continue;
        const before = source.slice(0, item.span.start);
        if (expectation.after(before) === undefined) continue;
        applied++;
        if (expectation.after(`${before}${item.insertText} `) === undefined) {
          t.fail(`${source} at ${offset}: ${before}${item.insertText}`);
        }
      }
    }
  }
  t.ok(applied > 3000, `${applied} applied`);
  t.end();
});

// Problems that no added text can cure.
const NEVER =
  /unknown-(?:column|function|stage)|duplicate-column|no-events|call-in|no-numbers|no-rows|bad-step|needless|term-after|foreign/;

t.test("an item in a stage leads to no problem, at any offset of any pipeline", slow(), (t) => {
  const codesOf = (source: string) => {
    const result = parsePipeline(source);
    return result.ok ? [] : result.problems.map(({ code }) => code).filter((code) => NEVER.test(code));
  };
  const session = new QuerySession();
  let applied = 0;
  for (const source of pipelines) {
    session.update(source);
    for (let offset = source.search(STAGE) + 1; offset <= source.length; offset++) {
      for (const { span, insertText, snippet } of session.complete(offset, sources).items) {
        const before = source.slice(0, span.start);
        if (codesOf(before).length > 0) continue;
        applied++;
        const text = before + insertText;
        const codes = [text, `${text})`].map(codesOf);
        if (!codes.some(({ length }) => length === 0)) t.fail(`${source} at ${offset}: ${text}: ${codes[0]}`);
        if (snippet === undefined) continue;
        const filled = before + snippet.replace(/\$\{1:(.*?)\}/g, "$1");
        if (!parsePipeline(filled).ok) t.fail(`${source} at ${offset}: ${filled}`);
      }
    }
  }
  t.ok(applied > 10_000, `${applied} applied`);
  t.end();
});

t.test("a value says in how many entries it is", (t) => {
  const values = [{ value: "one", count: 1 }, { value: "two", count: 2 }, { value: "any" }];
  const { items } = complete("stage = ", 8, { fields: [], values: () => values });
  t.same(
    items
      .slice(0, 3)
      .map(({ label, detail }) => `${label}: ${detail}`)
      .sort(),
    ["any: stage", "one: 1 entry", "two: 2 entries"],
  );
  t.end();
});

t.test("every name and value supplied is offered as one that reads back as itself", (t) => {
  const name = fc.string({ unit: fc.constantFrom(...'ab.-[]"\\ 0é*\n(ino'), minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(name, name, (field, value) => {
      const sources: CompletionSources = { fields: [{ name: field, type: "string" }], values: () => [{ value }] };
      const offered = complete("", 0, sources).items.filter(({ kind }) => kind === "field");
      for (const { insertText } of offered) if (!parseQuery(`exists ${insertText}`).ok) throw new Error(insertText);
      for (const before of ["x = ", "x in (", 'x = "']) {
        for (const { insertText } of complete(before, before.length, sources).items) {
          const result = parseQuery(`x = ${insertText}`);
          const read = result.ok && result.value.expr?.kind === "comparison" ? result.value.expr.value : undefined;
          const text = read !== undefined && "chunks" in read ? read.chunks.join("*") : undefined;
          if (text !== value) throw new Error(`${before}${insertText}`);
        }
      }
    }),
    { seed: 31, numRuns: 400 },
  );
  t.end();
});

t.test(
  "no text and no offset makes completion or explanation throw; a session answers as a fresh start does",
  slow(),
  (t) => {
    const session = new QuerySession();
    fc.assert(
      fc.property(queryText, fc.double({ min: 0, max: 1, noNaN: true }), (source, part) => {
        session.update(source);
        const offset = Math.round(part * source.length);
        const kept = session.complete(offset, sources);
        const fresh = complete(source, offset, sources);
        if (JSON.stringify(kept) !== JSON.stringify(fresh)) throw new Error(`${source} at ${offset}`);
        session.explainAt(offset);
      }),
      { seed: 32, numRuns: runsOf(300) },
    );
    for (const offset of [-5, 99]) t.ok(complete("status", offset, sources).items.length > 0);
    t.end();
  },
);

t.test("completion in a session answers within a key's time, in a long query as well", (t) => {
  const medium =
    'status >= 500 and duration > 1.5s and (method in (POST, PUT) or path = "/account/*") not user.email = x ';
  const typed = (source: string) => {
    const session = new QuerySession();
    for (let end = source.length - 60; end <= source.length; end++) {
      session.update(source.slice(0, end));
      session.complete(end, sources);
    }
  };
  // The measure of one key is 5 ms (test/bench). Linear work takes ten times as long, quadratic a hundred times.
  const times = timesAsLong(
    () => typed(medium.repeat(100)),
    () => typed(medium.repeat(10)),
    40,
  );
  t.ok(times < 40, `${times.toFixed(1)} times as long as in a tenth of the query`);
  t.end();
});

t.test("queries in words", (t) => {
  for (const row of explanations.words) {
    recordWords(row, { words: explain(parsed(row.query)) });
    t.equal(explain(parsed(row.query)), row.words, JSON.stringify(row.query));
  }
  fc.assert(
    fc.property(queries, (query) => {
      const read = parsed(printQuery(query));
      const words = explain(read);
      if (words === "" || /undefined|NaN|\[object/.test(words.replace(/"[^"]*"|\/.*?\//g, ""))) throw new Error(words);
      for (let offset = 0; offset <= read.source.length; offset += 3) {
        const explanation = explainAt(read, offset);
        if (explanation !== undefined && !(explanation.span.start <= offset && offset < explanation.span.end))
          throw new Error(read.source);
      }
    }),
    { seed: 33, numRuns: 500 },
  );
  t.end();
});

t.test("what stands under the cursor, in words", (t) => {
  for (const row of explanations.hovers as HoverRow[]) {
    const [source, offset] = cursor(row.at);
    const explanation = explainAt(parsed(source), offset);
    recordWords(row, {
      of: explanation && source.slice(explanation.span.start, explanation.span.end),
      text: explanation?.text,
    });
    const { at, of, text } = row;
    t.equal(explanation && source.slice(explanation.span.start, explanation.span.end), of, `${at}, of what`);
    t.equal(explanation?.text, text, at);
  }
  t.end();
});

t.test("what is under the cursor in a stage, in words", (t) => {
  for (const row of explanations.stages as HoverRow[]) {
    const [source, offset] = cursor(row.at, "¦");
    const explanation = explainPipeAt(piped(source), offset);
    recordWords(row, {
      of: explanation && source.slice(explanation.span.start, explanation.span.end),
      text: explanation?.text,
    });
    const { at, of, text } = row;
    t.equal(explanation && source.slice(explanation.span.start, explanation.span.end), of, `${at}, of what`);
    t.equal(explanation?.text, text, at);
  }
  for (const { query } of pipes.valid) {
    const pipeline = piped(query);
    for (let offset = 0; offset <= query.length; offset++) {
      const { span, text } = explainPipeAt(pipeline, offset) ?? {
        span: { start: offset, end: offset + 1 },
        text: ".",
      };
      if (span.start > offset || span.end <= offset || /^$|undefined|NaN|\[object/.test(text))
        t.fail(`${query}: ${text}`);
    }
  }
  t.end();
});

interface CompletionRow {
  readonly at: string;
  readonly offers: readonly string[];
  readonly count?: number;
  readonly first?: string;
}

interface HoverRow {
  readonly at: string;
  readonly of?: string;
  readonly text?: string;
}

/** The text without its first mark, and where that was. */
function cursor(at: string, mark = "|"): [source: string, offset: number] {
  const offset = at.indexOf(mark);
  return [at.slice(0, offset) + at.slice(offset + 1), offset];
}

function piped(source: string): Pipeline {
  const result = parsePipeline(source);
  if (!result.ok) throw new Error(`${source}: ${result.problems[0]!.message}`);
  return result.value;
}

function parsed(source: string): Query {
  const result = parseQuery(source);
  if (!result.ok) throw new Error(`${source}: ${result.problems[0]!.message}`);
  return result.value;
}
