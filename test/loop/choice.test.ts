// Which tests `npm run t` chooses for a file, and that its tables have every vector file, app, fixture, command and page.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import * as graph from "../mutate/imports.ts";
import { root } from "../support/cli.ts";

interface Choice {
  readonly test: string;
  readonly steps: number;
  readonly isOwn: boolean;
  readonly seconds: number;
}
type Tables = Readonly<Record<"DATA" | "COMMANDS" | "UI_FOLDERS", Readonly<Record<string, readonly string[]>>>>;

const load = (name: string) => import(pathToFileURL(join(root, "test/loop", name)).href);
const { DATA, COMMANDS, UI_FOLDERS } = (await load("tables.mjs")) as Tables;
const { chooser, ordered, withinBudget } = await load("choice.mjs");
const { FOLDERS: folders } = await load("transpile.mjs");
const { ofFiles, ofWord, leftOut, imports } = chooser(root, graph, { folders });
const slow = chooser(root, graph, { folders, isSlow: true });
const chosen = (lists: unknown[]): string[] =>
  (withinBudget(ordered(lists), 2) as Choice[]).map(({ test }) => test.replace(/^test\/|\.test\.ts$/g, ""));

t.test("the first tests of a source, and others that are among them", (t) => {
  for (const [file, first, others] of [
    // Sources: the nearest of the own room.
    ["grammar/route/print.ts", ["grammar/route/route"], ["language-server/language-server"]],
    ["grammar/units/clock.ts", [], ["boundaries"]],
    ["cli/logs/scan-worker.ts", [], ["cli/logs/scan", "cli/logs/logs", "cli/logs/logs-threads"]],
    ["cli/output/aligned-table.ts", [], ["cli/cli"]],
    ["runtime/lambda/bootstrap.ts", [], ["runtime/lambda/lambda-lifecycle", "runtime/lambda/lambda-events"]],
    ["logservice/events/duckdb/flusher-process.ts", [], ["logservice/events/events-flush"]],
    ["language-server/service/hover.ts", [], ["language-server/language-server"]],
    ["vscode-extension/logs-view.ts", [], ["vscode-extension/extension"]],
    ["schema/slips.ts", [], ["schema/config", "schema/mutants"]],
    // The tests of what is generated of it.
    ["grammar/query/query.ohm", [], ["grammar/query/query", "grammar/query/query-pipes", "grammar/build/highlight"]],
    ["grammar/route/highlight.ts", [], ["grammar/build/highlight", "vscode-extension/extension"]],
    ["grammar/build/compile.ts", [], ["grammar/build/parser", "grammar/route/route", "grammar/template/template"]],
    ["schema/tool.schema.json", [], ["schema/config", "language-server/language-server"]],
    ["schema/rpc.schema.json", ["logservice/service-reference", "logservice/service-contract"], []],
    ["schema/generate-rpc.ts", [], ["logservice/service-contract", "schema/config"]],
    ["cli/sandbox/cloud/protocol/operations.json", ["cli/sandbox/sandbox-model"], []],
    // Data.
    ["test/vectors/http.json", [], ["runtime/http", "runtime/http-start", "cli/sandbox/function-platform"]],
    ["test/vectors/route.json", [], ["grammar/route/route", "cli/hints", "schema/rules"]],
    ["test/vectors/query-pipes.json", [], ["grammar/query/query-pipes", "language-server/editor-stages"]],
    ["test/apps/echo/server.mjs", [], ["runtime/http", "runtime/runtime", "runtime/lambda/lambda-events"]],
    ["test/fixtures/logger-lines.json", ["cli/logs/loggers"], []],
    ["README.md", [], ["readme", "queue"]],
    ["cli/logs/STAGES.md", ["grammar/query/query-pipe-words", "grammar/query/query-pipes"], []],
    ["test/vectors/scan.json", [], ["cli/logs/scan", "loop/record"]],
    ["cli/release/install.sh", [], ["cli/release/install-script", "cli/release/upgrade"]],
    [".github/actions/setup/action.yml", ["cli/ci-jobs"], []],
    ["test/loop/flaky.mjs", [], ["queue"]],
    ["test/loop/node24.json", [], ["queue"]],
    ["test/lint/costs.mjs", [], ["queue", "lint"]],
    ["test/lint/clocks.json", ["lint"], []],
    ["vscode-extension/package.json", ["vscode-extension/extension"], []],
    // Commands: the tests that start them.
    ["cli/commands/rollback.ts", ["cli/sandbox/sandbox", "cli/aws/deploy"], ["cli/cli"]],
    ["cli/commands/team.ts", ["cli/team/team-answers", "cli/team/team-config", "cli/team/team"], ["cli/cli"]],
    ["cli/commands/env.ts", ["cli/env/env"], []],
    ["cli/commands/service-people.ts", ["logservice/service-commands"], []],
    // Pages of the web UI.
    ["logservice/ui/alerts/episodes.tsx", [], ["logservice/ui/ui-alerts", "logservice/ui/ui-clashes"]],
    ["logservice/ui/style/colors.css", [], ["logservice/ui/ui-colors", "logservice/ui/ui-size"]],
    ["logservice/ui/explorer/json-text.ts", [], ["logservice/ui/ui-json", "logservice/ui/ui-explorer"]],
    // A test, and what tests share.
    ["test/grammar/units/units.test.ts", ["grammar/units/units"], []],
    ["test/support/http-rows.ts", [], ["runtime/http", "runtime/http-start", "cli/sandbox/function-platform"]],
  ] as const) {
    t.ok(existsSync(join(root, file)), `${file} is there`);
    const tests = chosen([ofFiles([file])]);
    t.same(tests.slice(0, first.length).sort(), [...first].sort(), `${file}: ${first.join(", ")} first`);
    t.same(
      others.filter((test) => !tests.includes(test)),
      [],
      `${file}: also ${others.join(", ")}`,
    );
  }
  t.end();
});

t.test("words", (t) => {
  const word = (text: string, by = ofWord): string[] | string => {
    const { chosen: entry, why } = by(text);
    return entry === undefined ? why : chosen([entry]);
  };
  t.same(word("units"), ["grammar/units/units"]);
  t.same(word("cli"), ["cli/cli"], "a test before the folder of its name");
  t.same(word("metrics"), ["cli/aws/domains-metrics"], "a command");
  t.ok(word("argv.json").includes("cli/cli"), "a file of test/vectors");
  t.same(word("logs"), ["cli/logs/logs"], "a test of that name, not all that have it in theirs");
  t.same(word("soak"), "test/slow/soak.ts is not run by a part of its name: npm run t -- test/slow/soak.ts");
  t.same(word("test/slow/fixes.ts"), ["slow/fixes.ts"]);
  t.same(word("slow/fixes"), ["slow/fixes.ts"], "as a run that failed names it");
  t.same(word("fixes", slow.ofWord), ["slow/fixes.ts"]);
  t.ok(word("test/cli/team").includes("cli/team/team-config"), "a folder of tests");
  t.ok(word("cli/team").includes("cli/team/team-config"), "a folder of sources");
  t.same(
    word("test/fixtures/explorer-tree.txt"),
    "test/fixtures/explorer-tree.txt is of a test that is run by name: npm run t -- test/slow/ui-pages.ts",
  );
  t.same(leftOut(["test/slow/soak.ts", "test/apps/languages/Server.java", "test/clients/raw.ts", "cli/cli.ts"]), [
    "test/clients/raw.ts",
    "test/slow/deploy-lifecycle.ts",
    "test/slow/languages.ts",
    "test/slow/soak.ts",
  ]);
  t.same(slow.leftOut(["test/slow/soak.ts", "test/runtime/http.test.ts"]), []);
  t.match(word("nothing-of-that-name"), /^no test or source is named nothing-of-that-name/);
  for (const name of ["constructor", "toString", "__proto__"]) {
    t.match(word(name), new RegExp(`^no test or source is named ${name}`), `${name}, which every object has`);
  }
  for (const file of ["test/support/ui/window.ts", "schema/slips.ts", "test/slow/fixes.ts"]) {
    t.notOk(
      (ofFiles([file]) as Choice[]).some(({ test }) => test.startsWith("test/slow/")),
      `${file}: nothing slow`,
    );
  }
  t.ok(
    (slow.ofFiles(["test/vectors/config-faults.json"]) as Choice[]).some(({ test }) => test === "test/slow/fixes.ts"),
  );
  t.end();
});

t.test("the tables have everything", (t) => {
  const inFolder = (folder: string) => readdirSync(join(root, folder), { withFileTypes: true });
  for (const folder of ["test/vectors", "test/apps", "test/fixtures"]) {
    const names = inFolder(folder).filter(({ name }) => !name.endsWith(".md"));
    for (const entry of names) {
      const key = `${folder}/${entry.name}${entry.isDirectory() ? "/" : ""}`;
      t.ok(key in DATA, `${key} is in the table of data`);
    }
  }
  const commands = inFolder("cli/commands").map(({ name }) => name.replace(/\.ts$/, ""));
  t.same(Object.keys(COMMANDS).sort(), commands.sort(), "each command");
  const pages = inFolder("logservice/ui").flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  t.same(Object.keys(UI_FOLDERS).sort(), pages.sort(), "each folder of the web UI");
  for (const path of Object.keys(DATA)) t.ok(existsSync(join(root, path)), `${path} of the table is there`);
  t.end();
});

t.test("each test of the tables reads what it is listed for", (t) => {
  const textOf = new Map<string, string>();
  const reads = (test: string, ...names: (string | RegExp)[]) => {
    if (!textOf.has(test)) {
      const files = graph.reachedFrom(imports, test).filter((file) => file.startsWith("test/"));
      const there = files.filter((file) => existsSync(join(root, file)));
      textOf.set(test, there.map((file) => readFileSync(join(root, file), "utf8")).join("\n"));
    }
    const text = textOf.get(test) ?? "";
    return names.some((name) => (typeof name === "string" ? text.includes(name) : name.test(text)));
  };
  for (const [path, tests] of Object.entries(DATA)) {
    const [, folder = "", name = ""] = /^(?:(.*)\/)?([^/]+)\/?$/.exec(path) ?? [];
    // By a name that is made of parts: vectors(`${name}.json`), fixture("localhost.cert.pem"), /^http(-[\w-]+)?\.json$/.
    const parts = name.replace(/\.(?:cert|key)\.pem$/, "").replace(/^http(?:-.*)?\.json$/, "http(-[");
    // A program that the rows of the vectors name.
    const isApp = folder === "test/apps" && tests.some((test) => test === "test/runtime/http.test.ts");
    for (const test of tests) {
      if (!t.ok(existsSync(join(root, test)), `${test} is there`)) continue;
      if (path.startsWith("cli/build/") || path === "test/loop/" || path.startsWith("schema/")) continue;
      t.ok(reads(test, parts, ...(isApp ? ["http(-["] : [])), `${test} reads ${path}`);
    }
  }
  for (const [command, tests] of Object.entries(COMMANDS)) {
    const word = /^service-/.test(command) ? "service" : command;
    const vectors = readFileSync(join(root, "test/vectors/argv.json"), "utf8");
    for (const test of tests) {
      const start = new RegExp(`["'\`] ?(?:tool )?${word}(?:["'\` ])`);
      t.ok(reads(test, start) || start.test(vectors), `${test} names ${command}`);
    }
  }
  for (const tests of Object.values(UI_FOLDERS)) for (const test of tests) t.ok(existsSync(join(root, test)), test);
  t.end();
});

t.test("what a test reads by its path leads to that test", (t) => {
  const isData = (path: string) => existsSync(path) && !/\.(?:[cm]?ts|tsx|mjs)$/.test(path);
  for (const test of [...imports.keys()].filter((file) => file.endsWith(".test.ts")).sort()) {
    const text = readFileSync(join(root, test), "utf8");
    const paths = new Set(
      [...text.matchAll(/join\(root, "(?!\.\.\/|dist\/|test\/)([^"]*)"[,)]/g)].map(([, path = ""]) => path),
    );
    for (const path of paths) {
      // All files of a folder; one that has sources is for the imports to tell.
      const entries = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()
        ? readdirSync(join(root, path), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
        : undefined;
      const files = entries?.map((entry) => relative(root, join(entry.parentPath, entry.name))) ?? [path];
      if (!files.every((file) => isData(join(root, file)))) continue;
      const missing = files.filter((file) => !(ofFiles([file]) as Choice[]).some((one) => one.test === test));
      t.same(missing, [], `${test} reads ${path}`);
    }
  }
  t.end();
});

t.test("no test that reads a vector file is missing from its row", (t) => {
  for (const [path, tests] of Object.entries(DATA)) {
    const name = /^test\/vectors\/(.+\.json)$/.exec(path)?.[1];
    if (name === undefined) continue;
    for (const test of [...imports.keys()].filter(
      (file: string) => file.endsWith(".test.ts") && !file.startsWith("test/loop/"),
    )) {
      const text = readFileSync(join(root, test), "utf8");
      if (!new RegExp(`vectors/${name}["\`]`).test(text)) continue;
      t.ok(tests.includes(test), `${test} is in the row of ${name}`);
    }
  }
  t.end();
});
