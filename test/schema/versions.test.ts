// The answers about a text do not depend on the versions before it: parses, meanings and findings are kept from one to
// the next, and whatever is kept invites a difference. FUZZ_FACTOR multiplies the runs (TAP_TIMEOUT=600 with it).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { TextDocument } from "vscode-languageserver-textdocument";
import { quote } from "../../grammar/problem.ts";
import {
  compileRoutes,
  type Location,
  parseLocation,
  parseRoute,
  type Route,
  substitute,
} from "../../grammar/route/index.ts";
import { diagnose, type Project, ToolDocument } from "../../language-server/service/index.ts";
import { LinePositions } from "../../language-server/service/lines.ts";
import { methods } from "../../language-server/service/methods.ts";
import { Beginnings } from "../../schema/checks/beginnings.ts";
import { checkConfig } from "../../schema/index.ts";
import { configText } from "../bench/editor/config-text.ts";
import { root } from "../support/cli.ts";
import { CLIENT, projectOf } from "../support/editor.ts";
import { holds } from "../support/property.ts";
import { runsOf } from "../support/runs.ts";
import { slow } from "../support/slow.ts";

const URI = "file:///work/orders-api/tool.json";
const project = projectOf({ "server.js": "", public: null });

const read = (name: string) => JSON.parse(readFileSync(join(root, "test/vectors", name), "utf8"));
const vectors: { text: string[] }[] = [
  ...read("config.json").check,
  ...Object.values(read("editor-features.json")).flat(),
  ...read("editor-completion.json"),
];
const texts = [
  readFileSync(join(root, "test/fixtures/whole.tool.json"), "utf8"),
  configText(4_000),
  ...vectors.map(({ text }) => text.join("\n").replaceAll("|", "")),
];

/** An edit of any size, at a place in thousandths of the text. */
type Edit =
  | { readonly kind: "write"; readonly at: number; readonly length: number; readonly text: string }
  | {
      readonly kind: "paste";
      readonly at: number;
      readonly length: number;
      readonly from: number;
      readonly size: number;
    }
  | { readonly kind: "move"; readonly at: number; readonly lines: number; readonly to: number }
  | { readonly kind: "rename"; readonly at: number; readonly text: string }
  | { readonly kind: "undo" };

const place = fc.nat(1000);
const PIECES = ['"', "{", "}", "[", "]", ",", ":", "\n", "\r\n", " ", "a", "1", "/:id", "/*", "*", "\\", "\\u00e9"];
const MORE = [
  "\ud83d\ude00",
  "'",
  "// x\n",
  "lambda",
  '"enable": true, ',
  '"/a/:b": { "location": "/a/:b" }, ',
  "null",
];
const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      at: place,
      length: fc.nat(4),
      text: fc.constantFrom("", ...PIECES, ...MORE),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("paste" as const),
      at: place,
      length: fc.nat(300),
      from: fc.nat(texts.length - 1),
      size: fc.nat(400),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("move" as const),
      at: place,
      lines: fc.integer({ min: 1, max: 8 }),
      to: place,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("rename" as const),
      at: place,
      text: fc.constantFrom("x", "name", "location", "splat"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("undo" as const) }) },
);

function apply(text: string, edit: Edit, before: string): string {
  const offset = (thousandths: number) => Math.floor((text.length * thousandths) / 1000);
  switch (edit.kind) {
    case "write":
      return text.slice(0, offset(edit.at)) + edit.text + text.slice(offset(edit.at) + edit.length);
    case "paste": {
      const other = texts[edit.from]!;
      const begin = Math.floor((other.length * edit.at) / 1000);
      const rest = text.slice(offset(edit.at) + edit.length);
      return text.slice(0, offset(edit.at)) + other.slice(begin, begin + edit.size) + rest;
    }
    case "move": {
      const lines = text.split("\n");
      const moved = lines.splice(Math.floor((lines.length * edit.at) / 1001), edit.lines);
      lines.splice(Math.floor((lines.length * edit.to) / 1000), 0, ...moved);
      return lines.join("\n");
    }
    case "rename": {
      // Everywhere at once, as an editor's own replacement does: many strings are new.
      const word = /[a-z]{3,}/i.exec(text.slice(offset(edit.at)))?.[0];
      return word === undefined ? text : text.replaceAll(word, edit.text);
    }
    case "undo":
      return before;
  }
}

const drain = <T>(steps: Generator<undefined, T>): T => {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
};

/** Whoever puts something right in the tree that all share does so in a copy. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

/** Requests whose answers are made of what was kept. */
const requests = ["semanticTokens/full", "documentLink", "documentSymbol", "foldingRange"].map(
  (name) => methods().find(({ method }) => method === `textDocument/${name}`)!,
);

function answers(document: ToolDocument): string {
  return JSON.stringify([
    drain(diagnose(document, project, { syntax: true })),
    ...requests.map(({ answer }) => ({
      ...(answer({ document, project, client: CLIENT, params: {} }) as object),
      resultId: "",
    })),
  ]);
}

function versionOf(version: number, text: string, before?: ToolDocument): ToolDocument {
  return new ToolDocument({ uri: URI, version, text, kind: "config" }, before?.memory);
}

function sameAsFresh(start: string, edits: readonly (readonly [Edit, number])[]): void {
  let document = versionOf(1, start);
  drain(diagnose(document, project, { syntax: true }));
  let before = start;
  for (const [i, [edit, steps]] of edits.entries()) {
    const text = apply(document.text, edit, before);
    before = document.text;
    document = versionOf(i + 2, text, document);
    freeze(document.parsed);
    // Some checks are given up on the way.
    const diagnosis = diagnose(document, project, { syntax: true });
    for (let step = 0; step < steps && !diagnosis.next().done; step++);
    if (steps > 0 && i < edits.length - 1) continue;
    const fresh = versionOf(i + 2, text);
    if (answers(document) !== answers(fresh)) throw new Error(`differs after edit ${i}`);
    sameAsCommand(document, project);
  }
}

/** The editor says what `tool validate` says, at the same places. */
function sameAsCommand(document: ToolDocument, { directory }: Project): void {
  const editorProblems = drain(diagnose(document, project, { syntax: true })).map(({ code, range, message }) =>
    JSON.stringify([code, document.offsetAt(range.start), document.offsetAt(range.end), message]),
  );
  // Places are compared as editors have them: within a CRLF there is none.
  const at = (offset: number) => document.offsetAt(document.positionAt(offset));
  const said = checkConfig(document.text, { directory: directory!, triesFixes: false }).problems.map(
    ({ code, span, message, hint }) =>
      JSON.stringify([code, at(span.start), at(span.end), hint === undefined ? message : `${message}\n${hint}`]),
  );
  if (editorProblems.join("\n") !== said.join("\n"))
    throw new Error(`the command says ${said}, the editor ${editorProblems}`);
}

const session = fc.array(fc.tuple(edit, fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(12))), {
  minLength: 1,
  maxLength: 30,
});

t.test("after any edits a text says what it says when it is opened fresh, and what the command says", slow(), (t) => {
  const property = fc.property(fc.constantFrom(...texts), session, sameAsFresh);
  holds(t, property, { seed: 21, numRuns: runsOf(80) });
  // The two that have every section, and the most to keep.
  const long = fc.property(fc.constantFrom(...texts.slice(0, 2)), session, sameAsFresh);
  holds(t, long, { seed: 22, numRuns: runsOf(40) });
  t.end();
});

t.test("one change after another", (t) => {
  const redirect = (pattern: string, location: string, status: number) =>
    JSON.stringify({
      name: "app",
      redirects: { [pattern]: { location, status }, "/b/:x": { location: "/a", status } },
    });
  const rows = [
    ["a rewrite becomes a redirect", redirect("/a", "/b/c", 200), redirect("/a", "/b/c", 301)],
    ["a redirect becomes a rewrite", redirect("/a", "/b/c", 301), redirect("/a", "/b/c", 200)],
    ["a location leads back", redirect("/a", "/c", 301), redirect("/a", "/b/c", 301)],
    ["a pattern takes another's shape", redirect("/b/:y/z", "/c", 301), redirect("/b/:y", "/c", 301)],
    ["what is the same moves", redirect("/a", "/b/c", 301), `  ${redirect("/a", "/b/c", 301)}`],
  ] as const;
  for (const [name, before, after] of rows) {
    const old = versionOf(1, before);
    const oldAnswers = answers(old);
    const document = versionOf(2, after, old);
    t.equal(answers(document), answers(versionOf(2, after)), name);
    t.not(oldAnswers, answers(document), `${name}: something else is said`);
  }
  t.end();
});

t.test("and in a long text, when more is new than is kept", slow(), (t) => {
  const property = fc.property(fc.constant(configText(150_000)), session, sameAsFresh);
  holds(t, property, { seed: 23, numRuns: runsOf(1) });
  t.end();
});

const segment = fc.constantFrom(
  "a",
  "b",
  "ab",
  ":x",
  ":y",
  "*",
  "c.html",
  ":x.html",
  "%41",
  "%C3%A9",
  "%2F",
  "(any)",
  "(x)",
  "",
);
const target = fc.constantFrom(
  "a",
  "b",
  "ab",
  ":x",
  ":y",
  ":splat",
  "c.html",
  ":x.html",
  "%41",
  "%2F",
  "(any)",
  "",
  "?q=:x",
  "#f",
);
const path = (start: readonly string[], part: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.constantFrom(...start), fc.array(part, { maxLength: 3 }))
    .map(([first, parts]) => first + parts.join("/"));
const rule = fc.record({
  pattern: path(["/", "/", "/a/", "*"], segment),
  location: path(["/", "/", "/a/", "//", "https://example.com/"], target),
  status: fc.constantFrom(301, 302, 200),
});

interface Rule {
  readonly pattern: string;
  readonly location: Location;
  readonly route: Route;
  readonly status: number;
}

/** The first rule of each circle, by following every redirect through all of the rules: the plainest way. */
function circles(rules: readonly Rule[]): string[] {
  const starts: string[] = [];
  const reportedRules = new Set<Rule>();
  const table = compileRoutes(
    rules.map((rule) => ({ route: rule.route, value: rule })),
    { trailingSlash: "optional" },
  );
  for (const start of rules) {
    const way: { rule: Rule; path: string }[] = [];
    let path = start.route.parts
      .map((part) =>
        part.kind === "param" ? `(${part.name})` : part.kind === "wildcard" ? "(any)" : encodeURI(part.text),
      )
      .join("")
      .replaceAll("%25", "%");
    if (!path.startsWith("/")) path = `/${path}`;
    if (start.status === 200) continue;
    for (;;) {
      const match = table.first(path);
      if (match === undefined || match.value.status === 200) break;
      const again = way.findIndex((one) => one.path === path);
      // Browsers give up after 20, and a path that grows repeats its last rules.
      const isTooLong = path.length > 1 << 16;
      const ends = again >= 0 || way.length >= 20 || isTooLong;
      if (ends) {
        const circle = way.slice(again >= 0 ? again : way.length >> 1);
        const members = new Set(circle.map(({ rule }) => rule));
        // No host takes such an address; only where a rule came back it is one of a circle.
        if (isTooLong && members.size === circle.length) break;
        if (members.has(start) && ![...members].some((rule) => reportedRules.has(rule))) {
          for (const rule of members) reportedRules.add(rule);
          starts.push(start.pattern);
        }
        break;
      }
      way.push({ rule: match.value, path });
      if (match.value.location.origin !== "") break;
      path = substitute(match.value.location, match.captures).split(/[?#]/, 1)[0]!;
    }
  }
  return starts;
}

t.test("every circle of redirects is found, and no other", slow(), (t) => {
  let count = 0;
  const property = fc.property(fc.uniqueArray(rule, { selector: (it) => it.pattern, maxLength: 8 }), (written) => {
    const rules = written.flatMap(({ pattern, location, status }): Rule[] => {
      const [route, target] = [parseRoute(pattern), parseLocation(location)];
      return route.ok && target.ok ? [{ pattern, route: route.value, location: target.value, status }] : [];
    });
    const redirects = Object.fromEntries(
      rules.map(({ pattern, location, status }) => [pattern, { location: location.source, status }]),
    );
    const { problems } = checkConfig(JSON.stringify({ name: "app", redirects }));
    const said = problems.filter(({ code }) => code === "config/redirect-loop").map(({ message }) => message);
    const expected = circles(rules);
    count += expected.length;
    const fits = said.length === expected.length && expected.every((it, i) => said[i]!.includes(quote(it)));
    if (!fits) throw new Error(`${JSON.stringify(expected)}: ${said}`);
  });
  holds(t, property, { seed: 31, numRuns: runsOf(1000) });
  t.ok(count > 25, `${count} circles`);
  t.end();
});

t.test("texts meet where one begins with the other", (t) => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 5 });
  const property = fc.property(fc.array(word, { maxLength: 12 }), word, (words, text) => {
    const plain = words.some((it) => it.startsWith(text) || text.startsWith(it));
    if (new Beginnings(words).meet(text) !== plain) throw new Error(`not ${plain}`);
  });
  holds(t, property, { seed: 41, numRuns: runsOf(5000) });
  t.end();
});

t.test("positions are those of the protocol's library", (t) => {
  const text = fc.string({ unit: fc.constantFrom("a", "\n", "\r", "\r\n", "\ud83d\ude00"), maxLength: 30 });
  const property = fc.property(text, fc.array(fc.integer({ min: -2, max: 40 }), { maxLength: 12 }), (text, numbers) => {
    const lines = new LinePositions(text);
    const plain = TextDocument.create("", "", 0, text);
    for (const [i, number] of numbers.entries()) {
      const position = { line: number, character: numbers[i - 1] ?? 0 };
      const [own, other] = [
        [lines.positionAt(number), lines.offsetAt(position)],
        [plain.positionAt(number), plain.offsetAt(position)],
      ];
      if (JSON.stringify(own) !== JSON.stringify(other)) throw new Error(JSON.stringify([number, own, other]));
    }
  });
  holds(t, property, { seed: 51, numRuns: runsOf(3000) });
  t.end();
});
