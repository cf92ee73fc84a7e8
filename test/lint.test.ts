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
  ])
    t.ok(sqlIn(path, text).length > 0, text);
  for (const text of [
    'db.selectFrom("teams").selectAll()',
    "const { results } = await events.sql({ text });",
    "statement of SQL",
  ])
    t.same(sqlIn(path, text), [], text);
  t.same(sqlIn("logservice/records/sqlite.ts", 'database.prepare("select 1")'), [], "the driver");
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
