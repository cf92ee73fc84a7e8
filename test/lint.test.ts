// The checks of `npm run lint` that are ours: words that a native reader stumbles over, and code that nothing uses.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import { root } from "./support/cli.ts";

const load = (name: string) => import(pathToFileURL(join(root, "test/lint", name)).href);

t.test("plain English", async (t) => {
  const { placesIn } = await load("english.mjs");
  const isFound = (text: string) => placesIn(text).length > 0;
  for (const text of [
    "/** Of the zip. */",
    "  // Of a stage, its name.",
    "/** Size in bytes. Of the largest file. */",
    "// The port stands in the URL.",
    "// Where the file lies.",
    "The lines that stood before.",
    "// Bytes behind the end.",
  ]) {
    t.ok(isFound(text), text);
  }
  for (const text of [
    "/** Size of the zip in bytes. */",
    "// An app behind the proxy.",
    "Runs behind API Gateway.",
    "// A stand-in for the cloud.",
    "`*` stands for any text.",
    "// A reader that falls behind.",
    "const understand = outstanding(standard);",
    "// Of course.".replace("Of course", "It is one of them"),
  ]) {
    t.notOk(isFound(text), text);
  }
  t.same(placesIn('t.test("what lies there")', true), [], "a test's texts");
  t.ok(placesIn("ok(); // What lies there.", true).length === 1, "a test's comments");
  t.same(
    placesIn("fine\n// It lies here.\n").map(({ line }: { line: number }) => line),
    [2],
    "says the line",
  );
});

t.test("records without text of SQL", async (t) => {
  const { sqlIn } = await load("records-sql.mjs");
  const path = "logservice/records/teams.ts";
  for (const text of [
    'import { type Kysely, sql } from "kysely";',
    "const later = sql<string>`max(a, b)`;",
    "sql.raw(text);",
    "db.executeQuery(CompiledQuery.raw(text));",
    'database.prepare("select 1");',
    "query.modifyEnd(sql`for update`)",
    "await db.transaction().execute(change);",
  ])
    t.ok(sqlIn(path, text).length > 0, text);
  for (const text of [
    'db.selectFrom("teams").selectAll()',
    "const { results } = await events.sql({ text });",
    "statement of SQL",
  ])
    t.same(sqlIn(path, text), [], text);
  t.same(sqlIn("logservice/records/sqlite.ts", 'database.prepare("select 1")'), [], "the driver");
  t.same(sqlIn("logservice/records/transact.ts", "db.transaction().execute(work)"), [], "what begins transactions");
  t.match(sqlIn(path, "one\ntwo\nsql`x`"), [{ line: 3 }]);
});

t.test("dead code", async (t) => {
  const { findDeadCode } = await load("dead-code.mjs");
  const rows: [name: string, files: Record<string, string>, findings: string[]][] = [
    [
      "an export that nobody imports",
      { "cli/main.ts": 'import { a } from "./x.ts";', "cli/x.ts": "export const a = 1;\nexport const b = 2;" },
      ["cli/x.ts: nothing imports b"],
    ],
    ["a file that nobody imports", { "cli/x.ts": "const a = 1;" }, ["cli/x.ts: nothing imports this file"]],
    [
      "files that import only each other",
      {
        "cli/x.ts": 'import { b } from "./y.ts";\nexport const a = b;',
        "cli/y.ts": 'import { a } from "./x.ts";\nexport const b = a;',
      },
      [
        "cli/x.ts: no command, build or test reaches this file",
        "cli/y.ts: no command, build or test reaches this file",
      ],
    ],
    [
      "a re-export that nobody imports",
      {
        "cli/main.ts": 'import { a } from "./index.ts";',
        "cli/index.ts": 'export { a, type B } from "./x.ts";',
        "cli/x.ts": "export const a = 1;\nexport type B = number;",
      },
      ["cli/index.ts: nothing imports B"],
    ],
    [
      "late imports name what they take",
      {
        "cli/main.ts":
          'const { a } = await import("./x.ts");\n(await import("./y.ts")).c();\nvoid import("./z.ts").then(({ e }) => e());',
        "cli/x.ts": "export const a = 1;\nexport const b = 2;",
        "cli/y.ts": "export const c = 1;\nexport const d = 2;",
        "cli/z.ts": "export const e = 1;\nexport const f = 2;",
      },
      ["cli/x.ts: nothing imports b", "cli/y.ts: nothing imports d", "cli/z.ts: nothing imports f"],
    ],
    [
      "a type of a used function's signature",
      {
        "cli/main.ts": 'import { f } from "./x.ts";',
        "cli/x.ts":
          "export interface Options {\n}\nexport function f(options: Options) {}\nexport interface Unused {\n}",
      },
      ["cli/x.ts: nothing imports Unused"],
    ],
    [
      "all of a namespace, and an import in a comment",
      {
        "cli/main.ts": 'import * as x from "./x.ts";\n// import { c } from "./y.ts";\nimport "./y.ts";',
        "cli/x.ts": "export const a = 1;",
        "cli/y.ts": "export {};",
      },
      [],
    ],
    [
      "a test may use anything",
      { "test/x.test.ts": 'import { a } from "../cli/x.ts";', "cli/x.ts": "export const a = 1;" },
      [],
    ],
  ];
  for (const [name, files, findings] of rows) t.same(findDeadCode(new Map(Object.entries(files))), findings, name);
});

t.test("functions that are too long", async (t) => {
  const { longFunctionsIn } = await load("ratchets.mjs");
  /** So many lines, each with types and comments that are gone once it is compiled. */
  const lines = (count: number) => "  // A comment.\n".repeat(count - 1).concat("  let x: number;\n");
  const rows: [name: string, path: string, text: string, long: Record<string, number>][] = [
    ["101 lines", "cli/x.ts", `function f(a: string): void {\n${lines(99)}}\n`, { f: 101 }],
    ["100 lines", "cli/x.ts", `function f(a: string): void {\n${lines(98)}}\n`, {}],
    ["100 lines in a longer file", "cli/x.ts", `interface A {\n  a: 1;\n}\n\nfunction f() {\n${lines(98)}}\n`, {}],
    ["101 lines below types", "cli/x.ts", `interface A {\n  a: 1;\n}\n\nfunction f() {\n${lines(99)}}\n`, { f: 101 }],
    ["an arrow", "cli/x.ts", `export const f = (\n  a: string,\n) => {\n${lines(99)}};\n`, { f: 103 }],
    ["a method", "cli/x.ts", `class A {\n  #a = 1;\n  f(): void {\n${lines(99)}  }\n}\n`, { "A.f": 101 }],
    ["a member of an object", "cli/x.ts", `const a = {\n  f() {\n${lines(99)}  },\n};\n`, { f: 101 }],
    [
      "a callback",
      "cli/x.ts",
      `function f() {\n  g(() => {\n${lines(99)}  });\n}\n`,
      { "a callback in f": 101, f: 103 },
    ],
    ["a component", "cli/x.tsx", `function F() {\n${lines(99)}  return <b>{1}</b>;\n}\n`, { F: 102 }],
    ["a class of short methods", "cli/x.ts", `class A {\n  f() {\n${lines(60)}  }\n  g() {\n${lines(60)}  }\n}\n`, {}],
  ];
  for (const [name, path, text, long] of rows) {
    t.same(Object.fromEntries(await longFunctionsIn(path, text)), long, name);
  }
});

t.test("names that several files export", async (t) => {
  const { sharedNamesIn } = await load("ratchets.mjs");
  const rows: [name: string, files: Record<string, string>, shared: Record<string, string[]>][] = [
    [
      "types and values",
      {
        "cli/x.ts": "export interface Place {}\nexport const most = 1;",
        "cli/y.ts": "export type Place = 1;\nexport async function most() {}",
      },
      { Place: ["cli/x.ts", "cli/y.ts"], most: ["cli/x.ts", "cli/y.ts"] },
    ],
    ["in one file alone", { "cli/x.ts": "export const a = 1;", "cli/y.ts": "export const b = 1;" }, {}],
    ["twice in a file", { "cli/x.ts": "export function f(a: 1): void;\nexport function f(a: 2): void;" }, {}],
    ["not exported by one", { "cli/x.ts": "export const a = 1;", "cli/y.ts": "const a = 1;" }, {}],
    ["passed on by one", { "cli/x.ts": "export const a = 1;", "cli/y.ts": 'export { a } from "./x.ts";' }, {}],
  ];
  for (const [name, files, shared] of rows) {
    t.same(Object.fromEntries(sharedNamesIn(Object.entries(files))), shared, name);
  }
});

t.test('comments that open with "What"', async (t) => {
  const { whatCommentsIn } = await load("ratchets.mjs");
  for (const text of [
    "/** What it is. */",
    "// What it is.",
    "  // What it is.",
    "x(); // What it is.",
    "/**\n * What it is.\n */",
    "x();\n// What it is.",
  ])
    t.equal(whatCommentsIn(text), 1, text);
  for (const text of [
    "/** Says what it is. */",
    "// Whatever it is.",
    "// It is a comment.\n// What follows is a part of it.",
    "/**\n * It is a comment.\n * What follows is a part of it.\n */",
    'const url = "https://What is this";',
  ])
    t.equal(whatCommentsIn(text), 0, text);
  t.equal(whatCommentsIn("// What it is.\nx();\n// What it was.\n"), 2, "counts them");
});

t.test("declarations that are named by a participle", async (t) => {
  const { participlesIn } = await load("ratchets.mjs");
  for (const text of [
    "const found = 1;",
    "let told: string;",
    "for (const known of all) {}",
    "const { found, rest } = lookUp();",
    "const { name, known = 1 } = lookUp();",
    "const { name: found } = lookUp();",
    "const [first, found] = all;",
    "interface Found {}",
    "export type Asked = string;",
    "function told() {}",
    "interface A {\n  readonly known: string;\n}",
    "interface A {\n  known?: string;\n}",
    "interface A { found: string; }",
    "interface A {\n  told(text: string): void;\n}",
    "class A {\n  readonly #asked: string;\n}",
    "class A {\n  #told = 1;\n}",
    "function f(known: string) {}",
    "function f(a: { b: 1 }, known?: string) {}",
    "function f(\n  a: string,\n  asked: string,\n) {}",
    "function f(a, ...found) {}",
    "export function f(found, listed) {}",
    "function f({ known }: A) {}",
    "f((found) => 1);",
    "f(([a], found) => 1);",
    "f(({ name, told }) => 1);",
    "const f = (found: string): string => found;",
  ])
    t.equal(participlesIn(text), 1, text);
  for (const text of [
    "const match = found;",
    "f(found, listed);",
    "f({ known: 1, told });",
    "return { found };",
    'return {\n  known: "entries",\n};',
    "row.known = 1;",
    "row.told(text);",
    "this.#known = 1;",
    "const foundFile = 1;",
    "const isKnown = 1;",
    "const lookup = { found: 1 };",
    "const { found: match } = lookUp();",
    "for (const { name } of found) {}",
    "const a = isOpen ? found : 1;",
    "// The entries found: all.",
    "/** What is known; the rest is asked for. */",
    "found(line);",
    "const f = (name: string): Found => 1;",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a template in a text
    "f(`expected: ${a}, found: ${b}`);",
    "is known for it",
  ])
    t.equal(participlesIn(text), 0, text);
  t.equal(participlesIn("const found = 1;\nconst { known, told } = found;\n"), 3, "counts them");
});

t.test("lists that only shrink", async (t) => {
  const { compared } = await load("ratchets.mjs");
  const none = { longFunctions: {}, sharedNames: {}, whatComments: {}, participles: {} };
  const all = (length: number, files: string[], count: number) => ({
    longFunctions: length > 0 ? { "cli/x.ts": { f: length } } : {},
    sharedNames: files.length > 0 ? { A: files } : {},
    whatComments: count > 0 ? { "cli/x.ts": count } : {},
    participles: count > 0 ? { "cli/y.ts": count } : {},
  });
  const listed = all(120, ["cli/x.ts", "cli/y.ts"], 2);
  t.same(compared(listed, listed), { more: [], less: [], shrunk: listed }, "nothing changed");
  t.same(
    compared(listed, none),
    {
      more: [
        "cli/x.ts: f has 120 lines",
        "cli/x.ts: exports A, as cli/y.ts",
        "cli/y.ts: exports A, as cli/x.ts",
        'cli/x.ts: 2 comments open with "What"',
        "cli/y.ts: 2 declarations named found, known, asked or told",
      ],
      less: [],
      shrunk: none,
    },
    "new entries are not taken into the list",
  );
  t.same(
    compared(all(121, ["cli/x.ts", "cli/y.ts", "cli/z.ts"], 3), listed),
    {
      more: [
        "cli/x.ts: f has 121 lines; 120 in the list",
        "cli/z.ts: exports A, as cli/x.ts, cli/y.ts",
        'cli/x.ts: 3 comments open with "What"; 2 in the list',
        "cli/y.ts: 3 declarations named found, known, asked or told; 2 in the list",
      ],
      less: [],
      shrunk: listed,
    },
    "nor is their growth",
  );
  t.same(
    compared(none, listed),
    {
      more: [],
      less: [
        "cli/x.ts: f has at most 100 lines, not 120: take it out of the list",
        "cli/x.ts: shares no exported A: take it out of the list",
        "cli/y.ts: shares no exported A: take it out of the list",
        'cli/x.ts: 0 comments open with "What", not 2: take it out of the list',
        "cli/y.ts: 0 declarations named found, known, asked or told, not 2: take it out of the list",
      ],
      shrunk: none,
    },
    "all are gone",
  );
  t.same(
    compared(all(110, [], 1), listed),
    {
      more: [],
      less: [
        "cli/x.ts: f has 110 lines, not 120: take it out of the list",
        "cli/x.ts: shares no exported A: take it out of the list",
        "cli/y.ts: shares no exported A: take it out of the list",
        'cli/x.ts: 1 comment opens with "What", not 2: take it out of the list',
        "cli/y.ts: 1 declaration named found, known, asked or told, not 2: take it out of the list",
      ],
      shrunk: all(110, [], 1),
    },
    "some have shrunk",
  );
});

t.test("what reads a clock or waits by itself", async (t) => {
  const { placesIn } = await load("clocks.mjs");
  for (const [file, text, kinds] of [
    ["cli/a.ts", "const now = Date.now();", ["read"]],
    ["cli/a.ts", "const now = performance.now();", ["read"]],
    ["cli/a.ts", "const now = new Date();", ["read"]],
    ["cli/a.ts", "const day = new Date(ms);", []],
    ["runtime/a.ts", "setTimeout(act, 10);", ["wait"]],
    ["runtime/a.ts", "setInterval(act, 10);", ["wait"]],
    ["logservice/a.ts", "const late = AbortSignal.timeout(10);", ["wait"]],
    ["logservice/a.ts", "const timer = clock.after(10, act);", []],
    ["logservice/a.ts", "// setTimeout(act, 10) may be collected", []],
    ["grammar/units/clock.ts", "const now = Date.now();", []],
    ["logservice/ui/a.ts", "setTimeout(act, 10);", ["wait"]],
    ["logservice/ui/a/b.tsx", "const look = () => setPassed(performance.now() - sentMs);", ["read"]],
    ["vscode-extension/a.ts", "setTimeout(act, 10);", ["wait"]],
    ["cli/build/a.ts", "const now = Date.now();", []],
    ["test/a.test.ts", "await sleep(500);", ["sleep"]],
    ["test/a.test.ts", "setTimeout(act, 10);", ["sleep"]],
    ["test/a.test.ts", "t.ok(performance.now() - begin < 900);", ["bound"]],
    ["test/a.test.ts", 't.ok(tookMs < 900, "soon");', ["bound"]],
    ["test/a.test.ts", 't.ok(atMs - removedMs < MOST_MS, "soon");', ["bound"]],
    ["test/a.test.ts", "await clock.advance(900);", []],
    // By another name.
    ["cli/a.ts", "const day = new Date;", ["read"]],
    ["cli/a.ts", "const day = String(Date());", ["read"]],
    ["cli/a.ts", "const { now } = Date;", ["read"]],
    ["cli/a.ts", "const { now } = performance;", ["read"]],
    ["cli/a.ts", "const clock = globalThis.performance;", ["read"]],
    ["cli/a.ts", 'import { performance as p } from "node:perf_hooks";', ["read"]],
    ["cli/a.ts", 'const now = Date["now"]();', ["read"]],
    ["cli/a.ts", 'const now = Reflect.get(Date, "now");', ["read"]],
    ["cli/a.ts", "const upS = process.uptime();", ["read"]],
    ["cli/a.ts", 'const text = "//" + Date.now();', ["read"]],
    ["cli/a.ts", "/* at once */ const now = Date.now();", ["read"]],
    ["cli/a.ts", "  *[Symbol.iterator]() { yield Date.now(); }", ["read"]],
    ["cli/a.ts", "const isDate = value instanceof Date;", []],
    ["cli/a.ts", "function f(day: Date, other: Date): Date {", []],
    ["cli/a.ts", " * Date.now() is not read here.", []],
    ["cli/a.ts", 'import { setTimeout as wait } from "node:timers/promises";', ["wait"]],
    ["cli/a.ts", "import {\n  setTimeout as wait,\n} from 'node:timers/promises';", ["wait"]],
    ["cli/a.ts", 'import timers from "node:timers";', ["wait"]],
    ["cli/a.ts", 'import * as timers from "timers/promises";', ["wait"]],
    ["cli/a.ts", 'const timers = await import("node:timers/promises");', ["wait"]],
    ["cli/a.ts", 'import { setImmediate as turn } from "node:timers/promises";', []],
    ["cli/a.ts", "globalThis.setTimeout(act, 10);", ["wait"]],
    ["cli/a.ts", "const wait = promisify(setTimeout);", ["wait"]],
    ["cli/a.ts", 'Reflect.get(globalThis, "setTimeout")(act, 10);', ["wait"]],
    ["cli/a.ts", 'globalThis["setInterval"](act, 10);', ["wait"]],
    ["cli/a.ts", "Atomics.wait(cell, 0, 0, 10);", ["wait"]],
    ["cli/a.ts", "socket.setTimeout(0);", []],
    ["test/a.test.ts", 'import { setTimeout as wait } from "node:timers/promises";', ["sleep"]],
    ["test/a.test.ts", "import {\n  setTimeout as wait,\n} from 'node:timers/promises';", ["sleep"]],
    ["test/a.test.ts", 'import { setTimeout as sleep } from "node:timers/promises";', []],
    ["test/a.test.ts", 'import timers from "node:timers/promises";', ["sleep"]],
    ["test/a.test.ts", "globalThis.setTimeout(act, 10);", ["sleep"]],
    ["test/a.test.ts", "const wait = promisify(setTimeout);", ["sleep"]],
    ["test/a.test.ts", "const wait = setTimeout;", ["sleep"]],
    ["test/a.test.ts", 'Reflect.get(globalThis, "setTimeout")(act, 10);', ["sleep"]],
    ["test/a.test.ts", "const signal = AbortSignal.timeout(500);", ["sleep"]],
    ["test/a.test.ts", "Atomics.wait(cell, 0, 0, 10);", ["sleep"]],
    ["test/a.test.ts", "while (Date.now() < endMs) {}", ["bound"]],
    ["test/a.test.ts", "t.ok(\n  performance.now() - begin < 900,\n);", ["bound"]],
    ["test/a.test.ts", "const spent = performance.now() - begin;\nt.ok(spent < 900);", ["bound"]],
    ["test/a.test.ts", "const spent = Math.round(Date.now() - begin);\nassertSoon(spent < MOST_MS);", ["bound"]],
    ["test/a.test.ts", "const spent = performance.now() - begin;\nt.ok(spent < otherMs / 2);", []],
    ["test/a.test.ts", "const clock = () => Date.now() + 1e12;", []],
  ])
    t.same(
      placesIn(file, text).map(({ kind }: { kind: string }) => kind),
      kinds,
      `${file}: ${text}`,
    );
});

t.test("packages that need a newer Node than is promised", async (t) => {
  const { engineFaults } = await load("engines.mjs");
  const faults = (dependencies: Record<string, string>, packages: Record<string, object> = {}) =>
    engineFaults({ engines: { node: ">=20.19" }, dependencies }, { packages: { "": {}, ...packages } });
  const wants = (node?: string) => ({ version: "1.2.3", ...(node !== undefined && { engines: { node } }) });
  for (const node of [undefined, "*", ">=20.0.0", "^18 || ^20.19.0 || >=22.12", "20 || >=22", ">= 0.8"])
    t.same(faults({}, { "node_modules/a": wants(node) }), [], node ?? "any");
  for (const node of [">=22", "^20.20.0 || >=22.12", "18 || >=21"]) {
    t.same(
      faults({}, { "node_modules/x/node_modules/@a/b": wants(node) }),
      [`package-lock.json: @a/b 1.2.3 needs Node ${node}, and package.json promises 20.19.0: keep an older version`],
      node,
    );
  }
  for (const range of ["~3.1169.0", "3.1169.0", ">=3.1169.2 <3.1170.0"])
    t.same(faults({ "@aws-sdk/client-s3": range }), [], range);
  for (const range of ["^3.1169.0", ">=3.1169.0", "3.x", "<3.1300.0 >=3.1169.0", "^4.0.0"])
    t.match(
      faults({ "@aws-sdk/client-s3": range }),
      [/^package\.json: @aws-sdk\/client-s3 .* lets in versions that need a newer Node: write ~\d/],
      range,
    );
  t.same(faults({ "@preact/signals": "^2.11.4" }), []);
});
