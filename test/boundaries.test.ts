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
  const found: Import[] = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.(ts|mjs)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    if (path.includes("node_modules")) continue;
    const source = readFileSync(path, "utf8");
    const pattern =
      /^\s*(?:import|export)\b[^'";]*?\bfrom\s+["']([^"']+)["']|^\s*import\s+["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)|\brequire\(\s*["']([^"']+)["']\s*\)/gm;
    for (const match of source.matchAll(pattern)) {
      const specifier = match[1] ?? match[2] ?? match[3] ?? match[4];
      if (specifier !== undefined) found.push({ file: relative(root, path), specifier });
    }
  }
  return found;
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

t.test("grammar and schema run without node", (t) => {
  for (const { file, specifier } of [...importsOf("grammar"), ...importsOf("schema")]) {
    // The generator writes the files that the schema is made into.
    if (file === "schema/generate.ts" || file.startsWith("grammar/build/")) continue;
    t.notMatch(specifier, /^node:/, `${file} imports ${specifier}`);
  }
  t.end();
});

t.test("the AWS SDK is imported below cli/aws only", (t) => {
  for (const folder of Object.keys(ALLOWED)) {
    for (const { file, specifier } of importsOf(folder)) {
      if (specifier.startsWith("@aws-sdk/")) t.match(file, /^cli\/aws\//, `${file} imports ${specifier}`);
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
      if (/^vscode(-languageclient\/.*)?$/.test(specifier)) {
        t.match(file, /^vscode-extension\//, `${file} imports ${specifier}`);
        t.not(file, "vscode-extension/server-worker.ts", `a thread has no ${specifier}`);
      }
      if (folder === "vscode-extension" && specifier.startsWith("../")) {
        t.equal(file, "vscode-extension/server-worker.ts", `${file} imports ${specifier}`);
      }
    }
  }
  t.end();
});

t.test("the reader of imports sees every form", (t) => {
  const here = importsOf("test").filter(({ file }) => file === "test/boundaries.test.ts");
  t.same(
    here.map(({ specifier }) => specifier),
    ["node:fs", "node:path", "node:url", "tap"],
  );
  t.end();
});
