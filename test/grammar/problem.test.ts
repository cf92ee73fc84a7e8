import t from "tap";
import { applyEdits, LineIndex, type Problem, quote, renderProblem } from "../../grammar/problem.ts";

const problem = (start: number, end: number, more: Partial<Problem> = {}): Problem => ({
  code: "test/code",
  severity: "error",
  message: "something is wrong",
  span: { start, end },
  ...more,
});

interface Row {
  name: string;
  source: string;
  problem: Problem;
  file?: string;
  columns?: number;
  expected: string[];
}

const rows: Row[] = [
  {
    name: "without a file there is no position",
    source: "size > 5kbb",
    problem: problem(8, 11, { hint: "write kb" }),
    expected: ["error: something is wrong [test/code]", "  | size > 5kbb", "  |         ^^^", "  = write kb"],
  },
  {
    name: "with a file, line and column",
    source: '{\n  "name": 1\n}',
    problem: problem(12, 13, { severity: "warning" }),
    file: "tool.json",
    expected: ["tool.json:2:11: warning: something is wrong [test/code]", '  2 |   "name": 1', "    |           ^"],
  },
  {
    name: "a file with a name of several lines",
    source: "{}",
    problem: problem(0, 1),
    file: "a\nb.json:1:1: error:\t\u001b[2J",
    expected: [
      "a\u240ab.json:1:1: error:\u2409\u241b[2J:1:1: error: something is wrong [test/code]",
      "  1 | {}",
      "    | ^",
    ],
  },
  {
    name: "an empty span gets one caret",
    source: "a = ",
    problem: problem(4, 4),
    expected: ["error: something is wrong [test/code]", "  | a =", "  |     ^"],
  },
  {
    name: "a span over lines is marked to the end of the first",
    source: "ab(\ncd\n)",
    problem: problem(2, 8),
    expected: ["error: something is wrong [test/code]", "  | ab(", "  |   ^"],
  },
  {
    name: "tabs and wide characters are measured in cells",
    source: "\t日本 = x",
    problem: problem(6, 7),
    expected: ["error: something is wrong [test/code]", "  |   日本 = x", "  |          ^"],
  },
  {
    name: "terminal escapes in the text are made visible",
    source: "a \u001b[31m b",
    problem: problem(8, 9),
    expected: ["error: something is wrong [test/code]", "  | a ␛[31m b", "  |         ^"],
  },
  {
    name: "a long line is cropped around the span",
    source: `${"a".repeat(100)} HERE ${"b".repeat(100)}`,
    problem: problem(101, 105),
    columns: 40,
    expected: [
      "error: something is wrong [test/code]",
      `  | …${"a".repeat(9)} HERE ${"b".repeat(19)}…`,
      "  |            ^^^^",
    ],
  },
  {
    name: "CRLF line endings",
    source: "a\r\nbc\r\nd",
    problem: problem(4, 5),
    file: "x",
    expected: ["x:2:2: error: something is wrong [test/code]", "  2 | bc", "    |  ^"],
  },
];

for (const row of rows) {
  t.test(row.name, (t) => {
    const { source, file, columns } = row;
    const rendered = renderProblem(row.problem, { source, ...(file && { file }), ...(columns && { columns }) });
    t.equal(rendered, row.expected.join("\n"));
    t.end();
  });
}

t.test("colours wrap and change nothing else", (t) => {
  const source = "a = b";
  const colored = renderProblem(problem(4, 5), { source, color: true });
  t.match(colored, /\u001b\[1;31merror\u001b\[0m/);
  t.equal(colored.replace(/\u001b\[[\d;]*m/g, ""), renderProblem(problem(4, 5), { source }));
  t.end();
});

t.test("positions", (t) => {
  const lines = new LineIndex("a\nbc\r\nd\re");
  t.same(
    [0, 1, 2, 4, 6, 7, 8, 9, 99].map((offset) => lines.position(offset)),
    [
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 2, column: 1 },
      { line: 2, column: 3 },
      { line: 3, column: 1 },
      { line: 3, column: 2 },
      { line: 4, column: 1 },
      { line: 4, column: 2 },
      { line: 4, column: 2 },
    ],
  );
  t.end();
});

t.test("edits apply in any order and refuse to overlap", (t) => {
  const edit = (start: number, end: number, text: string) => ({ span: { start, end }, text });
  t.equal(applyEdits("0123456789", [edit(5, 6, "x"), edit(1, 3, ""), edit(10, 10, "!")]), "034x6789!");
  t.throws(() => applyEdits("0123", [edit(0, 2, ""), edit(1, 3, "")]), /overlap/);
  t.end();
});

t.test("quote makes control characters visible and cuts", (t) => {
  t.equal(quote("a\u0007b"), '"a\u2407b"');
  t.equal(quote("a\tb\nc"), '"a\u2409b\u240ac"', "a message stays on one line");
  t.equal(quote("x".repeat(80)), `"${"x".repeat(57)}..."`);
  t.end();
});

t.test("a line of a megabyte with many problems", (t) => {
  const source = '{"a":'.repeat(200_000);
  const lines = new LineIndex(source);
  for (let i = 0; i < 500; i++) {
    const start = i * 2000 + 1;
    const output = renderProblem(problem(start, start + 3), { source, file: "f", columns: 60, lines }).split("\n");
    t.equal(output[0], `f:1:${start + 1}: error: something is wrong [test/code]`);
    t.match(output[1], /^ {2}1 \| \u2026?.*"a":.*\u2026$/);
    t.equal(output[1]!.slice(output[2]!.indexOf("^")).slice(0, 3), '"a"');
  }
  t.end();
});
