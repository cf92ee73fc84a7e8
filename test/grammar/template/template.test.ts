import { readFileSync } from "node:fs";
import fc from "fast-check";
import t from "tap";
import { applyEdits, type Problem, renderProblem } from "../../../grammar/problem.ts";
import { parseTemplate, renderTemplate, type Template } from "../../../grammar/template/index.ts";
import { printTemplate } from "../../../grammar/template/print.ts";
import { timesAsLong } from "../../support/processor-time.ts";
import { holds } from "../../support/property.ts";
import { recorderOf } from "../../support/vectors.ts";

interface Vectors {
  rendered: { source: string; variables?: Record<string, unknown>; code?: number; text?: string; expected: string }[];
  printed: [string, string][];
  invalid: { source: string; problems: string[] }[];
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL("../../../../test/vectors/template.json", import.meta.url), "utf8"),
);

const record = recorderOf("template.json", vectors);

for (const row of vectors.rendered) {
  const { source, variables = {}, code = 404, text = "Not Found" } = row;
  t.test(`${source} with ${JSON.stringify(variables)} ${code}`, (t) => {
    const data = { StatusCode: code, StatusText: text, Variables: variables };
    const value = template(source);
    record(row, { expected: renderTemplate(value, data) });
    const { expected } = row;
    t.equal(renderTemplate(value, data), expected);
    t.equal(renderTemplate(template(printTemplate(value)), data), expected, "also from its canonical text");
    t.end();
  });
}

t.test("canonical text", (t) => {
  for (const row of vectors.printed) {
    record(row, { 1: printTemplate(template(row[0])) });
    t.equal(printTemplate(template(row[0])), row[1], row[0]);
  }
  t.end();
});

for (const row of vectors.invalid) {
  const { source } = row;
  t.test(`invalid ${JSON.stringify(source)}`, (t) => {
    const parsed = parseTemplate(source);
    t.notOk(parsed.ok);
    if (!parsed.ok) {
      record(row, { problems: render(parsed.problems, source).split("\n") });
      t.equal(render(parsed.problems, source), row.problems.join("\n"));
    }
    t.end();
  });
}

t.test("every fix removes its problem", (t) => {
  let fixes = 0;
  for (const { source } of vectors.invalid) {
    const parsed = parseTemplate(source);
    if (parsed.ok) continue;
    for (const { fix } of parsed.problems) {
      if (fix === undefined) continue;
      fixes++;
      const again = parseTemplate(applyEdits(source, fix.edits));
      t.equal(again.ok ? 0 : again.problems.length, parsed.problems.length - 1, source);
    }
  }
  t.ok(fixes >= 3);
  t.end();
});

t.test("limits", (t) => {
  const nested = (depth: number) => `${"{{if .StatusCode}}".repeat(depth)}x${"{{end}}".repeat(depth)}`;
  const grouped = (depth: number) => `{{${"(".repeat(depth)}1${")".repeat(depth)}}}`;
  const elseIfs = `{{if .StatusCode}}${"{{else if .StatusText}}".repeat(5000)}{{end}}`;
  const rows: [string, string | undefined][] = [
    ["x".repeat(1 << 20), undefined],
    ["x".repeat((1 << 20) + 1), "template/too-long"],
    [nested(64), undefined],
    [nested(65), "template/too-deep"],
    [nested(5000), "template/too-deep"],
    [grouped(64), undefined],
    [grouped(65), "template/too-deep"],
    [grouped(100_000), "template/too-deep"],
    [`{{"${"(".repeat(100)}"}}`, undefined],
    [elseIfs, undefined],
    [`{{/*${"x".repeat(10_000)}*/}}`, undefined],
    [`{{"${"x".repeat(5000)}"}}`, "template/too-long"],
    [`{{.StatusCode${" ".repeat(1_000_000)}}}`, "template/too-long"],
  ];
  for (const [source, code] of rows) {
    const parsed = parseTemplate(source);
    t.equal(parsed.ok ? undefined : parsed.problems[0]!.code, code, `${source.slice(0, 20)}... ${source.length}`);
    if (parsed.ok) renderTemplate(parsed.value, { StatusCode: 404, StatusText: "", Variables: {} });
  }
  t.end();
});

t.test("an endless list of problems ends, and broken megabytes are read in time", (t) => {
  for (const piece of [
    "{",
    "{{(",
    '{{"',
    "{{`",
    "{{/*",
    "{{-",
    "{{if .x}}",
    "{{end}}",
    '{{"\\',
    "<a ",
    "<!--",
    "<style>",
    "</",
  ]) {
    const long = piece.repeat((1 << 20) / piece.length);
    const eighth = piece.repeat((1 << 17) / piece.length);
    const parsed = parseTemplate(long);
    // Quadratic work takes 64 times as long.
    const times = timesAsLong(
      () => parseTemplate(long),
      () => parseTemplate(eighth),
      32,
    );
    t.ok(times < 32, `${piece}: ${times.toFixed(1)} times as long as an eighth of it`);
    if (!parsed.ok) t.ok(parsed.problems.length <= 1001, `${piece}: ${parsed.problems.length} problems`);
  }
  t.end();
});

t.test("spans point into the source", (t) => {
  const { nodes } = template("ab{{if eq .StatusCode 404}} c {{- .Variables.a.b}}{{end}}");
  const spans = JSON.stringify(nodes, (key, value) => (key === "text" || key === "context" ? undefined : value));
  t.match(
    nodes,
    [
      { kind: "text", span: { start: 0, end: 2 } },
      {
        kind: "if",
        span: { start: 2, end: 27 },
        branches: [
          {
            condition: {
              span: { start: 7, end: 25 },
              name: { span: { start: 7, end: 9 } },
              args: [{ span: { start: 10, end: 21 } }, { span: { start: 22, end: 25 } }],
            },
            body: [
              { kind: "text", text: " c", span: { start: 27, end: 29 } },
              {
                kind: "output",
                span: { start: 30, end: 50 },
                expr: { names: [{ text: "Variables" }, { text: "a" }, { text: "b", span: { start: 46, end: 48 } }] },
              },
            ],
          },
        ],
      },
    ],
    spans,
  );
  t.end();
});

// ---- properties

const pieces = [
  ...[
    "{{",
    "}}",
    "{{-",
    "-}}",
    " ",
    "\n",
    "{",
    "}",
    "(",
    ")",
    '"',
    "`",
    "\\",
    "/*",
    "*/",
    "$",
    ".",
    "|",
    "x",
    "1",
    "-1",
  ],
  ...["if ", "else", "end", "with ", "eq ", "not ", ".StatusCode", ".Variables.a", "{{end}}", "{{if .StatusCode}}"],
  ...["<p ", ">", "<style>", "</style>", "<script>", "</script>", "<!--", "-->", 'class="', "href='", "='", "'", "é🐯"],
];
const anyText = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((list) => list.join("")),
  fc.string({ unit: "binary", maxLength: 30 }),
);

/** Templates that are right: blocks in blocks, with everything that an action can be. */
const { validTemplate } = fc.letrec<{ expr: string; arg: string; node: string; validTemplate: string }>((tie) => ({
  arg: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(
      ".StatusText",
      ".Variables.a",
      "$.Variables.a.b",
      "$",
      "7",
      "-1.5",
      "true",
      "nil",
      '"a\\n\\"\\u0041"',
      "`b\\`",
    ),
    tie("expr").map((expr) => `( ${expr})`),
  ),
  expr: fc.oneof(
    { depthSize: "small" },
    tie("arg"),
    tie("arg").map((arg) => `not ${arg}`),
    fc
      .tuple(fc.constantFrom("eq", "ne", "lt", "le", "gt", "ge", "and", "or"), tie("arg"), tie("arg"))
      .map((call) => call.join(" ")),
  ),
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("text", " ", "{", "}", "{{/* c */}}", "{{- /* c */ -}}", '"', "é"),
    tie("expr").map((expr) => `{{${expr}}}`),
    tie("expr").map((expr) => `{{- ${expr} -}}`),
    fc
      .tuple(tie("expr"), tie("validTemplate"), tie("expr"), tie("validTemplate"), tie("validTemplate"))
      .map(([a, x, b, y, z]) => `{{if ${a}}} ${x} {{else if ${b}}} ${y} {{else}} ${z} {{end}}`),
    fc
      .tuple(tie("expr"), tie("validTemplate"), tie("validTemplate"))
      .map(([a, x, y]) => `{{with ${a}}} ${x} {{else}} ${y} {{end}}`),
  ),
  // A space before an action, since three braces are none.
  validTemplate: fc.array(tie("node"), { maxLength: 4, depthIdentifier: "nodes" }).map((nodes) => nodes.join(" ")),
}));

t.test("printing and parsing a template gives it back", (t) => {
  let valid = 0;
  const property = fc.property(fc.oneof(validTemplate, anyText), (source) => {
    const parsed = parseTemplate(source);
    if (!parsed.ok) return;
    if (parsed.value.nodes.some(({ kind }) => kind !== "text")) valid++;
    const printed = printTemplate(parsed.value);
    const again = parseTemplate(printed);
    if (!again.ok) throw new Error(`${JSON.stringify(source)} prints as ${printed}, which is invalid`);
    if (withoutSpans(again.value) !== withoutSpans(parsed.value)) throw new Error(`${source} prints as ${printed}`);
    if (printTemplate(again.value) !== printed) throw new Error(`${printed} is not canonical`);
  });
  holds(t, property, { numRuns: 1500, seed: 30 });
  t.ok(valid > 300, `${valid} with actions`);
  t.end();
});

t.test("no text makes the parser or the renderer throw, and every problem has its place", (t) => {
  const data = { StatusCode: 404, StatusText: "<&>", Variables: { a: { b: ["<"] } } };
  const property = fc.property(anyText, (source) => {
    const parsed = parseTemplate(source);
    if (parsed.ok) {
      renderTemplate(parsed.value, data);
      return;
    }
    if (parsed.problems.length === 0) throw new Error("invalid without a problem");
    for (const { span, message } of parsed.problems) {
      if (span.start < 0 || span.end < span.start || span.end > source.length) throw new Error(message);
    }
  });
  holds(t, property, { numRuns: 4000, seed: 31 });
  t.end();
});

t.test("a value never leaves the place where it stands", (t) => {
  // Each place with what may follow its start: nothing of the value that could end it.
  const places: [string, string, RegExp][] = [
    ["<p>", "</p>", /^[^<>"']*$/],
    ['<p title="', '">', /^[^<>"']*$/],
    ["<p title='", "'>", /^[^<>"']*$/],
    ["<p title=", ">", /^[^ \t\n\f\r<>"'=`]*$/],
    ["<p ", ">", /^[^ \t\n\f\r<>"'=`/]*$/],
    ['<a href="', '">', /^(?!\s*javascript)[^<>"']*$/i],
    ["<style>p{color:", "}</style>", /^(?!.*(?:\/\*|\/\/))[^<>"'{};:\\@\r\n]*$/],
    ['<p style="color:', '">', /^(?!.*(?:\/\*|\/\/))[^<>"'{};:\\@\r\n]*$/],
    ["<script>a='", "'</script>", /^(?:[\w .,-]|\\u[0-9a-f]{4})*$/],
    ["<p onclick=\"a('", "')\">", /^(?:[\w .,-]|\\u[0-9a-f]{4})*$/],
    ["<!-- ", " -->", /^[^<>]*$/],
    ["<title>", "</title>", /^[^<>]*$/],
  ];
  const value = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."<>\"'`=&/\\;:{}()*@-!jJ \n\t$#%u".split("")), maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 10 }),
    fc.constantFrom("javascript:alert(1)", " java\tscript:x", "</script>", "--><script>", "\u2028", "\ud800"),
  );
  const parsed = places.map(([before, after, allowed]) => ({
    before,
    after,
    allowed,
    value: template(`${before}{{.Variables.a}}${after}`),
  }));
  const property = fc.property(value, (a) => {
    for (const { before, after, allowed, value } of parsed) {
      const page = renderTemplate(value, { StatusCode: 404, StatusText: "", Variables: { a } });
      const inside = page.slice(before.length, page.length - after.length);
      if (!allowed.test(inside) || !page.startsWith(before) || !page.endsWith(after)) throw new Error(page);
    }
  });
  holds(t, property, { numRuns: 2000, seed: 32 });
  t.end();
});

function template(source: string): Template {
  const parsed = parseTemplate(source);
  if (!parsed.ok) throw new Error(render(parsed.problems, source));
  return parsed.value;
}

function render(problems: readonly Problem[], source: string): string {
  return problems.map((problem) => renderProblem(problem, { source, file: "404.html" })).join("\n");
}

function withoutSpans(value: unknown): string {
  return JSON.stringify(value, (key, inner) => (key === "span" || key === "source" ? undefined : inner));
}
