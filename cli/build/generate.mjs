// Makes the generated files from their sources: each .ohm file becomes an Ohm bundle beside it,
// schema/tool.schema.json becomes types, a validator and embedded text (schema/generate.ts).
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const require = createRequire(import.meta.url);
const ohm = require("ohm-js");

// Each grammar becomes a recipe, from which Ohm loads it in a fraction of the time that its text would take; those whose
// rules have actions become a parser of their own as well.
const grammars = [
  { path: "grammar/query/query.ohm", actions: "actions.ts", starts: ["Query"] },
  { path: "grammar/route/route.ohm" },
  { path: "grammar/template/template.ohm" },
];
const { compileGrammar } = await load("grammar/build/compile.ts");
for (const { path, actions, starts } of grammars) {
  const file = join(root, path);
  const grammar = ohm.grammar(readFileSync(file, "utf8"));
  write(
    `${file.slice(0, -4)}.generated.ts`,
    `import * as ohm from "ohm-js";\n\n` +
      `/** The grammar of ${path}. Made on the first call: loading this file runs nothing. */\n` +
      `export function loadGrammar(): ohm.Grammar {\n  loaded ??= makeRecipe(recipe);\n  return loaded;\n}\n\n` +
      `let loaded: ohm.Grammar | undefined;\n\n` +
      `// Exported by ohm-js, missing in its types.\n` +
      `const { makeRecipe } = ohm as unknown as { makeRecipe(recipe: unknown): ohm.Grammar };\n\n` +
      `const recipe: unknown = ${grammar.toRecipe().trim()};\n`,
  );
  if (!actions) continue;
  const module = await load(join(path, "..", actions));
  const lengths = Object.fromEntries(Object.entries(module.actions).map(([rule, action]) => [rule, action.length]));
  const source = compileGrammar({ grammar, actions: lengths, starts, actionsPath: `./${actions}`, grammarPath: path });
  write(`${file.slice(0, -4)}-parser.generated.ts`, source);
}

if (existsSync(join(root, "grammar/query/regex.ts"))) {
  // The regular expressions of queries: a large package that few queries need. A function around it costs its scan
  // (3 ms where a plain import takes 12) and, unlike import(), answers at once, in the browser too.
  const re2 = await build({
    stdin: { contents: `export { RE2JS, RE2JSSyntaxException } from "re2js";`, resolveDir: root },
    bundle: true,
    format: "cjs",
    target: "es2022",
    minify: true,
    write: false,
    logLevel: "warning",
  });
  write(
    join(root, "grammar/query/re2.generated.ts"),
    `// @ts-nocheck\n` +
      `/** The package re2js, evaluated on the first call. */\n` +
      `export function loadRe2(): Pick<typeof import("re2js"), "RE2JS" | "RE2JSSyntaxException"> {\n` +
      `  loaded ??= evaluate();\n  return loaded;\n}\n\nlet loaded;\n\n` +
      `function evaluate() {\nconst module = { exports: {} };\n${re2.outputFiles[0].text}\nreturn module.exports;\n}\n`,
  );
}

if (existsSync(join(root, "schema/generate.ts"))) {
  const outfile = join(root, "dist/build/generate-schema.mjs");
  await build({
    entryPoints: [join(root, "schema/generate.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile,
    logLevel: "warning",
  });
  execFileSync(process.execPath, [outfile, join(root, "schema")], { stdio: "inherit" });
}

/** The exports of a TypeScript module of ours. */
async function load(path) {
  const outfile = join(root, "dist/build", path.replace(/\.ts$/, ".mjs"));
  await build({
    entryPoints: [join(root, path)],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
    logLevel: "warning",
  });
  return import(pathToFileURL(outfile).href);
}

/** Leaves the file alone where nothing changed, so that incremental builds see no new time stamp. */
function write(file, text) {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  writeFileSync(file, text);
}
