// The changes of a query that the web UI makes when a value is pressed, and the reader that it uses for each key.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import fc from "fast-check";
import t from "tap";
import {
  countBy,
  fieldExists,
  filterBetween,
  filterIn,
  filterOut,
  levelFrom,
  literal,
  withoutPipes,
} from "../../../grammar/query/edit.ts";
import { compilePredicate, parsePipeline, parseQuery } from "../../../grammar/query/index.ts";
import { readPipeline } from "../../../grammar/query/read.ts";
import { fieldName } from "../../../logservice/events/field-paths.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

const ROWS: readonly (readonly [what: string, got: string | undefined, wanted: string | undefined])[] = [
  ["first", filterIn("", "path", "/a"), 'path = "/a"'],
  ["after another", filterIn("error", "path", "/a"), 'error and path = "/a"'],
  ["after an or", filterIn("error or warn", "path", "/a"), '(error or warn) and path = "/a"'],
  ["what was written stays", filterIn("error  status>=400", "a", 1), "error  status>=400 and a = 1"],
  ["before stages", filterIn("error | count by path", "a", true), "error and a = true | count by path"],
  ["stages alone", filterIn("| count by path", "a", null), "a = null | count by path"],
  ["twice is once", filterIn('error path="/a"', "path", "/a"), 'error path="/a"'],
  ["another value is replaced", filterIn('error and path = "/b"', "path", "/a"), 'error and path = "/a"'],
  ["what was left out comes in", filterIn('error not path = "/a"', "path", "/a"), 'error and path = "/a"'],
  ["other values stay out", filterIn('not path = "/b"', "path", "/a"), 'not path = "/b" and path = "/a"'],
  ["out", filterOut("error", "path", "/a"), 'error and not path = "/a"'],
  ["what was in goes out", filterOut('error path = "/a"', "path", "/a"), 'error and not path = "/a"'],
  ["out twice is once", filterOut('not path = "/a"', "path", "/a"), 'not path = "/a"'],
  ["exists", fieldExists("error", "user.email"), "error and exists user.email"],
  ["exists in the place of its absence", fieldExists("not exists a", "a"), "exists a"],
  ["bounds", filterBetween("", "duration", { min: 0.5, max: 100 }), "duration >= 0.5 and duration <= 100"],
  ["new bounds", filterBetween("duration >= 1 error", "duration", { max: 5 }), "error and duration <= 5"],
  ["no bounds", filterBetween("error", "duration", {}), "error"],
  ["from a level", levelFrom("path = /a", "error"), "path = /a and level >= error"],
  ["from another level", levelFrom("level >= warn status >= 500", "error"), "status >= 500 and level >= error"],
  ["count", countBy("error", "path"), "error | count by path"],
  ["count in the place of stages", countBy("error | top 5 path", "status"), "error | count by status"],
  ["count of everything", countBy("", 'fields["odd key"]'), '| count by fields["odd key"]'],
  ["without stages", withoutPipes('a = "|" | count'), 'a = "|"'],
  ["not a query", filterIn('error "', "a", 1), undefined],
  ["not a field", filterIn("error", "a b", 1), undefined],
  ["quotes", literal('say "hi" * \\ \n\t\u0000'), '"say \\"hi\\" \\* \\\\ \\n\\t\\u0000"'],
];

t.test("changes of a query", (t) => {
  for (const [what, got, wanted] of ROWS) t.equal(got, wanted, what);
  t.end();
});

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const key = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom("path", "and", "fields", "level", "odd key", "a.b", "0", "$"),
);

t.test("a value that is pressed is found, and left out, whatever it is and however its field is named", (t) => {
  const before = fc.constantFrom(
    "",
    "a = 1 or not a = 1",
    "not exists nothing",
    "exists nothing or not exists nothing",
  );
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 3 }), scalar, before, (path, value, text) => {
      if (value === null || path.some((name) => name === "__proto__")) return;
      const fields = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<string, unknown>;
      const entry = { level: "info", message: "m", timestamp: "2026-01-01T00:00:00Z", fields };
      const matches = (query: string | undefined): boolean => {
        const parsed = parseQuery(query!);
        if (!parsed.ok) throw new Error(`${query}: ${parsed.problems[0]!.message}`);
        return compilePredicate(parsed.value, { nowMs: 0 })(entry as never);
      };
      const field = fieldName(path);
      const narrowed = filterIn(text, field, value)!;
      const left = filterOut(text, field, value)!;
      return (
        matches(narrowed) &&
        !matches(left) &&
        filterIn(narrowed, field, value) === narrowed &&
        filterOut(left, field, value) === left &&
        matches(filterIn(left, field, value))
      );
    }),
    { numRuns: 2_000 },
  );
  t.pass("2,000 fields and values");
  t.end();
});

t.test("the reader for each key takes what the parser takes, with the same tree", (t) => {
  const word = fc.constantFrom(
    ...["error", "a", "=", "!=", '"x"', "5", "and", "or", "not", "(", ")", "|", "count", "by", "top", "in", "exists"],
    ...["stats", "p95(a)", "where", "sort", "limit", "~", "/x/", ",", "[0]", ".b", "*", "||", "timeseries"],
  );
  let valid = 0;
  fc.assert(
    fc.property(fc.array(word, { maxLength: 9 }), (words) => {
      const text = words.join(" ");
      const parsed = parsePipeline(text);
      if (!parsed.ok) return;
      valid++;
      t.same(readPipeline(text), parsed.value, text);
    }),
    { numRuns: 3_000 },
  );
  t.ok(valid > 100, `${valid} valid texts`);
  for (const text of ["", " ", "error", "a = 1 | count", " error  |  count by path | where count > 5"])
    t.same(readPipeline(text), (parsePipeline(text) as { value: unknown }).value, JSON.stringify(text));
  t.equal(readPipeline("a = "), undefined);
  t.equal(readPipeline("(".repeat(1_000)), undefined, "too deep");
  t.equal(readPipeline("a ".repeat(10_000)), undefined, "too long");
  t.end();
});

t.test("both fit a page: no Ohm and no engine of expressions comes with them", async (t) => {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export * from "./grammar/query/read.ts"; export * from "./grammar/query/edit.ts"; export * from "./grammar/query/highlight.generated.ts";`,
      resolveDir: root,
    },
    ...{ bundle: true, minify: true, write: false, format: "esm", metafile: true },
  });
  const inside = Object.keys(metafile.inputs);
  for (const name of ["ohm.generated", "re2.generated", "query.generated", "diagnose", "habits", "foreign"])
    t.notOk(
      inside.some((path) => path.includes(`/${name}`)),
      `without ${name}`,
    );
  const size = gzipSync(outputFiles[0]!.text, { level: 9 }).length;
  t.ok(size <= 15_000, `${size} bytes with gzip`);
});
