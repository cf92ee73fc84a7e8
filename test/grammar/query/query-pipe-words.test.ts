// Every stage word with every consumer of stages. A word that is added to the language fails here for each that lacks it.
import { readFileSync } from "node:fs";
import t from "tap";
import type { Pipe } from "../../../grammar/query/ast.ts";
import { complete } from "../../../grammar/query/complete.ts";
import { filterIn, withoutPipes } from "../../../grammar/query/edit.ts";
import { highlightQuery } from "../../../grammar/query/highlight.generated.ts";
import {
  explainPipeAt,
  explainPipes,
  factsOf,
  groupsOf,
  isMergeable,
  isStreaming,
  PipesRun,
  parsePipeline,
  printPipeline,
  resultOf,
} from "../../../grammar/query/index.ts";
import { PIPE_FACTS } from "../../../grammar/query/pipe/pipe-facts.ts";
import { KEYWORD_DOCS, PIPE_DOCS, PIPE_USES, PIPE_WORDS } from "../../../grammar/query/reference.ts";
import { checkAlertQuery } from "../../../logservice/alerts/alert-query.ts";
import { groupPlan } from "../../../logservice/events/duckdb/query/pipeline/plan.ts";
import { drawingOf } from "../../../logservice/ui/charts/drawing.ts";
import { meaningOf, pipeExample } from "../../../logservice/ui/help/examples.ts";
import { parsed } from "../../support/pipe-oracle.ts";

type Word = Pipe["kind"];

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

/** The properties of each stage for consumers outside of the grammar. */
const WANTED = {
  count: { sql: "groups", drawing: "bars", alert: "" },
  stats: { sql: "groups", drawing: "table", alert: "must give one number" },
  timeseries: { sql: "groups", drawing: "lines", alert: "must have no timeseries" },
  top: { sql: "groups", drawing: "bars", alert: "" },
  where: { sql: "none: it is a term of the query, or of rows", drawing: "table", alert: "" },
  sort: { sql: "none: the greatest events are asked for", drawing: "table", alert: "must have a stage that gives" },
  limit: {
    sql: "none: the first events are read in their order",
    drawing: "table",
    alert: "must have a stage that gives",
  },
  fields: { sql: "none: events are read in their order", drawing: "table", alert: "must have a stage that gives" },
  unique: { sql: "groups", drawing: "table", alert: "must have a stage that gives" },
} as const satisfies Record<Word, { readonly sql: string; readonly drawing: string; readonly alert: string }>;

const START = Date.parse("2026-05-01T12:00:00Z");
const RANGE = { startMs: START, stopMs: START + 60_000 };
const EVENT = { timestamp: "2026-05-01T12:00:01Z", level: "info", message: "m", fields: { path: "/a", count: 1 } };

const ofFile = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map((match) => match[1]);

t.test("every list of stages has the words of the grammar", (t) => {
  const words = [...PIPE_WORDS].sort();
  const grammar = read("grammar/query/query.ohm");
  const rules = /^ {2}Pipe = (.*)$/m.exec(grammar)![1]!.split(" | ");
  t.same(rules.map((rule) => rule.toLowerCase()).sort(), words, "the rule Pipe of query.ohm");
  for (const word of words) t.match(grammar, `${word}Word (${word}) = "${word}" ~nameRest`, `query.ohm: ${word}Word`);
  t.same(Object.keys(PIPE_USES).sort(), words, "PIPE_USES of pipe-words.ts");
  t.same(Object.keys(PIPE_DOCS).sort(), words, "PIPE_DOCS of pipe-words.ts");
  t.same(Object.keys(PIPE_FACTS).sort(), words, "PIPE_FACTS of pipe-facts.ts");
  t.same(ofFile("cli/logs/STAGES.md", /^\| `(\w+)` \| `\\\| \1\b/gm).sort(), words, "the table of cli/logs/STAGES.md");
  t.end();
});

for (const word of PIPE_WORDS) {
  t.test(`| ${PIPE_USES[word]}`, (t) => {
    const source = `| ${PIPE_USES[word]}`;
    const pipeline = parsed(source);
    const [pipe] = pipeline.pipes;
    t.equal(pipe?.kind, word, "it is read as a stage of its kind");

    const canonical = printPipeline(pipeline);
    t.equal(canonical, source, "its example is its canonical text");

    const begin = `| ${word.slice(0, 2)}`;
    const offered = complete(begin, begin.length).items.find(({ label }) => label === word);
    t.match(offered, { detail: `such as ${PIPE_USES[word]}`, documentation: PIPE_DOCS[word] }, "completion offers it");

    const hover = explainPipeAt(pipeline, pipe!.word.start);
    t.equal(hover?.text, `${explainPipes([pipe!])[0]} ${PIPE_DOCS[word]}`, "hover explains it");

    const coloured = highlightQuery(source).filter(({ start, end }) => source.slice(start, end) === word);
    t.equal(coloured[0]?.type, "keyword", "highlight colours its word: grammar/query/highlight.ts");
    const after = highlightQuery(source).filter(({ type, start }) => type === "invalid" && start > pipe!.word.end);
    t.same(after, [], "highlight colours what follows it");

    const page = read("logservice/ui/help/language.tsx");
    t.match(page, /PIPE_WORDS\.map/, "the page of the language lists all words");
    t.equal(parsePipeline(pipeExample(word)).ok, true, `its example on the page of the language: ${pipeExample(word)}`);
    t.type(meaningOf(pipeExample(word)), "string", "its example there has a meaning");

    t.equal(filterIn(source, "path", "/a"), `path = "/a" ${source}`, "pressing a value keeps it");
    t.equal(withoutPipes(`error ${source}`), "error", "it can be left out");

    const plan = groupPlan(pipeline.pipes, RANGE);
    const { sql, drawing, alert } = WANTED[word];
    t.equal(plan !== undefined, sql === "groups", `SQL: ${sql}`);

    const [problem = ""] = checkAlertQuery(source);
    t.match(problem, alert, "as the query of an alert");
    if (alert === "") t.equal(problem, "", "as the query of an alert it is right");

    const { gives, collects } = factsOf(pipe!);
    const output = resultOf(pipeline.pipes);
    t.equal(output.kind, gives === "input" ? "events" : "rows", "it gives what its facts say");
    t.equal(
      groupsOf(pipe!) !== undefined,
      gives === "groups" || gives === "steps",
      "it has groups if its facts say so",
    );
    t.equal(isMergeable(pipeline), gives === "groups" || gives === "steps", "parts of an input can be merged");
    t.equal(isStreaming(pipeline), !collects && gives !== "input", "rows come as entries do");
    const run = new PipesRun(pipeline, { nowMs: START, range: { fromMs: START, toMs: RANGE.stopMs } });
    run.push(EVENT);
    const result = run.result();
    t.equal(result.kind, gives === "input" ? "entries" : "table", "entries pass through it");
    if (result.kind === "table") {
      const { columns, rows } = result;
      const drawn = drawingOf({ columns, rows, notes: {} } as unknown as Parameters<typeof drawingOf>[0]);
      t.equal(drawn, drawing, "the web UI draws it");
    } else t.equal(drawing, "table", "events are listed as a table");
    t.end();
  });
}

t.test("no stage word is one of another language", (t) => {
  for (const word of PIPE_WORDS) {
    const parsed = parsePipeline(`| ${word.toUpperCase()} x`);
    t.match(!parsed.ok && parsed.problems[0]?.hint, /stage words are in lower case/, word);
  }
  const foreign = ofFile("grammar/query/pipe/diagnose.ts", /^ {2}(\w+): (?:to\(|\{)/gm);
  t.ok(foreign.length > 10, "the words of other languages are read");
  t.same(
    foreign.filter((word) => PIPE_WORDS.some((own) => own === word)),
    [],
  );
  t.end();
});

t.test("no stage word is another word of stages", (t) => {
  for (const word of PIPE_WORDS) t.notOk(Object.hasOwn(KEYWORD_DOCS, word), word);
  t.end();
});
