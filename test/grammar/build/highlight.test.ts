// How queries, routes and templates are coloured: against the spans that Ohm finds, by our tokenizer and by the engine of
// VS Code, on right and on broken text.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Grammar, Node } from "ohm-js";
import * as ohm from "ohm-js";
import t from "tap";
import type { Highlighting } from "../../../grammar/build/highlight.ts";
import { createMachine } from "../../../grammar/build/highlight-machine.ts";
import { forJavaScript } from "../../../grammar/build/highlight-regex.ts";
import { textMateGrammar } from "../../../grammar/build/highlight-textmate.ts";
import { asciiOnly, type HighlightToken, type TokenType } from "../../../grammar/highlight.ts";
import { highlightQuery } from "../../../grammar/query/highlight.generated.ts";
import { highlighting as queryHighlighting } from "../../../grammar/query/highlight.ts";
import { parseQuery, printQuery } from "../../../grammar/query/index.ts";
import { loadGrammar as loadQuery } from "../../../grammar/query/query.generated.ts";
import { highlightLocation, highlightRoute } from "../../../grammar/route/highlight.generated.ts";
import { highlighting as routeHighlighting } from "../../../grammar/route/highlight.ts";
import { loadGrammar as loadRoute } from "../../../grammar/route/route.generated.ts";
import { highlightTemplate } from "../../../grammar/template/highlight.generated.ts";
import { highlighting as templateHighlighting } from "../../../grammar/template/highlight.ts";
import { scan } from "../../../grammar/template/scan.ts";
import { loadGrammar as loadTemplate } from "../../../grammar/template/template.generated.ts";
import { root } from "../../support/cli.ts";
import { random, subjects, textsNear } from "../../support/parser-fuzz.ts";
import { queries, queryText } from "../../support/query-arbitrary.ts";
import { runsOf } from "../../support/runs.ts";
import { slow } from "../../support/slow.ts";
import { painted, type ScopedToken, textMate, typesOf } from "../../support/textmate.ts";
import { recorderOf } from "../../support/vectors.ts";
import vectors from "../../vectors/highlight.json" with { type: "json" };
import queryVectors from "../../vectors/query.json" with { type: "json" };

/** As little of HTML as shows where actions are: text, tags with quoted attributes, comments. */
const HTML = {
  scopeName: "text.html.basic",
  patterns: [
    { begin: "<!--", end: "-->", name: "comment.block.html" },
    {
      begin: "</?([a-zA-Z]+)",
      end: "/?>",
      name: "meta.tag.html",
      patterns: [
        { begin: '"', end: '"', name: "string.quoted.double.html" },
        { match: "[a-zA-Z-]+", name: "entity.other.attribute-name.html" },
      ],
    },
  ],
};

interface Language {
  readonly highlight: (source: string) => HighlightToken[];
  readonly table: Highlighting;
  readonly scoped: (source: string) => ScopedToken[];
}

const routeScopes = "source.toolroute";
const languages: Record<string, Language> = {
  query: { highlight: highlightQuery, table: queryHighlighting, scoped: await textMate("source.toolquery") },
  route: { highlight: highlightRoute, table: routeHighlighting, scoped: await textMate(routeScopes) },
  location: {
    highlight: highlightLocation,
    table: routeHighlighting,
    // As another grammar embeds it.
    scoped: await textMate("source.embedding", {
      "source.embedding": { scopeName: "source.embedding", patterns: [{ include: `${routeScopes}#location` }] },
    }),
  },
  template: {
    highlight: highlightTemplate,
    table: templateHighlighting,
    scoped: await textMate("text.html.tooltemplate", { "text.html.basic": HTML }),
  },
};

/** The differences between our tokens and the engine's, character by character; blanks and a template's page aside. */
function differences({ highlight, table, scoped }: Language, source: string): string[] {
  const ours = painted(source.length, highlight(source));
  const types = typesOf(table);
  return scoped(source).flatMap((token) => {
    const theirs = types(token);
    for (let at = token.start; at < token.end; at++) {
      const type = ours[at] === "text" ? undefined : ours[at];
      if (type === undefined ? theirs.length > 0 && /\S/.test(source[at]!) : !theirs.includes(type)) {
        return [`${JSON.stringify(source)} at ${at}: ${type}, but ${token.scopes.join(" ")}`];
      }
    }
    return [];
  });
}

/** The flaws in the tokens of any text: order, overlap, gaps. */
function flaws(source: string, tokens: readonly HighlightToken[]): string[] {
  let at = 0;
  const problems: string[] = [];
  for (const { start, end } of tokens) {
    if (start < at || end <= start)
      problems.push(`${JSON.stringify(source)}: a token from ${start} to ${end} after ${at}`);
    if (/[^ \t\r\n]/.test(source.slice(at, start))) problems.push(`${JSON.stringify(source)}: nothing at ${at}`);
    at = end;
  }
  if (/[^ \t\r\n]/.test(source.slice(at))) problems.push(`${JSON.stringify(source)}: nothing at ${at}`);
  return problems;
}

t.test("rows: what each piece is", (t) => {
  const record = recorderOf("highlight.json", vectors);
  for (const row of vectors.rows) {
    const { language, source } = row;
    const actual = languages[language]!.highlight(source);
    const tokenTexts = actual.map(({ type, start, end }) => `${type} ${source.slice(start, end)}`);
    record(row, { tokens: tokenTexts });
    const { tokens } = row;
    t.same(tokenTexts, tokens, `${language} ${JSON.stringify(source)}`);
    t.same(
      differences(languages[language]!, source),
      [],
      `${JSON.stringify(source)}, the same by the engine of VS Code`,
    );
  }
  t.end();
});

/** The types that a rule of the grammar, or a terminal by itself, may have. */
type Leaves = Readonly<Record<string, readonly TokenType[]>>;

const QUERY_LEAVES: Leaves = {
  orWord: ["keyword"],
  andWord: ["keyword"],
  notWord: ["keyword"],
  inWord: ["keyword"],
  containsWord: ["keyword"],
  existsWord: ["keyword"],
  comparisonOp: ["operator"],
  levelTerm: ["constant"],
  stageTerm: ["constant"],
  name: ["property"],
  segment_name: ["property", "punctuation"],
  segment_index: ["number", "punctuation"],
  segment_key: ["property", "punctuation", "escape"],
  string: ["string", "escape", "operator"],
  number: ["number", "keyword"],
  boolean: ["constant"],
  null: ["constant"],
  word: ["string", "operator"],
  regex: ["regexp", "escape", "operator", "constant", "keyword"],
  "||": ["operator"],
  "&&": ["operator"],
  "!": ["operator"],
  "~": ["operator"],
  "(": ["punctuation"],
  ")": ["punctuation"],
  ",": ["punctuation"],
};

const PIPELINE_LEAVES: Leaves = {
  ...QUERY_LEAVES,
  ...Object.fromEntries(
    ["count", "stats", "timeseries", "top", "where", "sort", "limit", "fields", "unique", "by", "as"].map((word) => [
      `${word}Word`,
      ["keyword"],
    ]),
  ),
  direction: ["keyword"],
  // Where it names a column it looks like one.
  callName: ["function", "property"],
  rowCount: ["number"],
};

const ROUTE_LEAVES: Leaves = {
  param: ["parameter"],
  wildcards: ["operator"],
  escape: ["escape"],
  percentByte: ["escape"],
  ...Object.fromEntries(
    ["regexGroup", "foreign", "dollar", "nameless", "badEscape", "badPercent", "unencoded", "outsidePath"].map(
      (rule) => [rule, ["invalid"]],
    ),
  ),
  plain: ["string"],
};

const LOCATION_LEAVES: Leaves = {
  ...ROUTE_LEAVES,
  wildcards: ["invalid"],
  origin: ["keyword"],
  scheme: ["invalid"],
  query: ["punctuation"],
};

const TEMPLATE_LEAVES: Leaves = {
  open: ["punctuation"],
  closing: ["punctuation"],
  keyword: ["keyword"],
  field: ["property", "punctuation"],
  root: ["variable"],
  dot: ["variable"],
  $: ["variable"],
  constant: ["constant"],
  name: ["function"],
  number: ["number"],
  string: ["string", "escape"],
  "(": ["punctuation"],
  ")": ["punctuation"],
};

interface Leaf {
  readonly rule: string;
  readonly start: number;
  readonly end: number;
}

/** The leaves that Ohm finds in a text of the grammar. */
function leavesOf(grammar: Grammar, start: string, leaves: Leaves): (source: string) => Leaf[] {
  const collectLeaves = function (this: Node, ...children: Node[]): Leaf[] {
    const { startIdx, endIdx } = this.source;
    const rule = this.isTerminal() ? this.sourceString : this.ctorName;
    if (!Object.hasOwn(leaves, rule) || startIdx === endIdx) return children.flatMap((child) => child.collectLeaves());
    // The white space before "}}" is part of its rule.
    return [{ rule, start: startIdx + (rule === "closing" ? this.sourceString.search(/\S/) : 0), end: endIdx }];
  };
  const semantics = grammar.createSemantics().addOperation<Leaf[]>("collectLeaves", {
    _terminal: collectLeaves,
    _iter: (...children) => children.flatMap((child) => child.collectLeaves()),
    _nonterminal: collectLeaves,
  });
  return (source) => {
    const match = grammar.match(source, start);
    const result: Leaf[] = [];
    for (const leaf of match.failed() ? [] : (semantics(match).collectLeaves() as Leaf[])) {
      const last = result.at(-1);
      // Each character of a route's text is a leaf.
      if (leaf.rule === "plain" && last?.rule === "plain") result[result.length - 1] = { ...last, end: leaf.end };
      else result.push(leaf);
    }
    return result;
  };
}

/** Which leaves do not have their types at exactly their place, where `tokens` have one of several types. */
function misplaced(
  source: string,
  actual: readonly Leaf[],
  leaves: Leaves,
  tokens: readonly { readonly start: number; readonly end: number; readonly types: readonly TokenType[] }[],
): string[] {
  const starts = new Set(tokens.map(({ start }) => start));
  const ends = new Set(tokens.map(({ end }) => end));
  return actual.flatMap(({ rule, start, end }) => {
    const within = tokens.filter((token) => token.start < end && token.end > start);
    const isWhole = starts.has(start) && ends.has(end);
    const isTyped = within.every(({ types }) => types.some((type) => leaves[rule]!.includes(type)));
    if (isWhole && isTyped) return [];
    return [`${JSON.stringify(source)}: ${rule} ${start}-${end} is ${JSON.stringify(within)}`];
  });
}

/** Our tokens and those of the engine, held to Ohm's leaves. */
function checker(language: Language, leaves: Leaves, leavesIn: (source: string) => Leaf[]) {
  const types = typesOf(language.table);
  let count = 0;
  const check = (source: string): string[] => {
    const actual = leavesIn(source);
    count += actual.length;
    const ours = language.highlight(source).map((token) => ({ ...token, types: [token.type] }));
    const theirs = language.scoped(source).map((token) => ({ ...token, types: types(token) }));
    return [
      ...misplaced(source, actual, leaves, ours),
      ...misplaced(source, actual, leaves, theirs).map((it) => `by the engine of VS Code, ${it}`),
      ...flaws(source, ours),
    ];
  };
  return { check, count: () => count };
}

t.test("queries: each leaf that Ohm finds has its colour at its place", slow(), (t) => {
  const { check, count } = checker(languages.query!, QUERY_LEAVES, leavesOf(loadQuery(), "Query", QUERY_LEAVES));
  for (const { query } of queryVectors.valid as { query?: string }[]) {
    // An editor's engine sees one line: it cannot know that the operator comes on the next one.
    if (query !== undefined && !/^(error|alert)\n/.test(query)) t.same(check(query), [], JSON.stringify(query));
  }
  const problems = fc.sample(queries, { seed: 7, numRuns: runsOf(100) }).flatMap((query) => {
    const text = printQuery(query);
    return parseQuery(text).ok ? check(text) : [];
  });
  t.same(problems, [], "generated queries");
  t.ok(count() > 2500, `${count()} leaves`);
  t.end();
});

t.test("pipelines: each leaf that Ohm finds has its colour at its place", slow(), (t) => {
  const leavesIn = leavesOf(loadQuery(), "Pipeline", PIPELINE_LEAVES);
  const { check, count } = checker(languages.query!, PIPELINE_LEAVES, leavesIn);
  const { seeds, texts } = subjects().at(-1)!;
  const near = texts!(seeds, random(4));
  // The engine reads lines, and no halves of surrogate pairs; and the word of a stage is on the line of its bar.
  const all = [...seeds, ...Array.from({ length: runsOf(800) }, () => near.next().value)].filter(
    (text) => !/\n/.test(text) && isWellFormed(text),
  );
  t.same(all.flatMap(check), []);
  t.ok(count() > 3000, `${count()} leaves`);
  t.end();
});

t.test("pipelines: words are keywords in their places only", (t) => {
  for (const source of subjects().at(-1)!.seeds) t.same(differences(languages.query!, source), [], source);
  t.end();
});

const [, routes, locations, templates] = subjects().map(({ seeds }) => seeds);

t.test("routes and locations: each leaf that Ohm finds has its colour at its place", slow(), (t) => {
  for (const [language, leaves, seeds] of [
    ["route", ROUTE_LEAVES, routes!],
    ["location", LOCATION_LEAVES, locations!],
  ] as const) {
    const { check, count } = checker(languages[language]!, leaves, leavesOf(loadRoute(), language, leaves));
    const near = textsNear(seeds, random(3));
    const texts = [...seeds, ...Array.from({ length: runsOf(150) }, () => near.next().value)];
    // The engine reads lines, and no halves of surrogate pairs.
    const problems = texts.filter((text) => !/\n/.test(text) && isWellFormed(text)).flatMap(check);
    t.same(problems, [], `${language}: ${texts.length} texts`);
    t.ok(count() > 3000, `${count()} leaves`);
  }
  t.end();
});

t.test("templates: each leaf that Ohm finds in an action has its colour at its place", (t) => {
  const inAction = leavesOf(loadTemplate(), "part", TEMPLATE_LEAVES);
  const leavesIn = (source: string) =>
    [...scan(source, 64)].flatMap(({ kind, span }) => {
      const text = source.slice(span.start, span.end);
      // Text that is no action has other rules; rows show it.
      if (kind !== "action" || loadTemplate().match(text, "action").failed()) return [];
      return inAction(text).map((leaf) => ({
        ...leaf,
        start: leaf.start + span.start,
        end: leaf.end + span.start,
      }));
    });
  const { check, count } = checker(languages.template!, TEMPLATE_LEAVES, leavesIn);
  const problems = templates!.flatMap((text) => [
    ...check(text),
    ...check(`<!doctype html><p class="a ${text}" id=x>${text}</p><!-- ${text} -->`),
  ]);
  t.same(problems, []);
  t.ok(count() > 1000, `${count()} leaves`);
  t.end();
});

// From both planes and with halves of pairs; none so new that the engines' tables of Unicode could differ about it.
const character = fc.constantFrom(
  ...[
    "a",
    "b",
    "z",
    "0",
    "5",
    "_",
    " ",
    " ",
    "\t",
    "\n",
    "\r",
    "\u00a0",
    "\u0000",
    "é",
    "日",
    "\u0301",
    "𝒳",
    "😀",
    "\ud83d",
  ],
  ...['"', "'", "`", "“", "”", "/", "\\", "(", ")", "[", "]", "{", "}", "{{", "}}", "<", ">", "=", "!", "~", "&", "|"],
  ...[".", ",", ":", ";", "*", "+", "?", "%", "$", "#", "@", "-", "^", "and", "in", "error", "~/", "/*", "*/"],
);

t.test("any text: tokens in order that cover all but blanks, the same by the engine of VS Code", (t) => {
  const near = Object.fromEntries(
    Object.keys(languages).map((name, index) => [name, textsNear(subjects()[index]!.seeds, random(5))]),
  );
  for (const [name, language] of Object.entries(languages)) {
    const texts = [
      ...fc.sample(fc.string({ unit: character, maxLength: 40 }), { seed: 11, numRuns: 200 }),
      ...(name === "query" ? fc.sample(queryText, { seed: 11, numRuns: 400 }) : []),
      ...Array.from({ length: 400 }, () => near[name]!.next().value),
    ];
    const problems = texts.flatMap((source) => [
      ...flaws(source, language.highlight(source)),
      // The engine reads lines, and no halves of surrogate pairs.
      ...(isWellFormed(source) && !/[\r\n]/.test(source) ? differences(language, source) : []),
    ]);
    t.same(problems, [], `${name}: ${texts.length} texts`);
  }
  t.end();
});

t.test("a mistake does not change what follows on the line", (t) => {
  for (const { language, broken, rest } of vectors.rest) {
    const { highlight, scoped, table } = languages[language]!;
    const source = `${broken}${rest}`;
    const after = painted(source.length, highlight(source)).slice(broken.length);
    t.same(after, painted(rest.length, highlight(rest)), JSON.stringify(source));
    t.same(
      differences({ highlight, scoped, table }, source),
      [],
      `${JSON.stringify(source)}, by the engine of VS Code`,
    );
  }
  t.end();
});

t.test("hostile lines of 16 KiB are tokenized at once, or at least in linear time", slow(), (t) => {
  for (const { language, unit, before = "" } of vectors.hostile as Hostile[]) {
    const line = (length: number) => `${before}${unit.repeat(Math.ceil(length / unit.length))}`;
    for (const run of [languages[language]!.highlight, languages[language]!.scoped]) {
      const by = run === languages[language]!.scoped ? "the engine of VS Code" : "our tokenizer";
      const best = (text: string) => Math.min(...[0, 1, 2].map(() => usedMs(() => run(text))));
      const took = best(line(16 * 1024));
      // On a busy machine the growth still tells: four times the text, sixteen times the work if it is quadratic.
      const isFine = took < 200 || took < 9 * best(line(4 * 1024));
      t.ok(isFine, `${language} ${JSON.stringify(unit)} by ${by}: ${took.toFixed(0)} ms`);
    }
  }
  t.end();
});

interface Hostile {
  readonly language: string;
  readonly unit: string;
  readonly before?: string;
}

/** Processor time, which others on a busy machine do not use up. */
function usedMs(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** The machine that the build makes of a grammar and its colours. */
const machineOf = (path: string, highlighting: Highlighting) =>
  createMachine(ohm.grammar(readFileSync(join(root, "grammar", path), "utf8")), highlighting, ohm.grammar);

t.test("texts of ASCII are read by narrower expressions that find the same", (t) => {
  const machines = [
    machineOf("query/query.ohm", queryHighlighting),
    machineOf("route/route.ohm", routeHighlighting),
    machineOf("template/template.ohm", templateHighlighting),
  ];
  const ascii = fc.string({ unit: "binary-ascii", maxLength: 12 });
  for (const { highlighting, contexts } of machines) {
    const leaves = [...contexts.values()].flatMap(({ leaves }) => leaves);
    const regexes = [...new Set(leaves.map(({ pattern }) => forJavaScript(pattern).source))];
    const texts = [
      ...fc.sample(ascii, { seed: 13, numRuns: 400 }),
      ...fc.sample(queryText, { seed: 13, numRuns: 200 }),
    ].filter((text) => /^[\0-\x7f]*$/.test(text));
    const problems = regexes.flatMap((regex) => {
      const narrow = asciiOnly(regex);
      // Outside a class a property would be one letter of many, and a range three characters.
      const isOutside = /\\p|\\u\{[0-9a-f]{3,}\}/.test(regex.replace(/\\\\|\[(?:\\.|[^\]\\])*\]/g, ""));
      const [whole, ascii] = [new RegExp(regex, "uy"), new RegExp(narrow, "uy")];
      const differing = texts.filter((text) => whole.exec(text)?.[0] !== ascii.exec(text)?.[0]);
      return isOutside || /\\p/.test(narrow) ? [regex] : differing;
    });
    t.same(problems, [], `${highlighting.name}: ${regexes.length} expressions, ${texts.length} texts`);
  }
  t.equal(asciiOnly("[\\u{20}-\\u{10ffff}\\p{Ll}x\\u{3b1}]"), "[\\u{20}-\\u{7f}a-zx]", "a range that passes ASCII");
  t.end();
});

t.test("what the build refuses", (t) => {
  const build = (rules: string, leaf: object, contexts: object = {}) => {
    const grammar = ohm.grammar('G { word = letter+  Sum = word "+" word  nested = "(" nested? ")"  line = any }');
    const highlighting = {
      name: "g",
      scopeName: "source.g",
      fileTypes: [],
      rules,
      starts: ["g"],
      contexts: { g: { leaves: [{ type: "keyword", scope: "keyword", ...leaf }] }, ...contexts },
    } as unknown as Highlighting;
    return () => textMateGrammar(createMachine(grammar, highlighting, ohm.grammar), "g.ohm");
  };
  const close = { leaves: [{ rule: "close", type: "keyword", leave: true }], textType: "text" };
  t.doesNotThrow(build("", { rule: "word" }));
  t.doesNotThrow(build('open = "(" close = ")"', { rule: "open", enter: "in" }, { in: close }));
  t.throws(build("", { rule: "wort" }), /"wort" has no regular expression: there is no rule "wort"/);
  t.throws(build("", { rule: "Sum" }), /"Sum" has no regular expression: "Sum" skips spaces/);
  t.throws(build("", { rule: "nested" }), /"nested" has no regular expression: it is recursive \(nested -> nested\)/);
  t.throws(build("last = word end", { rule: "last" }), /"last" has no regular expression: end is not supported/);
  t.throws(build("", { rule: "line" }), /"line" in "g" can match a line end: enter a context/);
  t.throws(build("none = letter*", { rule: "none" }), /"none" in "g" can match no text/);
  t.throws(
    build("many = word+", { rule: "many", parts: { word: {} } }),
    /a group in a repetition captures only its last/,
  );
  t.throws(build("", { rule: "word", enter: "in" }), /"word" in "g" enters "in", which is none/);
  t.throws(build('close = ")"', { rule: "word" }, { in: close }), /g: nothing enters "in"/);
  t.throws(build("", { rule: "word", enter: "in" }, { in: { leaves: [], textType: "text" } }), /nothing leaves "in"/);
  const exchange = { leaves: [{ rule: "word", type: "keyword", enter: "last", leave: true }] };
  const last = { leaves: [{ rule: "word", type: "keyword", leave: true }] };
  t.throws(build("", { rule: "word", enter: "in" }, { in: exchange, last }), /one text must leave "last"/);
  t.end();
});

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
