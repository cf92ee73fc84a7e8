// Generated files are made again when anything changes that they are made of, and only then.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { root } from "../support/cli.ts";
import { slow } from "../support/slow.ts";

const { isGeneratedStale, generatedFiles } = await import(pathToFileURL(join(root, "cli/build/generated.mjs")).href);
const files: Readonly<Record<string, readonly string[]>> = generatedFiles(root);
const inputs = [...new Set(Object.values(files).flat())].sort();

/** An input of each kind, and what is made of it. */
const KINDS = [
  ["grammar/route/route.ohm", "grammar/route/route.generated.ts"],
  ["grammar/route/route.ohm", "grammar/route/route-parser.generated.ts"],
  ["grammar/query/highlight.ts", "grammar/query/highlight.generated.ts"],
  ["grammar/route/highlight.ts", "vscode-extension/syntaxes/toolroute.generated.tmLanguage.json"],
  ["grammar/template/actions.ts", "grammar/template/template-parser.generated.ts"],
  ["grammar/query/literals.ts", "grammar/query/query-parser.generated.ts"],
  ["grammar/build/highlight-machine.ts", "grammar/template/highlight.generated.ts"],
  ["grammar/build/charset.ts", "grammar/query/highlight.generated.ts"],
  ["grammar/build/compile.ts", "grammar/query/query-parser.generated.ts"],
  ["schema/tool.schema.json", "schema/tool-schema.generated.ts"],
  ["schema/tool.schema.json", "schema/validate.generated.js"],
  ["schema/rpc.schema.json", "schema/rpc.generated.ts"],
  ["schema/rpc.schema.json", "schema/tool-schema.generated.ts"],
  ["schema/generate.ts", "schema/config.generated.ts"],
  ["schema/standalone-module.ts", "schema/rpc-validate.generated.js"],
  ["cli/sandbox/cloud/protocol/operations.json", "cli/sandbox/cloud/protocol/model.generated.ts"],
  ["cli/build/sandbox-model.mjs", "cli/sandbox/cloud/protocol/model.generated.ts"],
  ["cli/build/late-packages.mjs", "grammar/query/re2.generated.ts"],
  ["cli/build/generate.mjs", "grammar/ohm.generated.ts"],
  ["package-lock.json", "grammar/ohm.generated.ts"],
] as const;

function copyOf(t: Test, names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "generated-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of names) cpSync(join(root, name), join(folder, name), { recursive: true });
  return folder;
}

t.test("an edit of each input is noticed, and nothing else is", (t) => {
  const folder = copyOf(t, [...inputs, "dist/.t-generated.json"]);
  for (const file of Object.keys(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
  t.notOk(isGeneratedStale(folder), "nothing changed");
  for (const input of inputs) {
    const path = join(folder, input);
    const text = readFileSync(path);
    writeFileSync(path, `${text}\n`);
    t.ok(isGeneratedStale(folder), `${input}: edited`);
    writeFileSync(path, text);
    t.notOk(isGeneratedStale(folder), `${input}: as before, with another time`);
    rmSync(path);
    t.ok(isGeneratedStale(folder), `${input}: gone`);
    writeFileSync(path, text);
  }
  writeFileSync(join(folder, "grammar/other.ts"), "");
  t.notOk(isGeneratedStale(folder), "a file that nothing is made of");
  rmSync(join(folder, "grammar/ohm.generated.ts"));
  t.ok(isGeneratedStale(folder), "a generated file is gone");
  t.end();
});

t.test("what each is made of", (t) => {
  for (const [input, file] of KINDS) t.ok(files[file]?.includes(input), `${file}: ${input}`);
  for (const file of Object.keys(files)) t.ok(existsSync(join(root, file)), `${file} is there`);
  t.end();
});

t.test("made again after an edit of each kind", slow(), (t) => {
  const folder = copyOf(t, ["cli/build", "grammar", "schema", "package.json", "package-lock.json"]);
  mkdirSync(join(folder, "vscode-extension/syntaxes"), { recursive: true });
  cpSync(join(root, "cli/sandbox/cloud/protocol"), join(folder, "cli/sandbox/cloud/protocol"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const generate = () => execFileSync(process.execPath, ["cli/build/generate.mjs"], { cwd: folder });
  generate();
  t.notOk(isGeneratedStale(folder));
  t.same(generatedFiles(folder), files, "as in the project");
  for (const [input, from, to, file] of [
    ["grammar/route/route.ohm", /query = "\?"/, 'query = "?" | "!"', "grammar/route/route.generated.ts"],
    ["grammar/query/highlight.ts", /: "keyword"/, ': "string"', "grammar/query/highlight.generated.ts"],
    ["schema/tool.schema.json", /"title": "/, '"title": "New: ', "schema/tool-schema.generated.ts"],
    ["schema/generate.ts", /Generated from/, "Made from", "schema/config.generated.ts"],
    ["cli/build/late-packages.mjs", /$/, "\n", undefined],
  ] as const) {
    const before = file && readFileSync(join(folder, file), "utf8");
    const text = readFileSync(join(folder, input), "utf8");
    t.match(text, from, `${input} has what is edited`);
    writeFileSync(join(folder, input), text.replace(from, to));
    t.ok(isGeneratedStale(folder), input);
    generate();
    t.notOk(isGeneratedStale(folder), `${input}: after it`);
    if (file) t.not(readFileSync(join(folder, file), "utf8"), before, `${file} has another text`);
  }
  for (const [input, from, to, error] of [
    ["grammar/route/route.ohm", /query = "\?"/, 'query = = "?"', /^grammar\/route\/route\.ohm: Line \d+, col \d+:/m],
    [
      "grammar/template/template.ohm",
      /^[\s\S]*$/,
      "",
      /^grammar\/template\/template\.ohm: Missing grammar definition/m,
    ],
    ["grammar/route/route.ohm", /\}\s*$/, "  extra = digit\n}\n", /no rule uses the rule "extra" .*route\.ohm/],
    ["schema/tool.schema.json", /\}\s*$/, "", /schema\/tool\.schema\.json: /],
    ["schema/rpc.schema.json", /^/, "<<<<<<< HEAD\n", /schema\/rpc\.schema\.json: /],
  ] as const) {
    const text = readFileSync(join(folder, input), "utf8");
    writeFileSync(join(folder, input), text.replace(from, to));
    const { status, stderr } = spawnSync(process.execPath, ["cli/build/generate.mjs"], {
      cwd: folder,
      encoding: "utf8",
    });
    t.equal(status, 1, `${input} with a fault`);
    t.match(stderr, error, `${input}: the error names it`);
    t.ok(isGeneratedStale(folder), `${input}: made again the next time`);
    writeFileSync(join(folder, input), text);
  }
  t.end();
});
