// The generated parsers against Ohm, on the same grammars with the same actions: what is accepted, and the tree.
import * as ohm from "ohm-js";
import t from "tap";
import { compileGrammar } from "../../../grammar/build/compile.ts";
import { compare, subjects } from "../../support/parser-fuzz.ts";

const COUNT = 1500;

for (const subject of subjects()) {
  t.test(`${subject.name}: ${subject.seeds.length} seeds and ${COUNT} texts near them`, (t) => {
    for (const seed of subject.seeds) t.same(subject.generated(seed), subject.ohm(seed), JSON.stringify(seed));
    const { accepted, differ } = compare(subject, COUNT, 1);
    t.same(differ, []);
    t.ok(accepted > COUNT / 50, `${accepted} of them are accepted`);
    t.end();
  });
}

/** A tree in which each span is the text that it is of. */
function withTexts(value: unknown, source: string): unknown {
  if (Array.isArray(value)) return value.map((part) => withTexts(part, source));
  if (typeof value !== "object" || value === null) return value;
  const { start, end } = value as { start?: number; end?: number };
  if (typeof start === "number" && typeof end === "number") return source.slice(start, end);
  const parts = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(parts.map(([key, part]) => [key, withTexts(part, source)]));
}

const key = (name: string, span = name) => ({ kind: "key", key: name, span });
const field = (name: string) => ({ path: [key(name)], span: name });
const truthy = (name: string) => ({ kind: "truthy", field: field(name), span: name });
const word = (text: string) => ({ kind: "word", chunks: [text], span: text });
const string = (text: string) => ({ kind: "string", chunks: [text], span: `"${text}"` });
const number = (text: string) => ({ kind: "number", text, value: Number(text), span: text });
const token = (kind: string, text: string, span = text) => ({ kind, text, span });
const plain = (text: string) => [...text].map((char) => token("plain", char));
const constant = (value: unknown, span: string) => ({ kind: "constant", value, span });
const path = (span: string, fromRoot: boolean, ...names: string[]) => ({
  kind: "path",
  fromRoot,
  names: names.map((name) => ({ text: name, span: `.${name}` })),
  span,
});

/** Written by hand, from the grammars and their READMEs: what both parsers make of the actions may be wrong in both. */
const TREES: Readonly<Record<string, readonly [source: string, tree: unknown][]>> = {
  pipeline: [
    ["", { pipes: [] }],
    [
      "a|count by b, by",
      {
        expr: truthy("a"),
        pipes: [{ kind: "count", by: [field("b"), field("by")], word: "count", span: "count by b, by" }],
      },
    ],
    [
      "| stats p99.9( d ) as x | top 5 y | sort p9(x) desc",
      {
        pipes: [
          {
            kind: "stats",
            aggregates: [
              {
                call: { name: "p99.9", nameSpan: "p99.9", argument: field("d"), span: "p99.9( d )" },
                as: { name: "x", span: "x" },
                span: "p99.9( d ) as x",
              },
            ],
            by: [],
            word: "stats",
            span: "stats p99.9( d ) as x",
          },
          { kind: "top", count: { value: 5, span: "5" }, column: field("y"), word: "top", span: "top 5 y" },
          {
            kind: "sort",
            keys: [
              {
                column: {
                  path: [key("p9(x)")],
                  call: { name: "p9", nameSpan: "p9", argument: field("x"), span: "p9(x)" },
                  span: "p9(x)",
                },
                direction: "desc",
                span: "p9(x) desc",
              },
            ],
            word: "sort",
            span: "sort p9(x) desc",
          },
        ],
      },
    ],
  ],
  query: [
    ["", undefined],
    ["error", { kind: "level", word: "error", span: "error" }],
    [
      "a or b and not c",
      {
        kind: "or",
        terms: [
          truthy("a"),
          {
            kind: "and",
            terms: [truthy("b"), { kind: "not", term: truthy("c"), operator: "not", span: "not c" }],
            operators: ["and"],
            span: "b and not c",
          },
        ],
        operators: ["or"],
        span: "a or b and not c",
      },
    ],
    [
      "(a or b) c",
      {
        kind: "and",
        terms: [{ kind: "or", terms: [truthy("a"), truthy("b")], operators: ["or"], span: "a or b" }, truthy("c")],
        operators: [],
        span: "(a or b) c",
      },
    ],
    [
      "status>=500",
      {
        kind: "comparison",
        field: field("status"),
        op: ">=",
        operator: ">=",
        value: number("500"),
        span: "status>=500",
      },
    ],
    [
      'method not in (GET, "a b", 3)',
      {
        kind: "not",
        term: {
          kind: "in",
          field: field("method"),
          operator: "in",
          values: [word("GET"), string("a b"), number("3")],
          span: 'method not in (GET, "a b", 3)',
        },
        operator: "not",
        span: 'method not in (GET, "a b", 3)',
      },
    ],
    [
      'path contains "a*b"',
      {
        kind: "contains",
        field: field("path"),
        operator: "contains",
        // No wildcard here.
        text: string("a*b"),
        span: 'path contains "a*b"',
      },
    ],
    [
      "exists user.name",
      {
        kind: "exists",
        operator: "exists",
        field: { path: [key("user"), key("name", ".name")], span: "user.name" },
        span: "exists user.name",
      },
    ],
    [
      "id ~ /a+/i",
      {
        kind: "match",
        field: field("id"),
        operator: "~",
        regex: { source: "a+", flags: "i", span: "/a+/i" },
        span: "id ~ /a+/i",
      },
    ],
  ],
  route: [
    ["", []],
    ["/a/:id/*", [...plain("/a/"), token("param", ":id"), ...plain("/"), token("wildcards", "*")]],
    ["\\*%2F{x}", [token("escape", "\\*"), token("percentByte", "%2F"), token("foreign", "{x}")]],
    ["/a(b|c)?", [...plain("/a"), token("regexGroup", "(b|c)?")]],
    ["/(b)?", [...plain("/(b)"), token("outsidePath", "?")]],
  ],
  location: [
    ["mailto:x", [token("scheme", "mailto"), ...plain("x")]],
    [
      "https://h/:id?$1",
      [
        token("origin", "https"),
        token("authority", "h"),
        ...plain("/"),
        token("param", ":id"),
        token("query", "?"),
        token("dollar", "$1"),
      ],
    ],
  ],
  template: [
    ["{{- if .B -}}", { kind: "action", statement: "if", expr: path(".B", false, "B"), span: "{{- if .B -}}" }],
    [
      '{{f "x" (g $.A.B) -2.5}}',
      {
        kind: "action",
        statement: "output",
        expr: {
          kind: "call",
          name: { text: "f", span: "f" },
          args: [
            constant("x", '"x"'),
            {
              kind: "call",
              name: { text: "g", span: "g" },
              args: [path("$.A.B", true, "A", "B")],
              span: "g $.A.B",
            },
            constant(-2.5, "-2.5"),
          ],
          span: 'f "x" (g $.A.B) -2.5',
        },
        span: '{{f "x" (g $.A.B) -2.5}}',
      },
    ],
    ["{{ a b", { kind: "unclosed", tokens: [token("word", "a"), token("word", "b")], span: "{{ a b" }],
  ],
};
for (const subject of subjects()) {
  t.test(`${subject.name}: trees that were written by hand`, (t) => {
    const rows = TREES[subject.name] ?? [];
    t.ok(rows.length > 1);
    for (const [source, tree] of rows) {
      for (const parser of ["generated", "ohm"] as const) {
        t.strictSame(withTexts(subject[parser](source)?.value, source), tree, `${JSON.stringify(source)}, ${parser}`);
      }
    }
    t.end();
  });
}

t.test("what the compiler refuses", (t) => {
  const compile = (source: string, actions: Record<string, number> = {}, withoutValue: Record<string, string> = {}) => {
    const grammar = ohm.grammar(source);
    const starts = [Object.keys(grammar.rules)[0]!];
    const names = { actionsPath: "./actions.ts", grammarPath: "g.ohm" };
    return () => compileGrammar({ grammar, actions, withoutValue, starts, ...names });
  };
  t.throws(compile('G { Sum = Sum "+" digit -- more\n | digit }'), /"Sum_more" is left-recursive: write it as a list/);
  t.throws(compile('G { a = b?  "x"  b = a "y" }'), /left-recursive/);
  t.throws(compile('G { a = "x" "y" }', { a: 4 }), /the action of "a" takes 1 children, the rule has 2/);
  t.throws(compile('G { a = "x" }', { b: 3 }), /there is an action for "b", but no such rule/);
  const noValue = (rule: string) => ({
    message:
      `the rule "${rule}" of the grammar G (g.ohm) has no value: write its action in ./actions.ts, or the reason why ` +
      "it needs none in withoutValue there",
  });
  t.throws(compile('G { a = "x" "y" }'), noValue("a"));
  t.throws(compile('G { S = A | B  A = "a"  B = "b" name  name = letter+ }', { A: 3 }), noValue("B"));
  t.throws(compile('G { S = A B  A = "a"  B = "b" "c" }', { S: 5, A: 3 }), noValue("B"));
  t.throws(compile("G { S = A*  A = B  B = letter+ digit }", { S: 4 }), noValue("A"));
  const idle = { message: 'withoutValue in ./actions.ts names "B" for no reason: no value of it is wanted' };
  t.throws(compile('G { S = A B  A = "a"  B = "b" "c" }', { S: 3 }, { B: "separates" }), idle);
  t.throws(compile('G { S = A  A = "a" }', { A: 3 }, { B: "separates" }), idle);
  const unused = { message: 'no rule uses the rule "B" of the grammar G (g.ohm)' };
  t.throws(compile('G { S = A  A = "a"  B = "b" C  C = "c" }', { A: 3 }), unused);
  t.doesNotThrow(compile('G { S = A B  A = "a"  B = "b" "c" }', { S: 5, A: 3 }, { B: "separates" }));
  t.doesNotThrow(compile('G { a = "x" a?  }', { a: 3 }));
  t.doesNotThrow(compile('G { S = A | B  A = "a"  B = A }', { A: 3 }));
  t.end();
});
