// Stages of queries in the editor, in a tool.json and in a query file: problems and their fixes at their places,
// whatever escapes the text is written with; completion, hover, names of columns, formatting.
import t from "tap";
import type { Diagnostic } from "vscode-languageserver-types";
import { applyEdits, fixesOf } from "../../grammar/problem.ts";
import { parsePipeline } from "../../grammar/query/index.ts";
import { codeActions } from "../../language-server/service/code-actions.ts";
import { complete } from "../../language-server/service/completion/complete.ts";
import { diagnose } from "../../language-server/service/diagnostics.ts";
import type { ToolDocument } from "../../language-server/service/document.ts";
import { documentHighlight } from "../../language-server/service/document-highlight.ts";
import { formatDocument } from "../../language-server/service/formatting.ts";
import { hover } from "../../language-server/service/hover.ts";
import { Refusal } from "../../language-server/service/method.ts";
import { rename } from "../../language-server/service/rename.ts";
import { checkConfig, withQueryFixes } from "../../schema/index.ts";
import { accept, CLIENT, documentOf } from "../support/editor.ts";
import { applyLspEdits } from "../support/editor-fixture.ts";
import vectors from "../vectors/query-pipes.json" with { type: "json" };

/** A configuration around a query. */
const BEFORE = '{ "name": "app", "logs": { "queries": { "q": "';
const AFTER = '" } } }';
const escaped = (text: string) => JSON.stringify(text).slice(1, -1);
const spelled = (text: string) =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

t.test("problems of stages are where they are, and their fixes make valid JSON and the same query", (t) => {
  let fixes = 0;
  for (const { query } of [...vectors.invalid, ...vectors.foreign]) {
    const parsed = parsePipeline(query);
    const problems = parsed.ok ? [] : withQueryFixes(query, parsed.problems);
    for (const write of [escaped, spelled]) {
      const document = documentOf(BEFORE + write(query) + AFTER);
      const ofQuery = diagnosticsOf(document).filter(({ code }) => String(code).startsWith("query/"));
      const places = ofQuery.map(({ range }) => {
        const [start, end] = [document.offsetAt(range.start), document.offsetAt(range.end)];
        return JSON.parse(`"${document.text.slice(start, end)}"`);
      });
      t.strictSame(
        places,
        problems.map(({ span }) => query.slice(span.start, span.end)),
        `${query}, ${write.name}`,
      );
      for (const { edit } of fixesIn(document)) {
        const text = applyLspEdits(document, edit!.changes![document.uri]!);
        const fixed = JSON.parse(text).logs.queries.q;
        const expected = problems.flatMap(fixesOf).map(({ edits }) => applyEdits(query, edits));
        t.ok(expected.includes(fixed), `${query}: ${fixed}`);
        fixes++;
      }
    }
  }
  t.ok(fixes > 150, `${fixes} fixes`);
  t.end();
});

function diagnosticsOf(document: ToolDocument): Diagnostic[] {
  const steps = diagnose(document, {}, { syntax: true });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function fixesIn(document: ToolDocument) {
  const range = { start: document.positionAt(0), end: document.positionAt(document.text.length) };
  const context = { diagnostics: [], only: ["quickfix"] };
  return codeActions({ document, project: {}, range, context, createsFiles: true, runsTool: true }).filter(
    ({ diagnostics }) => diagnostics?.length === 1 && String(diagnostics[0]!.code).startsWith("query/"),
  );
}

t.test("a query of another language with quotes becomes one with stages", (t) => {
  const sql = "select path, count(*) from logs where message = 'say \"hi\"' group by path";
  const document = documentOf(BEFORE + escaped(sql) + AFTER);
  const [fix] = fixesIn(document);
  const text = applyLspEdits(document, fix!.edit!.changes![document.uri]!);
  t.equal(JSON.parse(text).logs.queries.q, 'message = "say \\"hi\\"" | count by path');
  t.strictSame(checkConfig(text).problems, []);
  t.end();
});

/** Where `¦` is, in a query of a tool.json and alone. */
function* placesOf(marked: string): Generator<{ document: ToolDocument; offset: number; query: string }> {
  const at = marked.indexOf("¦");
  const query = marked.replace("¦", "");
  for (const write of [escaped, spelled]) {
    const begin = BEFORE + write(query.slice(0, at));
    yield { document: documentOf(begin + write(query.slice(at)) + AFTER), offset: begin.length, query };
  }
  yield { document: documentOf(query, "query", "slow.logq"), offset: at, query };
}

const queryIn = (document: ToolDocument, text: string) =>
  document.kind === "query" ? text : JSON.parse(text).logs.queries.q;

t.test("completion", (t) => {
  const rows: [marked: string, take: string, gives: string][] = [
    ["error | ¦", "count", "error | count"],
    ['path = "/a" | stats ¦', "avg(", 'path = "/a" | stats avg(duration)'],
    ["| count by path | sort ¦", "count", "| count by path | sort count"],
    ['| count by fields["a b"] | sort ¦', 'fields["a b"]', '| count by fields["a b"] | sort fields["a b"]'],
    [
      "| stats p99(duration) by path | where p9¦",
      "p99(duration)",
      "| stats p99(duration) by path | where p99(duration)",
    ],
    ["| timeseries ¦", "5m", "| timeseries 5m"],
  ];
  for (const [marked, take, gives] of rows) {
    for (const { document, offset } of placesOf(marked)) {
      const item = complete(document, offset, {}, CLIENT).items.find(({ label }) => label === take);
      const text = item && accept(document, item).text;
      t.equal(text && queryIn(document, text), gives, `${marked} in ${document.kind}`);
    }
  }
  t.end();
});

t.test("hover", (t) => {
  const rows: [marked: string, on: string, says: string][] = [
    ['path = "/a" | stats av¦g(duration) as mean by path', "avg", "The mean of the numbers."],
    ["| stats avg(duration) as mean by path | where me¦an > 1s", "mean", "The column mean (number, ms): the mean of"],
    ['path = "/é" | top 5 pa¦th', "path", "The path that the client requested"],
    ["| coun¦t by path", "count", "Then the count for each path."],
  ];
  for (const [marked, on, says] of rows) {
    for (const { document, offset } of placesOf(marked)) {
      const result = hover(document, offset, {}, CLIENT);
      const { start, end } = result!.range!;
      const text = document.text.slice(document.offsetAt(start), document.offsetAt(end));
      t.equal(JSON.parse(`"${text}"`), on, marked);
      t.match((result!.contents as { value: string }).value, says, marked);
    }
  }
  t.end();
});

t.test("names of columns: every place of one, and another name for what as has named", (t) => {
  const rows: [marked: string, name: string, gives: string | RegExp, places: number][] = [
    [
      "| stats avg(duration) as m¦, count() | where m > 5 and not m = 7 | sort m desc | fields m",
      "mean",
      "| stats avg(duration) as mean, count() | where mean > 5 and not mean = 7 | sort mean desc | fields mean",
      5,
    ],
    [
      "| stats max(size) as m by path | stats sum(m¦) as m | sort m",
      "most",
      "| stats max(size) as most by path | stats sum(most) as m | sort m",
      2,
    ],
    [
      "| stats max(size) as m by path | stats sum(m) as m | sort ¦m",
      "all",
      "| stats max(size) as m by path | stats sum(m) as all | sort all",
      2,
    ],
    ['m = "m" | stats max(m) as m¦ | unique m', "n", 'm = "m" | stats max(m) as n | unique n', 2],
    ["| stats count() as n¦ by path | sort path, n", "path", /two columns/, 2],
    ["| stats count() as n¦ | sort n", "a b", /no name of a column/, 2],
    ["| stats count() as n¦ | sort n", "and", /./, 2],
    ["| count by pa¦th | sort path, count", "p", /no name of its own/, 2],
    ["| count by path | sort path, coun¦t", "n", /no name of its own/, 2],
    ["| stats p9(d) | sort p9¦(d)", "n", /no name of its own/, 2],
    ["| where pa¦th = 1", "n", /^$/, 0],
  ];
  for (const [marked, name, gives, places] of rows) {
    for (const { document, offset } of placesOf(marked)) {
      if (places > 0) t.equal(documentHighlight(document, offset).length, places, `${marked}, places`);
      let answer = "";
      try {
        const edits = rename(document, offset, name)?.changes?.[document.uri];
        if (edits !== undefined) answer = queryIn(document, applyLspEdits(document, edits));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        answer = error.message;
      }
      if (typeof gives === "string") t.equal(answer, gives, `${marked} in ${document.kind}`);
      else t.match(answer, gives, `${marked} in ${document.kind}`);
    }
  }
  t.end();
});

t.test("a query file: short ones on one line, longer ones with a stage on each", (t) => {
  const long =
    "status >= 500 and path = /account/*\n| stats avg(duration) as mean by path\n| sort mean desc\n| limit 10\n";
  const rows = [
    ["error|count   by path|limit 5\n", "error | count by path | limit 5\n"],
    [long.replaceAll("\n", " "), long.trim()],
    [long, long],
    [long.replaceAll("\n", "\r\n"), long.replaceAll("\n", "\r\n")],
    ["| count | wrong", "| count | wrong"],
  ] as const;
  for (const [text, formatted] of rows) {
    const document = documentOf(text, "query", "slow.logq");
    const edits = formatDocument(document, { tabSize: 2, insertSpaces: true });
    t.equal(applyLspEdits(document, edits), formatted, JSON.stringify(text));
  }
  t.end();
});
