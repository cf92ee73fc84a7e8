// The import directions of the architecture, read from the sources: what may import what, and what is absent where.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

const ALLOWED: Record<string, readonly string[]> = {
  grammar: [],
  schema: ["grammar"],
  "language-server": ["grammar", "schema"],
  runtime: ["grammar", "schema"],
  logservice: ["grammar", "schema"],
  cli: ["grammar", "schema", "language-server", "runtime", "logservice"],
  "vscode-extension": ["language-server"],
};

interface Import {
  readonly file: string;
  readonly specifier: string;
}

function importsOf(folder: string): Import[] {
  const imports: Import[] = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.(tsx?|mjs)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    if (path.includes("node_modules")) continue;
    const source = readFileSync(path, "utf8");
    const pattern =
      /^\s*(?:import|export)\b[^'";]*?\bfrom\s+["']([^"']+)["']|^\s*import\s+["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)|\brequire\(\s*["']([^"']+)["']\s*\)/gm;
    for (const match of source.matchAll(pattern)) {
      const specifier = match[1] ?? match[2] ?? match[3] ?? match[4];
      if (specifier !== undefined) imports.push({ file: relative(root, path), specifier });
    }
  }
  return imports;
}

for (const [folder, allowed] of Object.entries(ALLOWED)) {
  t.test(`${folder} imports of ours only: ${allowed.join(", ") || "nothing"}`, (t) => {
    for (const { file, specifier } of importsOf(folder)) {
      if (!specifier.startsWith(".")) continue;
      const target = relative(root, resolve(root, dirname(file), specifier)).split("/")[0]!;
      if (target === folder) continue;
      t.ok(allowed.includes(target), `${file} imports ${specifier}`);
    }
    t.end();
  });
}

/**
 * The files of a folder that others may import. Besides index.ts these are what would make a small bundle large if it
 * came through index.ts; the READMEs of the folders say why for each.
 */
const DOORS: Record<string, readonly string[]> = {
  grammar: [
    "did-you-mean.ts",
    "entry-id.ts",
    "entry.ts",
    "entry-id.ts",
    "hidden.ts",
    "highlight.ts",
    "deep-json.ts",
    "json-bytes.ts",
    "json-numbers.ts",
    "problem.ts",
    "visible-text.ts",
  ],
  "grammar/address": ["ip.ts", "loopback.ts", "network.ts"],
  "grammar/query": [
    "trace-lines.ts",
    "index.ts",
    "cloudwatch/filter-patterns.ts",
    "cloudwatch/platform-line.ts",
    "comments.ts",
    "edit.ts",
    "highlight.generated.ts",
    "leading-level.ts",
    "levels.ts",
    "loggers.ts",
    "read.ts",
    "reference.ts",
    "sql/columns.ts",
    "sql/condition.ts",
    "sql/query-sql.ts",
    "timestamp.ts",
    "visible.ts",
  ],
  "grammar/route": ["index.ts", "highlight.generated.ts"],
  "grammar/summary": ["index.ts", "access-line.ts"],
  "grammar/template": ["index.ts", "highlight.generated.ts"],
  "grammar/units": ["bytes.ts", "clock.ts", "duration.ts", "scale.ts"],
  schema: [
    "index.ts",
    "as-config.ts",
    "checks/domain.ts",
    "html.ts",
    "json.ts",
    "languages.ts",
    "log-parts.ts",
    "notification-members.ts",
    "openapi.ts",
    "profiles.ts",
    "project-id.ts",
    "rpc-answer-shape.ts",
    "rpc-answers.generated.ts",
    "rpc-client.ts",
    "rpc-reference.ts",
    "rpc-schema.generated.ts",
    "rpc-schema.ts",
    "rpc-validate.generated.js",
    "rpc.generated.ts",
    "rules.ts",
    "shape.ts",
    "statement.ts",
  ],
  "schema/ignore": ["index.ts"],
};

for (const [folder, doors] of Object.entries(DOORS)) {
  t.test(`${folder} is imported by its doors only`, (t) => {
    const used = new Set<string>();
    const refused: string[] = [];
    for (const { file, specifier } of Object.keys(ALLOWED).flatMap(importsOf)) {
      if (!specifier.startsWith(".") || file.startsWith(`${folder}/`)) continue;
      const target = relative(root, resolve(root, dirname(file), specifier));
      // The innermost folder that has doors decides.
      const owner = Object.keys(DOORS).findLast((it) => target.startsWith(`${it}/`));
      if (owner !== folder) continue;
      const door = target.slice(folder.length + 1);
      if (!doors.includes(door)) refused.push(`${file} imports ${specifier}`);
      used.add(door);
    }
    t.same(refused, [], `import one of ${doors.join(", ")}`);
    t.same(
      doors.filter((door) => !used.has(door)),
      [],
      "each door is used",
    );
    t.end();
  });
}

t.test("grammar and schema run without node", (t) => {
  for (const { file, specifier } of [...importsOf("grammar"), ...importsOf("schema")]) {
    // The generator writes the files that the schema is made into.
    if (file === "schema/generate.ts" || file.startsWith("grammar/build/")) continue;
    // Statements are signed by the service and verified by the command; no editor reads them.
    if (file === "schema/statement.ts" && specifier === "node:crypto") continue;
    t.notMatch(specifier, /^node:/, `${file} imports ${specifier}`);
  }
  t.end();
});

t.test("the AWS SDK is imported below cli/aws only, and its types in the sandbox, which answers it", (t) => {
  for (const folder of Object.keys(ALLOWED)) {
    for (const { file, specifier } of importsOf(folder)) {
      if (!/^@(aws-sdk|smithy)\//.test(specifier)) continue;
      if (specifier.startsWith("@aws-sdk/")) t.match(file, /^cli\/(aws|sandbox)\//, `${file} imports ${specifier}`);
      if (!file.startsWith("cli/sandbox/")) continue;
      const source = readFileSync(join(root, file), "utf8").replaceAll(/^import type [^;]*;$/gm, "");
      t.notOk(source.includes(`"${specifier}"`), `${file} imports types of ${specifier} only`);
    }
  }
  t.end();
});

t.test("DuckDB is imported below logservice/events only, and late", (t) => {
  for (const folder of Object.keys(ALLOWED)) {
    for (const { file, specifier } of importsOf(folder)) {
      if (specifier !== "@duckdb/node-api") continue;
      t.match(file, /^logservice\/events\//, `${file} imports ${specifier}`);
      const source = readFileSync(join(root, file), "utf8");
      t.notMatch(source, /^import (?!type ).*"@duckdb\/node-api"/m, `${file} loads it with the first store`);
    }
  }
  t.end();
});

// The replay of alerts needs no data directory, which is all that admin.ts is about.
const SERVICE_DOORS = ["logservice/admin.ts", "logservice/preview-entries.ts"];

t.test("the command imports the doors of the log service only", (t) => {
  for (const { file, specifier } of importsOf("cli")) {
    const target = relative(root, resolve(root, dirname(file), specifier));
    // The processes that cli/build/bundle.mjs bundles are no imports: they run by themselves.
    if (target.startsWith("logservice/")) t.ok(SERVICE_DOORS.includes(target), `${file} imports ${specifier}`);
  }
  t.end();
});

t.test("the LSP transport is imported by language-server/{node,browser}.ts only", (t) => {
  for (const { file, specifier } of importsOf("language-server")) {
    if (/^vscode-(languageserver-protocol|jsonrpc)(\/|$)/.test(specifier)) t.fail(`${file} imports ${specifier}`);
    const entry = /^vscode-languageserver\/(.*)$/.exec(specifier)?.[1];
    if (entry !== undefined) t.equal(file, `language-server/${entry}.ts`, `${file} imports ${specifier}`);
    if (specifier !== "vscode-languageserver") continue;
    const source = readFileSync(join(root, file), "utf8");
    const typesOnly = source.replace(/^import type [^"]*"vscode-languageserver";$/gm, "");
    t.notMatch(typesOnly, /"vscode-languageserver"/, `${file} imports types of ${specifier} only`);
  }
  t.end();
});

t.test("the language server knows Node in language-server/node*.ts only", (t) => {
  for (const { file, specifier } of importsOf("language-server")) {
    if (specifier.startsWith("node:") || /\/node(-\w+)*\.ts$/.test(specifier)) {
      t.match(file, /^language-server\/node(-\w+)*\.ts$/, `${file} imports ${specifier}`);
    }
  }
  t.end();
});

t.test("the editor's interface is imported by vscode-extension only, and the server by its thread only", (t) => {
  for (const folder of Object.keys(ALLOWED)) {
    for (const { file, specifier } of importsOf(folder)) {
      if (/^vscode(-languageclient(\/.*)?)?$/.test(specifier)) {
        t.match(file, /^vscode-extension\//, `${file} imports ${specifier}`);
        t.notMatch(file, /server-worker\.ts$/, `a thread has no ${specifier}`);
      }
      if (folder === "vscode-extension" && specifier.startsWith("../")) {
        const owner = specifier.endsWith("/node.ts")
          ? "server-worker"
          : specifier.endsWith("/browser.ts")
            ? "web-server-worker"
            : specifier.endsWith("/query-file.ts")
              ? "logs-command"
              : "run-for-server";
        t.equal(file, `vscode-extension/${owner}.ts`, `${file} imports ${specifier}`);
        // The code that the thread is asked to run, how a program is run, and the query of a file's text: nothing of the
        // server itself.
        t.match(specifier, /^\.\.\/language-server\/(node|browser|node-program|host|service\/query-file)\.ts$/);
      }
    }
  }
  t.end();
});

// A folder's children are its files and folders, each folder with all that is below it.
t.test("no circle between the files and folders of a folder, type imports counted", (t) => {
  const folders = [...Object.keys(ALLOWED), "test"];
  const graphs = siblingGraphs(folders.flatMap(importsOf));
  for (const folder of folders) t.ok(graphs.has(folder), `${folder} was read`);
  for (const [folder, graph] of graphs) {
    t.same(circleIn(graph)?.join(" -> "), undefined, `${folder} has no circle`);
  }
  t.end();
});

t.test("a circle is found, and told with its files", (t) => {
  const of = (...pairs: readonly (readonly [string, string])[]) =>
    [...siblingGraphs(pairs.map(([file, specifier]) => ({ file, specifier }))).values()].flatMap(
      (graph) => circleIn(graph)?.join(" -> ") ?? [],
    );
  t.same(of(["a/x.ts", "./y.ts"], ["a/y.ts", "./z.ts"]), []);
  t.same(of(["a/x.ts", "./y.ts"], ["a/y.ts", "./x.ts"]), ["a/x.ts -> a/y.ts -> a/x.ts"]);
  t.same(of(["a/b/x.ts", "../c/y.ts"], ["a/c/z.ts", "../b/w.ts"]), ["a/b -> a/c -> a/b"], "between folders");
  t.same(of(["a/x.ts", "./b/y.ts"], ["a/b/z.ts", "../x.ts"]), ["a/x.ts -> a/b -> a/x.ts"], "of a file and a folder");
  t.same(of(["a/main.ts", "./b/y.ts"], ["a/b/z.ts", "../io.ts"]), [], "a folder between two files");
  t.end();
});

/** Which child of a folder imports which: by folder, and by child. */
function siblingGraphs(imports: readonly Import[]): Map<string, Map<string, Set<string>>> {
  const graphs = new Map<string, Map<string, Set<string>>>();
  for (const { file, specifier } of imports) {
    if (!specifier.startsWith(".")) continue;
    const from = file.split("/");
    const to = relative(root, resolve(root, dirname(file), specifier)).split("/");
    const depth = from.findIndex((part, index) => part !== to[index]);
    if (depth < 1) continue;
    const folder = from.slice(0, depth).join("/");
    const [child, other] = [from, to].map((path) => path.slice(0, depth + 1).join("/")) as [string, string];
    const graph = graphs.get(folder) ?? new Map<string, Set<string>>();
    graphs.set(folder, graph);
    graph.set(child, (graph.get(child) ?? new Set()).add(other));
  }
  return graphs;
}

/** The first circle that a walk meets, its first child again at its end. */
function circleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const walk = (child: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(child)) return [...path.slice(path.indexOf(child)), child];
    if (done.has(child)) return undefined;
    done.add(child);
    for (const next of graph.get(child) ?? []) {
      const circle = walk(next, [...path, child]);
      if (circle !== undefined) return circle;
    }
    return undefined;
  };
  for (const child of graph.keys()) {
    const circle = walk(child, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

t.test("the reader of imports sees every form", (t) => {
  const here = importsOf("test").filter(({ file }) => file === "test/boundaries.test.ts");
  t.same(
    here.map(({ specifier }) => specifier),
    ["node:fs", "node:path", "node:url", "tap"],
  );
  t.end();
});
