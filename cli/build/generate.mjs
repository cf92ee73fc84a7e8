// Makes the generated files from their sources: each .ohm file becomes an Ohm bundle beside it,
// schema/tool.schema.json becomes types, a validator and embedded text (schema/generate.ts), and the SDK's clients become
// the model of the sandbox's services (sandbox-model.mjs). generated.mjs records what each of them is made of.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { recordGenerated } from "./generated.mjs";
import { bundleLatePackage, latePackages } from "./late-packages.mjs";
import { sandboxModelModule } from "./sandbox-model.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const require = createRequire(import.meta.url);
const ohm = require("ohm-js");
/** The files that each generated file is made of, all from the root. */
const inputs = new Map();
/** The sources of each module that `load` bundled. */
const inputsOfModule = new Map();

// Each grammar becomes a recipe, from which Ohm loads it in a fraction of the time that its text would take; those whose
// rules have actions become a parser of their own as well.
const grammars = [
  {
    path: "grammar/query/query.ohm",
    actions: "actions.ts",
    starts: ["Query", "Pipeline", "Pipe"],
    syntax: "toolquery",
  },
  { path: "grammar/route/route.ohm", actions: "actions.ts", starts: ["route", "location"], syntax: "toolroute" },
  { path: "grammar/template/template.ohm", actions: "actions.ts", starts: ["part"], syntax: "tooltemplate" },
];
// The grammar's text, and where each rule is in it, are for Ohm's own tools: half of the recipe's compressed size and more.
const recipeOf = (grammar) =>
  JSON.parse(grammar.toRecipe(), (key, value) => {
    const isPosition = key === "sourceInterval" || (key === "source" && typeof value === "string");
    return isPosition ? undefined : value;
  });
const { createMachine } = await load("grammar/build/highlight-machine.ts");
const { highlighterModule } = await load("grammar/build/highlight-stream.ts");
const { textMateGrammar } = await load("grammar/build/highlight-textmate.ts");
const { compileGrammar } = await load("grammar/build/compile.ts");
for (const { path, actions, starts, syntax } of grammars) {
  const file = join(root, path);
  const folder = join(path, "..");
  const grammar = grammarOf(path);
  write(
    `${file.slice(0, -4)}.generated.ts`,
    `import type { Grammar } from "ohm-js";\nimport { loadOhm } from "../ohm.generated.ts";\n\n` +
      `/** The grammar of ${path}, for Ohm. Made on the first call: loading this file runs nothing. */\n` +
      `export function loadGrammar(): Grammar {\n` +
      `  // Exported by ohm-js, missing in its types.\n` +
      `  loaded ??= (loadOhm() as unknown as { makeRecipe(recipe: unknown): Grammar }).makeRecipe(recipe());\n` +
      `  return loaded;\n}\n\n` +
      `let loaded: Grammar | undefined;\n\n` +
      `// As text: a string is scanned faster than code, and parsed when it is needed.\n` +
      `const recipe = (): unknown => JSON.parse(${JSON.stringify(JSON.stringify(recipeOf(grammar)))});\n`,
    [path],
  );
  if (syntax) {
    // The table beside the grammar says how its rules are coloured.
    const { highlighting } = await load(join(folder, "highlight.ts"));
    const coloured = [path, ...modules(join(folder, "highlight.ts"), "grammar/build/highlight-machine.ts")];
    const machine = createMachine(grammar, highlighting, ohm.grammar);
    write(join(file, "../highlight.generated.ts"), highlighterModule(machine, path), [
      ...coloured,
      ...modules("grammar/build/highlight-stream.ts"),
    ]);
    const syntaxes = join(root, "vscode-extension/syntaxes");
    mkdirSync(syntaxes, { recursive: true });
    write(join(syntaxes, `${syntax}.generated.tmLanguage.json`), textMateGrammar(machine, path), [
      ...coloured,
      ...modules("grammar/build/highlight-textmate.ts"),
    ]);
  }
  if (!actions) continue;
  const module = await load(join(folder, actions));
  const lengths = Object.fromEntries(Object.entries(module.actions).map(([rule, action]) => [rule, action.length]));
  const { withoutValue } = module;
  const names = { actionsPath: `./${actions}`, grammarPath: path };
  const source = compileGrammar({ grammar, actions: lengths, withoutValue, starts, ...names });
  write(`${file.slice(0, -4)}-parser.generated.ts`, source, [
    path,
    ...modules(join(folder, actions), "grammar/build/compile.ts"),
  ]);
}

for (const it of latePackages) {
  const type = it.exports.map((one) => `"${one}"`).join(" | ");
  write(
    join(root, it.file),
    `// @ts-nocheck\n` +
      `/** The package ${it.name}, evaluated on the first call. */\n` +
      `export function ${it.load}(): Pick<typeof import("${it.name}"), ${type}> {\n` +
      `  loaded ??= evaluate();\n  return loaded;\n}\n\nlet loaded;\n\n` +
      `function evaluate() {\nconst module = { exports: {} };\n${await bundleLatePackage(it, root)}\nreturn module.exports;\n}\n`,
    ["cli/build/late-packages.mjs"],
  );
}

write(join(root, "cli/sandbox/cloud/protocol/model.generated.ts"), sandboxModelModule(root), [
  "cli/build/sandbox-model.mjs",
  "cli/sandbox/cloud/protocol/operations.json",
]);

if (existsSync(join(root, "schema/generate.ts"))) {
  const outfile = join(root, "dist/build/generate-schema.mjs");
  const { metafile } = await build({
    entryPoints: [join(root, "schema/generate.ts")],
    absWorkingDir: root,
    bundle: true,
    metafile: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile,
    logLevel: "warning",
  });
  // It has printed why it failed.
  const { status } = spawnSync(process.execPath, [outfile, join(root, "schema")], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
  const made = Object.keys(metafile.inputs);
  for (const name of ["config.generated.ts", "validate.generated.js", "tool-schema.generated.ts"]) {
    inputs.set(`schema/${name}`, ["schema/tool.schema.json", "schema/rpc.schema.json", ...made]);
  }
  for (const name of [
    "rpc.generated.ts",
    "rpc-answers.generated.ts",
    "rpc-schema.generated.ts",
    "rpc-validate.generated.js",
  ]) {
    inputs.set(`schema/${name}`, ["schema/rpc.schema.json", ...made]);
  }
}

recordGenerated(root, inputs);

/** Ends with the place of an error in its text, which Ohm tells without the file. */
function grammarOf(path) {
  try {
    return ohm.grammar(readFileSync(join(root, path), "utf8"));
  } catch (error) {
    console.error(`${path}: ${error.message}`);
    process.exit(1);
  }
}

/** The exports of a TypeScript module of ours. */
async function load(path) {
  const outfile = join(root, "dist/build", path.replace(/\.ts$/, ".mjs"));
  const { metafile } = await build({
    entryPoints: [join(root, path)],
    absWorkingDir: root,
    bundle: true,
    metafile: true,
    platform: "node",
    format: "esm",
    outfile,
    logLevel: "warning",
  });
  inputsOfModule.set(path, Object.keys(metafile.inputs));
  return import(pathToFileURL(outfile).href);
}

/** The sources of modules that are loaded. */
function modules(...paths) {
  return paths.flatMap((path) => inputsOfModule.get(path));
}

/** Leaves the file alone where nothing changed, so that incremental builds see no new time stamp. */
function write(file, text, madeOf) {
  inputs.set(relative(root, file), madeOf);
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  writeFileSync(file, text);
}
