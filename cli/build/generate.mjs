// Makes the generated files from their sources: each .ohm file becomes an Ohm bundle beside it,
// schema/tool.schema.json becomes types, a validator and embedded text (schema/generate.ts).
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const require = createRequire(import.meta.url);
const ohm = require("ohm-js");

const grammars = ["grammar/query/query.ohm", "grammar/route/route.ohm", "grammar/template/template.ohm"];
for (const path of grammars) {
  const file = join(root, path);
  if (!existsSync(file)) continue;
  // The recipe loads in a fraction of the time that parsing the .ohm text would take.
  const recipe = ohm.grammar(readFileSync(file, "utf8")).toRecipe();
  write(
    `${file.slice(0, -4)}.generated.ts`,
    `import * as ohm from "ohm-js";\n\n` +
      `/** The grammar of ${path}. Made on the first call: loading this file runs nothing. */\n` +
      `export function loadGrammar(): ohm.Grammar {\n  loaded ??= makeRecipe(recipe);\n  return loaded;\n}\n\n` +
      `let loaded: ohm.Grammar | undefined;\n\n` +
      `// Exported by ohm-js, missing in its types.\n` +
      `const { makeRecipe } = ohm as unknown as { makeRecipe(recipe: unknown): ohm.Grammar };\n\n` +
      `const recipe: unknown = ${recipe.trim()};\n`,
  );
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

/** Leaves the file alone where nothing changed, so that incremental builds see no new time stamp. */
function write(file, text) {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  writeFileSync(file, text);
}
