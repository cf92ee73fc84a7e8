// The features of the language service, without a transport: texts with `|` for the cursor, and what is answered there.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import t, { type Test } from "tap";
import type { CompletionItem, Diagnostic, Location, TextEdit } from "vscode-languageserver-types";
import { type Problem, renderProblem } from "../../grammar/problem.ts";
import { directoryOf } from "../../language-server/node-directory.ts";
import { machineProfiles } from "../../language-server/node-profiles.ts";
import { KIND } from "../../language-server/service/completion/candidate.ts";
import { complete, resolveCompletion } from "../../language-server/service/completion/complete.ts";
import { definition } from "../../language-server/service/definition.ts";
import type { DiagnosticData } from "../../language-server/service/diagnostics.ts";
import { hover } from "../../language-server/service/hover.ts";
import {
  type DocumentKind,
  diagnose,
  documentKindOf,
  methods,
  type Project,
  Refusal,
  ToolDocument,
} from "../../language-server/service/index.ts";
import { errorPagesUri, filesBeside } from "../../language-server/service/project.ts";
import { references } from "../../language-server/service/references.ts";
import { prepareRename, rename } from "../../language-server/service/rename.ts";
import { signatureHelp } from "../../language-server/service/signature-help.ts";
import { checkConfig } from "../../schema/index.ts";
import { parseJson, SYNTAX_CODES } from "../../schema/json.ts";
import { root } from "../support/cli.ts";
import { accept, CLIENT, cursor, documentOf, expand, FILES, type Files, projectOf } from "../support/editor.ts";
import { applyLspEdits } from "../support/editor-fixture.ts";
import { holds } from "../support/property.ts";
import { slow } from "../support/slow.ts";
import { recorderOf } from "../support/vectors.ts";

const rows = <Row>(name: string): Row[] => JSON.parse(readFileSync(join(root, "test/vectors", name), "utf8"));
/** The rows of a file, each with what sets its members when rows are recorded. */
const recordedRows = <Row extends object>(name: string) => {
  const all = rows<Row>(name);
  const record = recorderOf(name, all);
  return all.map((row) => ({ row, record: (actual: Record<string, unknown>) => record(row, actual) }));
};

interface CompletionRow {
  readonly name: string;
  readonly kind?: DocumentKind;
  readonly text: readonly string[];
  /** The first labels of the list, and how many there are. */
  readonly first: readonly string[];
  readonly count: number;
  /** An item that is taken, and the text after that. */
  readonly take?: string;
  readonly gives?: readonly string[];
}

t.test("completion", (t) => {
  for (const { row, record } of recordedRows<CompletionRow>("editor-completion.json")) {
    const { text, offset } = cursor(row.text.join("\n"));
    const document = documentOf(text, row.kind);
    const { items } = complete(
      document,
      offset,
      projectOf(FILES, () => document),
      CLIENT,
    );
    const sorted = [...items].sort((a, b) => ((a.sortText ?? a.label) < (b.sortText ?? b.label) ? -1 : 1));
    record({ first: sorted.slice(0, 6).map(({ label }) => label), count: items.length });
    t.same([sorted.slice(0, 6).map(({ label }) => label), items.length], [row.first, row.count], row.name);
    if (row.take === undefined) continue;
    const item = items.find(({ label }) => label === row.take);
    record({ gives: item && accept(document, item).text.split("\n") });
    t.same(item && accept(document, item).text.split("\n"), row.gives, `${row.name}: ${row.take} is taken`);
  }
  t.end();
});

t.test("the first item of a blank file is what its folder seems to be", (t) => {
  type Row = [files: Files, detail: string, text: object];
  const rows: Row[] = [
    [
      { "package.json": `{ "scripts": { "start": "node ." } }` },
      "a server: package.json, node, started by npm start",
      {},
    ],
    [{ "main.go": "" }, "a server: main.go, go, started by ./server", {}],
    [{ "server.js": "" }, "a server: server.js, node, started by node server.js", {}],
    [{ "index.js": "" }, "a server: index.js, node, started by node index.js", {}],
    [{ "main.py": "", "notes.txt": "" }, "a server: main.py, python, started by python main.py", {}],
    ...["server.mjs", "server.cjs", "index.mjs", "main.js", "app.mjs"].map(
      (file): Row => [
        { [file]: "", "public/index.html": "" },
        `a server: ${file}`,
        { proxy: { command: `node ${file}` } },
      ],
    ),
    [{ "server.py": "" }, "a server: server.py, python, started by python server.py", {}],
    [{ "index.html": "" }, "a static site: index.html", { type: "static" }],
    [{ "public/index.html": "" }, "a static site: public/index.html", { type: "static", static: { dir: "public" } }],
    ...["dist", "build", "out", "_site", "static", "site"].map(
      (dir): Row => [
        { [`${dir}/index.html`]: "" },
        `a static site: ${dir}/index.html`,
        { type: "static", static: { dir } },
      ],
    ),
    [
      { "package.json": `{ "scripts": { "build": "vite build" } }`, "src/main.js": "" },
      "a static site: the build of package.json",
      { type: "static", static: { dir: "dist" } },
    ],
    [
      { "package.json": `{ "scripts": { "build": "vite build" } }`, build: null },
      "a static site: the build of package.json",
      { type: "static", static: { dir: "build" } },
    ],
    [{ "package.json": "{", "app.js": "" }, "a server: package.json, node, started by node app.js", {}],
    [{}, "a server", {}],
  ];
  for (const [files, detail, more] of rows) {
    for (const snippets of [true, false]) {
      const document = documentOf("");
      const project = projectOf(files);
      const { items } = complete(document, 0, project, { ...CLIENT, snippets });
      t.equal(items.length, 1, detail);
      const [item] = items;
      t.same([item!.detail, item!.preselect], [detail, true], detail);
      const after = accept(document, item!).text;
      t.strictSame(JSON.parse(after), { name: "orders-api", type: "server", ...more }, detail);
      t.same(errors(checkConfig(after, { directory: project.directory! }).problems), [], detail);
    }
  }
  t.same(
    complete(documentOf("", "query"), 0, {}, CLIENT).items.some(({ preselect }) => preselect),
    false,
  );
  t.end();
});

t.test("the name is what an empty configuration needs first", (t) => {
  // As VS Code sorts: its own JSON support offers "$schema" under that label.
  for (const text of ["{|}", "{\n  |\n}", '{ "|" }', '{ "type": "server", | }']) {
    const { text: plain, offset } = cursor(text);
    const { items } = complete(documentOf(plain), offset, projectOf(FILES), CLIENT);
    const first = [...items, { label: "$schema" }].sort((a, b) =>
      (a.sortText ?? a.label) < (b.sortText ?? b.label) ? -1 : 1,
    )[0]!;
    t.same([first.label, first.preselect], ["name", true], text);
    t.equal(items.filter(({ preselect }) => preselect).length, 1, text);
  }
  const { items } = complete(documentOf('{ "name": "a",  }'), 15, projectOf(FILES), CLIENT);
  t.notOk(
    items.some(({ preselect }) => preselect),
    "no other key is",
  );
  t.end();
});

t.test("the profiles of the machine, and their regions first", (t) => {
  const config =
    "[default]\nregion = eu-north-1\n[profile work]\nregion = eu-central-1\n[profile bare]\n[sso-session x]\n";
  const credentials = "[old]\naws_access_key_id = AKIA\n; [gone]\n";
  const home = t.testdir({ ".aws": { config, credentials } });
  const machine = machineProfiles({ HOME: home });
  t.same(machineProfiles({ HOME: join(home, "nobody") }).size, 0, "no files, no profiles");
  const project = { ...projectOf(FILES), profiles: () => machine };
  const rows: [text: string, labels: string[], detail: string | undefined][] = [
    ['{ "name": "a", "profile": "|" }', ["old", "default", "work", "bare"], undefined],
    ['{ "name": "a", "profile": | }', ["old", "default", "work", "bare"], undefined],
    ['{ "name": "a", "regions": ["|"] }', ["eu-north-1", "eu-central-1", "us-west-2"], "Stockholm, profile default"],
    [
      '{ "name": "a", "profile": "work", "regions": [|] }',
      ["eu-central-1", "eu-north-1", "us-west-2"],
      "Frankfurt, profile work",
    ],
  ];
  for (const [marked, labels, detail] of rows) {
    const { text, offset } = cursor(marked);
    const { items } = complete(documentOf(text), offset, project, CLIENT);
    t.same(
      items.slice(0, labels.length).map(({ label }) => label),
      labels,
      marked,
    );
    t.equal(items[0]?.detail, detail, `${marked}: in words`);
  }
  const { text, offset } = cursor('{ "name": "a", "profile": "|" }');
  const { items } = complete(documentOf(text), offset, projectOf(FILES), CLIENT);
  t.same(
    items.map(({ label }) => label),
    ["work"],
    "where no files can be read, the example",
  );
  t.end();
});

t.test("what an editor does with items", (t) => {
  const { text, offset } = cursor('{\n\t"name": "app",\n\t"stages": { "|" }\n}');
  const document = documentOf(text);
  const plain = complete(document, offset, projectOf(FILES), { ...CLIENT, snippets: false }).items;
  t.ok(
    plain.length > 0 && plain.every(({ insertTextFormat }) => insertTextFormat === 1),
    "no snippets where none are known",
  );
  for (const item of complete(document, offset, projectOf(FILES), CLIENT).items) {
    const { range } = item.textEdit as TextEdit;
    t.equal(range.start.line, range.end.line, `${item.label}: one line`);
    // VS Code compares with the text after the start of the range, others with the word at the cursor.
    t.equal(document.offsetAt(range.start), offset, `${item.label}: behind the quote`);
    t.equal(item.filterText, item.label, `${item.label}: found by what is typed, without the quote`);
  }
  const key = complete(documentOf("{ }"), 2, {}, CLIENT).items.find(({ label }) => label === "regions")!;
  t.equal(key.documentation, undefined, "long texts come later");
  t.match(resolveCompletion(key, CLIENT).documentation, { kind: "markdown", value: /^The region that the app/ });
  t.match(resolveCompletion(key, { ...CLIENT, markdown: false }).documentation, /^The region[^`]*$/);
  t.same(resolveCompletion({ label: "x" }, CLIENT), { label: "x" }, "an item of others stays as it is");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of snippets
  t.equal(expand("${1|a\\,b,c|} ${2:d\\}e} $0 \\$f"), "a,b d}e  $f", "placeholders as they are first shown");
  t.end();
});

const WHOLE = readFileSync(join(root, "test/fixtures/whole.tool.json"), "utf8");
const EMPTY_SECTIONS = `{ "name": "x", "static": { }, "redirects": {}, "stages": {}, "actions": [], "alerts": [], "regions": [],
  "headers": {}, "inject": { "head": [], "body": [] }, "dns": {}, "cors": {}, "function": {}, "hooks": {}, "logs": {},
  "error_pages": {}, "proxy": {}, "environment": {} }`;
const EXAMPLES = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => readFileSync(join(root, "examples", name, "tool.json"), "utf8"));

t.test("every item that is taken is right at its place", slow(), (t) => {
  const project = projectOf(FILES);
  const directory = project.directory!;
  for (const text of [WHOLE, EMPTY_SECTIONS, "{\n  \n}", ...EXAMPLES]) {
    const document = documentOf(text);
    const commandErrors = new Set(errors(checkConfig(text, { directory }).problems));
    const wrong: string[] = [];
    let taken = 0;
    // Along a token every offset gives the same texts.
    const seen = new Set<string>();
    for (let offset = 0; offset <= text.length; offset++) {
      for (const snippets of [true, false]) {
        for (const item of complete(document, offset, project, { ...CLIENT, snippets }).items) {
          taken++;
          const after = accept(document, item);
          if (seen.has(after.text)) continue;
          seen.add(after.text);
          const { problems } = checkConfig(after.text, { directory });
          const here = problems.filter(
            ({ code, span }) =>
              // Other members that an object needs are written next. So is the value that an operator compares with.
              code !== "config/missing-key" &&
              !(code.startsWith("query/") && (item.kind === KIND.keyword || item.kind === KIND.operator)) &&
              span.start < after.end &&
              span.end > after.start,
          );
          const fresh = errors(here).filter((error) => !commandErrors.has(error));
          if (fresh.length > 0) wrong.push(`${offset}: ${item.label}: ${fresh[0]}`);
        }
      }
    }
    t.ok(taken > 50, `${taken} items`);
    t.same(wrong, [], text.slice(0, 40));
  }
  t.end();
});

const OFFER_TEXTS = [
  '{ "name": "a", "stages": { "production": { "domain": "|" } } }',
  '{ "name": "a", "stages": { "pr_1": { "domain": | }, "production": { "domain": "a.example.com" } } }',
  '{ "name": "a", "alerts": [|] }',
  '{ "name": "a", "alerts": | }',
  '{ "name": "a", "actions": [], "alerts": [|] }',
  '{ "name": "a", "alerts": [{ "metric": "http.5xx", "statistic": "sum", "threshold": 1, "action": "|" }] }',
  '{ "name": "a", "regions": ["eu-west-1"], "function": { "layers": [|] } }',
  '{ "name": "a", "regions": ["eu-west-1"], "function": { | } }',
  '{ "name": "a", "proxy": { "command": "|" } }',
  '{ "name": "a", "stages": { "development": { "proxy": { "command": | } } } }',
  '{ "name": "a", "hooks": { "build": | } }',
  '{ "name": "a", "hooks": { "predeploy": ["|"] } }',
  '{ "name": "a", "stages": { | } }',
  '{ "name": "a", | }',
  '{ "name": "a", "function": { "vpc": { "subnets": [|] } } }',
  '{ "name": "a", "function": { "role": "|" } }',
  '{ "name": "a", "dns": { "example.com": [{ "name": "example.com", "type": "CNAME", | }] } }',
  '{ "name": "a", "dns": { "example.com": [{ "name": "|", "type": "ALIAS", "value": ["b.example"] }] } }',
  '{ "name": "a", "redirects": { "/a": { "location": "|", "status": 301 } } }',
  '{ "name": "a", "inject": { "head": [{ "type": "script", | }] } }',
  '{ "name": "a", "cors": { | } }',
  '{ "name": "a", "proxy": { "backoff": { "min": |, "max": 50 } } }',
  '{ "name": "a", "static": { | } }',
  '{ "name": "a", "error_pages": { "dir": "|" } }',
  '{ "name": "a", "tags": { | } }',
  '{ "name": "a", "logs": { "queries": { | } } }',
];

/** Fields, operators and words of a query need what comes after them. */
const INCOMPLETE: readonly number[] = [KIND.field, KIND.keyword, KIND.operator];

t.test("what is offered is valid where it is offered", (t) => {
  const files = projectOf(FILES);
  const empty = projectOf({ "README.md": "" });
  const texts = [
    ...rows<CompletionRow>("editor-completion.json")
      .filter(({ kind = "config" }) => kind === "config")
      .map(({ text }) => text.join("\n")),
    ...OFFER_TEXTS,
  ];
  for (const marked of texts) {
    const { text, offset } = cursor(marked);
    const document = documentOf(text);
    for (const project of [files, empty]) {
      const directory = project.directory!;
      const before = checkConfig(text, { directory, triesFixes: false }).problems;
      const wrong = complete(document, offset, project, CLIENT).items.flatMap((item) => {
        const after = accept(document, item);
        const left = before.map(({ code }) => code);
        const { problems } = checkConfig(after.text, { directory, triesFixes: false });
        const fresh = problems.filter(({ code, severity, span }) => {
          // A warning is about what the user decides, unless something is not there.
          if (severity === "warning" && !/^config\/(?:missing|unknown)-/.test(code)) return false;
          const at = left.indexOf(code);
          if (at >= 0) left.splice(at, 1);
          const isHere = span.start <= after.end && span.end >= after.start;
          return (
            at < 0 &&
            isHere &&
            !(code.startsWith("query/") && INCOMPLETE.includes(item.kind!)) &&
            !isLeftToUser(code, item, project === empty)
          );
        });
        return fresh.map(({ code, message }) => `${item.label}: ${code} ${message}`);
      });
      t.same(wrong, [], `${project === empty ? "an empty folder: " : ""}${marked.slice(0, 60)}`);
    }
  }
  t.end();
});

/** Problems that an item leaves to what is written next: other settings that are needed, a file of a folder, in an empty project the files. */
function isLeftToUser(code: string, { kind }: CompletionItem, isEmpty: boolean): boolean {
  if (code === "config/missing-key") return true;
  if (kind === KIND.folder) return code === "config/missing-file";
  return isEmpty && kind === KIND.property && code.startsWith("config/missing-");
}

function errors(problems: readonly Problem[]): string[] {
  return problems.filter(({ severity }) => severity === "error").map(({ code, message }) => `${code} ${message}`);
}

t.test("hover", (t) => {
  interface Row {
    readonly kind: DocumentKind;
    readonly text: string;
    /** The text that the hover is about, and the first lines that it says, at least three. */
    readonly on: string | null;
    readonly says: readonly string[] | null;
  }
  for (const { row, record } of recordedRows<Row>("editor-hover.json")) {
    const { text, offset } = cursor(row.text);
    const document = documentOf(text, row.kind);
    const result = hover(document, offset, projectOf(FILES), CLIENT);
    const { start, end } = result?.range ?? {};
    const on = start && end ? text.slice(document.offsetAt(start), document.offsetAt(end)) : null;
    const said =
      result &&
      (result.contents as { value: string }).value
        .split("\n")
        .filter(Boolean)
        .slice(0, Math.max(3, row.says?.length ?? 0));
    record({ on, says: said ?? null });
    t.same([on, said ?? null], [row.on, row.says], row.text);
  }
  const plain = hover(documentOf('{ "stages": {} }'), 4, {}, { ...CLIENT, markdown: false });
  t.match(plain?.contents, { kind: "plaintext", value: /^[^`]*$/ }, "no Markdown for those who cannot show it");
  t.end();
});

t.test("signature help", (t) => {
  interface Row {
    readonly kind: DocumentKind;
    readonly text: string;
    readonly shows: string | null;
  }
  for (const { row, record } of recordedRows<Row>("editor-signature.json")) {
    const { text, offset } = cursor(row.text);
    const help = signatureHelp(documentOf(text, row.kind), offset);
    const shows = help ? `${help.signatures[0]!.label} @${help.activeParameter}` : null;
    record({ shows });
    t.equal(shows, row.shows, row.text);
  }
  t.end();
});

/** All diagnostics of a document. */
function diagnosticsOf(document: ToolDocument, project = projectOf(FILES), syntax = true): Diagnostic[] {
  const steps = diagnose(document, project, { syntax });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Diagnostics under the lines of their text, as `^^^ code message`. */
function marked(document: ToolDocument, diagnostics: readonly Diagnostic[]): string[] {
  return document.text.split("\n").flatMap((line, i) => {
    const here = diagnostics.filter(({ range }) => range.start.line === i);
    return [
      line,
      ...here.map(({ range, code, message }) => {
        const end = range.end.line === i ? range.end.character : line.length;
        const carets = "^".repeat(Math.max(1, end - range.start.character));
        return `${" ".repeat(range.start.character)}${carets} ${code} ${String(message).replace("\n", ": ")}`;
      }),
    ];
  });
}

t.test("diagnostics", (t) => {
  interface Row {
    readonly name: string;
    readonly kind?: DocumentKind;
    readonly marked: readonly string[];
  }
  for (const { row, record } of recordedRows<Row>("editor-diagnostics.json")) {
    const text = row.marked.filter((line) => !/^ *\^+ [a-z]+\//.test(line)).join("\n");
    const document = documentOf(text, row.kind);
    record({ marked: marked(document, diagnosticsOf(document)) });
    t.same(marked(document, diagnosticsOf(document)), row.marked, row.name);
  }
  t.end();
});

t.test("queries and error pages are checked with the project's tool.json", (t) => {
  const config = documentOf(`{ "name": "app", "stages": { "preview": {} }, "error_pages": { "dir": "errors",
    "variables": { "color": "#228be6", "team": { "name": "ops" } } } }`);
  const project = projectOf(FILES, () => config);
  const rows: [kind: DocumentKind, text: string, wanted: string[]][] = [
    [
      "query",
      "stage = preveiw",
      ['        ^^^^^^^ config/unknown-stage there is no stage "preveiw": did you mean "preview"?'],
    ],
    [
      "query",
      "stage in (preview, staging, x)",
      [
        `${" ".repeat(28)}^ config/unknown-stage there is no stage "x": the stages are development, staging, production, preview`,
      ],
    ],
    ["query", "stage = preview or production", []],
    [
      "template",
      "{{.Variables.colr}}",
      ['             ^^^^ template/unknown-variable there is no variable "colr": did you mean "color"?'],
    ],
    [
      "template",
      "{{with $.Variables}}{{.name}}{{end}}",
      [
        `${" ".repeat(23)}^^^^ template/unknown-variable there is no variable "name": "variables" of "error_pages" has "color", "team"`,
      ],
    ],
    ["template", "{{if .Variables.logo}}{{.Variables.logo}}{{end}}{{.Variables.team.name}}", []],
    ["template", '{{or .Variables.title "Sorry"}}', []],
  ];
  for (const [kind, text, wanted] of rows) {
    const document = documentOf(text, kind, "x");
    t.same(marked(document, diagnosticsOf(document, project)).slice(1), wanted, text);
    // Alone nobody knows what there is.
    t.same(diagnosticsOf(document, projectOf(FILES)), [], `${text} without a tool.json`);
    for (const diagnostic of diagnosticsOf(document, project)) {
      const { fix } = (diagnostic.data ?? {}) as DiagnosticData;
      if (fix === undefined) continue;
      const fixed = documentOf(applyLspEdits(document, fix.edits), kind, "x");
      t.same(diagnosticsOf(fixed, project), [], `${text} is fixed`);
    }
  }
  const says = (text: string) => {
    const { text: plain, offset } = cursor(text);
    const result = hover(documentOf(plain, "template", "404.html"), offset, project, { ...CLIENT, markdown: false });
    return result && [result.range!.start.character, result.range!.end.character, result.contents];
  };
  t.match(says("{{.Variables.co|lor}}"), [13, 18, { value: /^"color": "#228be6"\n/ }]);
  t.match(says("{{$.Variables.te|am.name}}"), [14, 18, { value: /^"team": \{ "name": "ops" \}/ }]);
  t.match(says("{{.Variables.co|lr}}"), [13, 17, { value: /^colr is not in error_pages.variables/ }]);
  t.match(says("{{.Vari|ables.color}}"), [2, 12, { value: /^The variables of/ }]);
  t.end();
});

t.test("values that are words of another system are explained", (t) => {
  const says = (marked: string, files: Files = FILES) => {
    const { text, offset } = cursor(marked);
    const contents = hover(documentOf(text), offset, projectOf(files), { ...CLIENT, markdown: false })?.contents;
    return (contents as { value: string } | undefined)?.value ?? "";
  };
  const rows: [text: string, said: RegExp, files?: Files][] = [
    ['{ "headers": { "/*": { "Cache-Control": "public, max|-age=3600" } } }', /max-age=3600.*fresh for 1 hour, and/],
    ['{ "headers": { "/*": { "cache-control": "no-st|ore" } } }', /nobody keeps it/],
    [
      '{ "headers": { "/*": { "Cache-Control": "s-maxage=90, x|=1" } } }',
      /in shared caches it is fresh for 90 seconds/,
    ],
    [
      '{ "function": { "policy": [{ "Action": ["s3:Get|Object"] }] } }',
      /The action "GetObject" of S3 \(buckets and files\)/,
    ],
    ['{ "function": { "policy": [{ "Action": "dynamodb:Get|*" }] } }', /Every action of DynamoDB .* begins with "Get"/],
    ['{ "function": { "policy": [{ "NotAction": ["|*"] }] } }', /Every action of every service/],
    ['{ "hooks": { "build": "npm run bu|ild && ls" } }', /Runs vite build, the script build of package.json/],
    [
      '{ "hooks": { "build": "sh ./scripts/bu|ild.sh -x" } }',
      /Runs the file scripts\/build.sh/,
      { "scripts/build.sh": "" },
    ],
  ];
  for (const [text, said, files] of rows) t.match(says(text, files), said, text);
  t.notMatch(says('{ "headers": { "/*": { "X-Other": "max|-age=3600" } } }'), /fresh/);
  t.end();
});

t.test("a query file has comments and an outline", (t) => {
  const text = '# errors of | today\nerror path = "/#x" # by path\n| count by path\n';
  const document = documentOf(text, "query", "a.logq");
  t.same(diagnosticsOf(document), []);
  t.match(hover(document, text.indexOf("error path"), projectOf(FILES), CLIENT), { contents: /./ });
  const at = (offset: number) => complete(document, offset, projectOf(FILES), CLIENT).items.length;
  t.equal(at(text.indexOf("today")), 0, "nothing is offered in a comment");
  t.ok(at(text.length - 1) > 0);
  const answer = (method: string) =>
    methods()
      .find((row) => row.method === method)!
      .answer({ document, project: projectOf(FILES), client: CLIENT, params: {} as never });
  const symbols = answer("textDocument/documentSymbol") as { name: string }[];
  t.same(
    symbols.map(({ name }) => name),
    ["error", 'path = "/#x"', "count by path"],
  );
  const formatted = (lines: readonly string[]) => {
    const source = documentOf(lines.join("\n"), "query", "a.logq");
    const row = methods().find(({ method }) => method === "textDocument/formatting")!;
    const edits = row.answer({
      ...{ document: source, project: projectOf(FILES), client: CLIENT },
      params: { options: { tabSize: 2, insertSpaces: true } } as never,
    }) as TextEdit[];
    return applyLspEdits(source, edits).split("\n");
  };
  const rows: [text: string[], expected: string[]][] = [
    [
      [
        "# Customers",
        "error   status>=500   # not 404",
        "",
        "  AND (  duration>5s )",
        "|count   by path",
        "# the worst",
        "  | limit 5  ",
      ],
      [
        "# Customers",
        "error and status >= 500 # not 404",
        "",
        "  and duration > 5s",
        "| count by path",
        "# the worst",
        "  | limit 5",
      ],
    ],
    [
      ["error", "", 'path=="/a"   '],
      ["error", "", 'path = "/a"'],
    ],
    [
      ["(error or   ", "  status=500) and path = a"],
      ["(error or", "  status=500) and path = a"],
    ],
    // Each line alone would bind otherwise.
    [
      ["not error", "or status=5 path=a", "level=b  "],
      ["not error", "or status = 5 and path = a", "level = b"],
    ],
    [["error   status==500 # note"], ["error and status = 500 # note"]],
    [
      ["error   status==500", ""],
      ["error and status = 500", ""],
    ],
    [
      ["error and (", "#x"],
      ["error and (", "#x"],
    ],
  ];
  for (const [lines, expected] of rows) {
    t.same(formatted(lines), expected, lines.join("\\n"));
    t.same(formatted(expected), expected, "and again");
  }
  const broken = documentOf("# note\nerror and (", "query", "a.logq");
  t.match(diagnosticsOf(broken), [{ range: { start: { line: 1 } } }], "places stay");
  t.match(diagnosticsOf(documentOf("path = a#b", "query", "a.logq")), [{ severity: 1 }], "no comment within a word");
  t.end();
});

t.test("fields of the development log are not doubted", (t) => {
  const line = (fields: object) => `${JSON.stringify({ timestamp: "", level: "info", message: "m", fields })}\n`;
  const folder = t.testdir({
    ".tool": {
      "development.ndjson":
        line({ durration: 1 }) + line({ text: "x".repeat(200_000) }) + line({ statsu: 1, orders: 2 }),
    },
  });
  const directory = directoryOf(`${pathToFileURL(folder)}/`)!;
  const project = { ...projectOf(FILES), directory };
  const rows: [text: string, wanted: string[]][] = [
    ["statsu = 1 orders > 5", []],
    ["oders > 5", ['^^^^^ query/near-field "oders" is no field of the entries of the log: did you mean orders?']],
    // Further up than is read.
    [
      "durration > 5",
      ['^^^^^^^^^ query/near-field "durration" is no field of the entries of the log: did you mean duration?'],
    ],
  ];
  for (const [text, wanted] of rows) {
    t.same(marked(documentOf(text, "query"), diagnosticsOf(documentOf(text, "query"), project)).slice(1), wanted, text);
    const config = documentOf(`{ "name": "app", "logs": { "queries": { "q": "${text}" } } }`);
    const codes = diagnosticsOf(config, project).map(({ code }) => code);
    t.same(codes, wanted.length === 0 ? [] : ["query/near-field"], `${text}, saved`);
  }
  t.end();
});

t.test("diagnostics carry what editors show beside them", (t) => {
  const document = documentOf('{ "name": "app", "lambda": {}, "name": "b" }');
  const [duplicate, deprecated] = [...diagnosticsOf(document)].sort((a, b) => (a.code! < b.code! ? 1 : -1));
  t.match(deprecated, { code: "config/deprecated-lambda", tags: [1 + 1], severity: 1, source: "tool" });
  t.match(deprecated?.data, { fix: { title: /./, edits: [{ newText: '"function"' }] } });
  t.same(duplicate?.relatedInformation, [
    {
      location: {
        uri: document.uri,
        range: { start: { line: 0, character: 2 }, end: { line: 0, character: 8 } },
      },
      message: '"name" is first written here',
    },
  ]);
  t.end();
});

t.test("the editor says what the command says, at the same place", (t) => {
  interface Row {
    readonly name: string;
    readonly text: readonly string[];
    readonly problems: readonly (readonly string[])[];
  }
  const { check } = JSON.parse(readFileSync(join(root, "test/vectors/config.json"), "utf8")) as { check: Row[] };
  for (const { name, text } of check) {
    const source = text.join("\n");
    const document = new ToolDocument({
      uri: "file:///work/other.tool.json",
      version: 1,
      text: source,
      kind: "config",
    });
    const diagnostics = diagnosticsOf(document);
    const expected = checkConfig(source).problems;
    t.same(
      diagnostics.map(({ range, message, code }) => [
        document.offsetAt(range.start),
        document.offsetAt(range.end),
        message,
        code,
      ]),
      expected.map(({ span, message, hint, code }) => {
        // The protocol knows no place inside a line break.
        const { start, end } = document.rangeOf(span);
        return [
          document.offsetAt(start),
          document.offsetAt(end),
          hint === undefined ? message : `${message}\n${hint}`,
          code,
        ];
      }),
      name,
    );
    const texts = expected.map((problem) => renderProblem(problem, { source, file: "tool.json" }));
    t.equal(texts.length, diagnostics.length, `${name}: as many`);
    const quiet = diagnosticsOf(document, {}, false).map(({ code }) => String(code));
    t.same(
      quiet.filter((code) => SYNTAX_CODES.has(code)),
      [],
      `${name}: syntax is left to the client`,
    );
    const unsaid = parseJson(source).problems.filter(({ code }) => !SYNTAX_CODES.has(code));
    t.same(
      unsaid.filter(({ code }) => !["config/empty", "config/too-deep", "config/type"].includes(code)),
      [],
      `${name}: only what no reader of JSON says goes on being said`,
    );
  }
  t.end();
});

const alertOf = (notify: string) =>
  `{ "logs": { "alerts": { "a": { "query": "error", "operator": ">", "notify": "${notify}" } } } }`;
/** A project whose tool.json includes `ops`; `b.json` there has a notification. */
function includedIn(t: Test): Project {
  const night =
    '{ "logs": { "notifications": { "night": { "type": "email", "email_addresses": ["ops@example.com"] } } } }';
  const folder = t.testdir({ ops: { "a.json": "", "b.json": night } });
  const config = documentOf(
    `{
      "name": "app",
      "stages": { "canary": {} },
      "logs": {
        "include": ["ops/*.json"],
        "notifications": { "day": { "type": "sms", "sms_numbers": ["+15550100"] } },
        "alerts": { "b": { "query": "error", "operator": ">", "notify": "night" } }
      }
    }`,
  );
  return { ...projectOf(FILES, () => config), directory: directoryOf(`${pathToFileURL(folder)}/`)! };
}

t.test("an included file is checked as a part of its tool.json", (t) => {
  const project = includedIn(t);
  const rows: [text: string, codes: string[]][] = [
    [alertOf("night"), []],
    [alertOf("evening"), ["config/unknown-reference"]],
    ['{ "name": "app" }', ["config/not-in-part"]],
  ];
  for (const [text, codes] of rows) {
    const document = documentOf(text, "config", "ops/a.json");
    const reported = diagnosticsOf(document, project).map(({ code }) => code);
    t.same(reported, codes, text);
  }
  const { text, offset } = cursor(alertOf("|"));
  const offered = complete(documentOf(text, "config", "ops/a.json"), offset, project, CLIENT).items;
  t.same(
    offered.map(({ label }) => label),
    ["day", "night"],
    "the notifications of the other files",
  );
  t.end();
});

t.test("an included file has the features of its tool.json", (t) => {
  const project = includedIn(t);
  const open = (marked: string) => {
    const { text, offset } = cursor(marked);
    return { document: documentOf(text, "config", "ops/a.json"), offset };
  };
  const query = '{ "logs": { "queries": { "slow": "duration >|= 1s" } } }';
  const hovers: [text: string, on: string, says: RegExp][] = [
    ['{ "logs": { "alerts": { "a": { "thres|hold": 1 } } } }', '"threshold"', /number/],
    [query.replace("|", "").replace("dura", "dura|"), "duration", /./],
    [alertOf("ni|ght"), '"night"', /^Notifies ops@example\.com by email\. It is in `ops\/b\.json`\./],
    [alertOf("d|ay"), '"day"', /^Notifies \+15550100 by sms\. It is in `tool\.json`\./],
  ];
  for (const [text, on, says] of hovers) {
    const { document, offset } = open(text);
    const { contents, range } = hover(document, offset, project, CLIENT)!;
    t.equal(document.text.slice(document.offsetAt(range!.start), document.offsetAt(range!.end)), on, text);
    t.match((contents as { value: string }).value, says, text);
  }

  const canary = '{ "logs": { "queries": { "slow": "stage = can|ary" } } }';
  const places: [text: string, made: string, named: string[]][] = [
    [alertOf("ni|ght"), "b.json night", ["a.json night", "tool.json night"]],
    [alertOf("d|ay"), "tool.json day", ["a.json day"]],
    [canary, "tool.json canary", ["a.json canary"]],
  ];
  for (const [text, made, named] of places) {
    const { document, offset } = open(text);
    const shown = (locations: readonly Location[]) =>
      locations.map(({ uri, range }) => {
        const file = [document, ...filesBeside(document, project)].find((one) => one.uri === uri)!;
        return `${file.name} ${file.text.slice(file.offsetAt(range.start), file.offsetAt(range.end))}`;
      });
    t.same(shown(definition(document, offset, project)), [made], `${text}: where it is made`);
    t.same(shown(references(document, offset, { includeDeclaration: false }, project)), named, text);
  }

  const renamed = (text: string, name: string) => {
    const { document, offset } = open(text);
    t.ok(prepareRename(document, offset, project), text);
    const { changes = {} } = rename(document, offset, name, project)!;
    return [document, ...filesBeside(document, project)].flatMap((file) => {
      const edits = changes[file.uri];
      return edits === undefined ? [] : `${file.name}: ${edits.map(({ newText }) => newText).join(" ")}`;
    });
  };
  t.same(renamed(alertOf("ni|ght"), "dusk"), ["a.json: dusk", "tool.json: dusk", "b.json: dusk"], "in every file");
  t.same(renamed(canary, "not"), ['a.json: \\"not\\"', "tool.json: not"], "a stage, quoted where a query needs it");
  const { document, offset } = open(alertOf("ni|ght"));
  const typed = documentOf('\n\n{ "logs": { "notifications": { "night": {} } } }', "config", "ops/b.json");
  const openFile = (path: string) => (path === "ops/b.json" ? typed : undefined);
  const [there] = definition(document, offset, { ...project, openFile });
  t.equal(there?.range.start.line, 2, "as the file is in the editor");
  t.throws(() => rename(document, offset, "day", project), new Refusal('"tool.json" has a notification "day" already'));
  t.end();
});

t.test("which files are ours", (t) => {
  const config = (text: string) => () => documentOf(text);
  const table: [string, string, string, string | undefined][] = [
    ["tool.json", "json", "{}", "config"],
    ["staging.tool.json", "json", "{}", "config"],
    ["package.json", "json", "{}", undefined],
    ["tool.schema.json", "json", "{}", undefined],
    ["ops/alerts.json", "json", '{ "logs": { "include": ["./ops/*.json"] } }', "config"],
    ["ops/more/alerts.json", "json", '{ "logs": { "include": ["ops/*.json"] } }', undefined],
    ["ops/alerts.json", "json", "{}", undefined],
    ["slow.logq", "plaintext", "{}", "query"],
    [".toolignore", "plaintext", "{}", "ignore"],
    ["404.html", "html", "{}", "template"],
    ["index.html", "html", "{}", undefined],
    ["errors/5xx.html", "html", '{ "error_pages": { "dir": "./errors/" } }', "template"],
    ["404.html", "html", '{ "error_pages": { "dir": "errors" } }', undefined],
    ["404.html", "html", '{ "error_pages": { "disable": true } }', undefined],
    ["404.html", "html", '{ "error_pages": { "dir": "../x" } }', undefined],
    ["any.txt", "toolquery", "{}", "query"],
  ];
  for (const [path, language, text, expected] of table) {
    const project = projectOf(FILES, config(text));
    t.equal(documentKindOf(`file:///work/orders-api/${path}`, language, project), expected, `${path} beside ${text}`);
  }
  t.equal(errorPagesUri({}), undefined, "no project, no error pages");
  t.end();
});

t.test("what stands under the cursor", (t) => {
  const table: [string, unknown][] = [
    ['{ "na|me": "app" }', ["key", ["name"], undefined]],
    ['{ "name": "ap|p" }', ["string", ["name"], undefined]],
    ['{ "redirects": { "/a|": {} } }', ["key", ["redirects", "/a"], "route"]],
    ['{ "redirects": { "/a": { "location": "\\u002fb|" } } }', ["string", ["redirects", "/a", "location"], "location"]],
    ['{ "regions": ["a", "b|"] }', ["string", ["regions", 1], "glob"]],
    ['{ "hooks": { "build": ["x", "y|"] } }', ["string", ["hooks", "build", 1], "command"]],
    ['{ "alerts": [{ "threshold": 1|0 }] }', ["number", ["alerts", 0, "threshold"], undefined]],
    ['{ | "name": "app" }', ["object", [], undefined]],
    ["|", undefined],
  ];
  for (const [text, expected] of table) {
    const { text: source, offset } = cursor(text);
    const document = documentOf(source);
    const place = document.pathAt(offset);
    const actual = place && [place.isKey ? "key" : place.node.type, place.path, document.embeddedAt(offset)?.language];
    t.same(actual, expected, text);
  }
  t.end();
});

t.test("the string at an offset is found without all the others", (t) => {
  const different: number[] = [];
  for (let offset = 0; offset <= WHOLE.length; offset++) {
    const document = documentOf(WHOLE);
    const match = document.embeddedAt(offset);
    const { node, path, language } =
      document.strings().find(({ node: { content } }) => content.start <= offset && offset <= content.end) ?? {};
    if (match?.node !== node || match?.language !== language || `${match?.path}` !== `${path}`) different.push(offset);
  }
  t.same(different, []);
  t.end();
});

t.test("offsets of a string and of the text it stands in belong together", (t) => {
  const value = fc.string({
    unit: fc.constantFrom("a", " ", '"', "\\", "\n", "\u00e9", "\ud83d\ude00", "/"),
    maxLength: 12,
  });
  const escaped = (text: string, all: boolean) =>
    all
      ? `"${[...text]
          .flatMap((c) => c.split(""))
          .map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
          .join("")}"`
      : JSON.stringify(text);
  holds(
    t,
    fc.property(value, fc.boolean(), (text, all) => {
      const source = `{ "logs": { "queries": { "q": ${escaped(text, all)} } } }`;
      const [string] = documentOf(source).strings();
      if (string?.value !== text) return false;
      for (let at = 0; at <= text.length; at++) {
        const { start } = string.toText({ start: at, end: at });
        if (string.toValue(start) !== at) return false;
      }
      return true;
    }),
    { seed: 4, numRuns: 300 },
  );
  t.end();
});

t.test("no method throws at any offset of any text", slow(), (t) => {
  const queries = ['status >= 500 and "a\\"b', "method in (GET,", "", "((((", "a".repeat(300)];
  const templates = ["<p>{{.Variables.a}}{{if eq .StatusCode 404}}x{{else}}{{end}}", "{{", "{{if (", '{{ "'];
  const configs = [
    WHOLE,
    EMPTY_SECTIONS,
    "",
    "{",
    "[",
    '"',
    "nul",
    '{"a',
    '{"redirects":{"/:a/*":{"location":"/:',
    "\ufeff{}",
  ];
  const texts: [DocumentKind, string][] = [
    ...configs.map((text): [DocumentKind, string] => ["config", text]),
    ...queries.map((text): [DocumentKind, string] => ["query", text]),
    ...templates.map((text): [DocumentKind, string] => ["template", text]),
    ["ignore", "*\n!x\n"],
  ];
  // Cut off anywhere, a text is as broken as texts are while they are typed.
  for (let end = 0; end < WHOLE.length; end += 7) texts.push(["config", WHOLE.slice(0, end)]);
  const thrown: string[] = [];
  const positional = methods().filter(({ method }) => /completion|hover|signature|definition|ighlight/i.test(method));
  t.ok(positional.length >= 3, "the methods are there");
  for (const [kind, text] of texts) {
    const document = documentOf(text, kind);
    const project = projectOf(FILES, () => document);
    const step = text.length > 400 && kind === "config" && text !== WHOLE ? 29 : 1;
    try {
      diagnosticsOf(document, project);
      for (let offset = 0; offset <= text.length; offset += step) {
        const params = { position: document.positionAt(offset), textDocument: { uri: document.uri } };
        for (const { answer } of positional) answer({ document, project, client: CLIENT, params });
      }
    } catch (error) {
      thrown.push(`${JSON.stringify(text.slice(-60))}: ${(error as Error).stack}`);
    }
  }
  t.same(thrown, []);
  t.end();
});
