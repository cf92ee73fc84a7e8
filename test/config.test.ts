import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import t from "tap";
import { applyEdits, type Problem, renderProblem } from "../grammar/problem.ts";
import {
  type Config,
  checkConfig,
  type Directory,
  forStage,
  inferRuntime,
  migrate,
  servesStatic,
  toolSchema,
  withDefaults,
} from "../schema/index.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const vectors: Vectors = JSON.parse(readFileSync(join(root, "test/vectors/config.json"), "utf8"));

/** Path to text, or to null for a directory. */
type Files = Record<string, string | null>;

interface Vectors {
  check: { name: string; text: string[]; files?: Files; problems: string[][] }[];
  defaults: {
    name: string;
    text: string[];
    env?: Record<string, string>;
    profileRegion?: string;
    command?: string;
    resolved: unknown;
  }[];
  stages: { name: string; text: string[]; stage: string; config: unknown }[];
  inference: {
    name: string;
    files: Files;
    config?: object;
    development?: boolean;
    missing?: string[];
    inference: unknown;
  }[];
  migration: { name: string; before: string[]; after: string[]; notes: string[] }[];
}

function directoryOf(files: Files): Directory {
  const clean = (path: string) => path.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
  return {
    kind(path) {
      const name = clean(path);
      if (name === "" || name === ".") return "directory";
      if (Object.hasOwn(files, name)) return files[name] === null ? "directory" : "file";
      return Object.keys(files).some((file) => file.startsWith(`${name}/`)) ? "directory" : undefined;
    },
    read: (path) => files[clean(path)] ?? undefined,
  };
}

const optionsOf = (files: Files | undefined) => (files ? { directory: directoryOf(files) } : {});
const isError = ({ severity }: Problem) => severity === "error";

t.test("problems", (t) => {
  for (const row of vectors.check) {
    const source = row.text.join("\n");
    const { config, problems } = checkConfig(source, optionsOf(row.files));
    const rendered = problems.map((problem) => renderProblem(problem, { source, file: "tool.json" }));
    t.same(
      rendered,
      row.problems.map((lines) => lines.join("\n")),
      row.name,
    );
    t.equal(config === undefined, problems.some(isError), `${row.name}: a configuration unless there is an error`);
    t.same(sound(source, row.files), [], `${row.name}: spans and fixes are sound`);
  }
  t.end();
});

/** What is unsound about the answer to a text: spans outside of it, an order that is none, fixes that do not fix. */
function sound(source: string, files?: Files): string[] {
  const { problems } = checkConfig(source, optionsOf(files));
  const wrong: string[] = [];
  for (const [i, { span, message }] of problems.entries()) {
    if (!(0 <= span.start && span.start <= span.end && span.end <= source.length)) wrong.push(`span of ${message}`);
    if (i > 0 && problems[i - 1]!.span.start > span.start) wrong.push(`order of ${message}`);
    if (/[\n\r]/.test(message)) wrong.push(`line break in ${message}`);
  }
  for (const problem of problems) {
    if (problem.fix === undefined) continue;
    const fixed = applyEdits(source, problem.fix.edits);
    const after = checkConfig(fixed, optionsOf(files)).problems;
    // Messages of others may quote the text that was fixed; what they are about stays.
    const codes = problems.map(({ code }) => code);
    codes.splice(codes.indexOf(problem.code), 1);
    if (after.length >= problems.length) wrong.push(`${name(problem)} is not fixed by ${problem.fix.title}`);
    for (const other of after) {
      const at = codes.indexOf(other.code);
      if (at < 0) wrong.push(`${problem.fix.title} adds ${name(other)}`);
      else codes.splice(at, 1);
    }
  }
  return wrong;
}

function name({ code, message }: Problem): string {
  return `${code}: ${message}`;
}

t.test("defaults", (t) => {
  for (const row of vectors.defaults) {
    const { config } = checkConfig(row.text.join("\n"));
    const { env = {}, profileRegion, command } = row;
    const resolved = withDefaults(config!, { env, profileRegion, command });
    // As text, so that the order of the keys counts.
    t.equal(JSON.stringify(resolved, null, 2), JSON.stringify(row.resolved, null, 2), row.name);
  }
  t.end();
});

t.test("whether static files are served", (t) => {
  const rows: [string, boolean][] = [
    [`{ "name": "app" }`, false],
    [`{ "name": "app", "static": {} }`, true],
    [`{ "name": "app", "type": "static" }`, true],
  ];
  for (const [text, expected] of rows) {
    const resolved = withDefaults(checkConfig(text).config!, { env: {} });
    t.equal(servesStatic(resolved), expected, text);
    t.equal(servesStatic(forStage(resolved, "staging")), expected, `${text} for a stage`);
  }
  t.end();
});

t.test("stages", (t) => {
  for (const row of vectors.stages) {
    const { config } = checkConfig(row.text.join("\n"));
    const before = JSON.stringify(config);
    const { stages: _stages, ...rest } = forStage(config!, row.stage);
    t.same(rest, row.config, row.name);
    t.equal(JSON.stringify(config), before, `${row.name}: nothing is changed in place`);
  }
  t.end();
});

t.test("stages of a resolved configuration", (t) => {
  const text = `{ "name": "app", "hooks": { "build": "a", "clean": "b" }, "stages": { "production": { "hooks": { "build": "c" }, "function": { "memory": 1024 } } } }`;
  const resolved = forStage(withDefaults(checkConfig(text).config!, { env: {} }), "production");
  t.same(resolved.hooks, { build: ["c"], clean: ["b"] });
  t.equal(resolved.function.memory, 1024);
  t.equal(resolved.function.timeout, 30, "what is derived stays");
  t.end();
});

t.test("inference", (t) => {
  for (const row of vectors.inference) {
    const config = { name: "app", ...row.config } as Config;
    const missing = row.missing ?? [];
    const inference = inferRuntime(directoryOf(row.files), config, {
      development: row.development ?? false,
      hasCommand: (command) => !missing.includes(command),
    });
    t.same(JSON.parse(JSON.stringify(inference)), row.inference, row.name);
  }
  t.end();
});

t.test("migration", (t) => {
  for (const row of vectors.migration) {
    const before = row.before.join("\n");
    const { text, notes } = migrate(before);
    t.same({ text: text.split("\n"), notes }, { text: row.after, notes: row.notes }, row.name);
    t.same(migrate(text), { text, notes: [] }, `${row.name}: once is enough`);
    const old = checkConfig(text).problems.filter(({ code }) => code.startsWith("config/deprecated-"));
    t.same(old, [], `${row.name}: nothing of the older dialect is left`);
  }
  t.end();
});

const corpus = join(root, "../shared/corpus/older-dialect");
const hasCorpus = existsSync(corpus);
if (!hasCorpus && process.env.TOOL_TEST_REQUIRE === "all") t.fail(`no corpus at ${corpus}`);
t.test("real files in the older dialect", { skip: hasCorpus ? false : `no corpus at ${corpus}` }, (t) => {
  const files = readdirSync(corpus).filter((file) => file.endsWith(".json"));
  t.ok(files.length >= 44, `${files.length} files`);
  for (const file of files) {
    const source = readFileSync(join(corpus, file), "utf8");
    const others = checkConfig(source).problems.filter(({ code }) => !code.startsWith("config/deprecated-"));
    t.same(others.map(name), [], `${file} has only the dialect's problems`);
    const { text, notes } = migrate(source);
    t.same(checkConfig(text).problems.map(name), [], `${file} migrated has none`);
    t.equal(text === source, notes.length === 0, `${file} is changed where a note says so`);
    t.equal(text.split("\n").length <= source.split("\n").length, true, `${file} keeps its lines`);
    t.same(sound(source), [], `${file}: spans and fixes are sound`);
  }
  t.end();
});

const valid = vectors.check.filter(({ problems }) => problems.length === 0).map(({ text }) => text.join("\n"));
const all = vectors.check.map(({ text }) => text.join("\n")).filter((text) => text.length < 4000);

t.test("never throws, and what it says is sound, on any text", (t) => {
  const pieces = fc.constantFrom(
    ..."{}[]:,\"'\\/*\n\t 0-.eé😀".split(/(?:)/u),
    ...['"name": "app"', '"redirects"', '"lambda"', '"/a/:x"', '"location"', '"\\u0041"', "null", "true", "//"],
  );
  const texts = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      const wrong = sound(text);
      if (wrong.length > 0) throw new Error(wrong.join("; "));
    }),
    { seed: 1, numRuns: 1500 },
  );
  t.end();
});

t.test("never throws, and what it says is sound, on damaged files", (t) => {
  const cut = fc.record({
    source: fc.constantFrom(...all),
    at: fc.nat(),
    length: fc.nat(6),
    put: fc.constantFrom("", '"', "{", "}", "]", ",", ":", "x", "5", "\\", "null", "*", "é"),
  });
  fc.assert(
    fc.property(cut, ({ source, at, length, put }) => {
      const from = at % (source.length + 1);
      const text = source.slice(0, from) + put + source.slice(from + length);
      const { problems } = checkConfig(text);
      for (const { span } of problems) {
        if (span.start < 0 || span.end < span.start || span.end > text.length) throw new Error(`span outside: ${text}`);
      }
      for (const problem of problems) {
        // The fixes of the languages inside strings are their own tests' affair.
        if (problem.fix === undefined || !problem.code.startsWith("config/")) continue;
        const fixed = checkConfig(applyEdits(text, problem.fix.edits), { triesFixes: false }).problems;
        const left = fixed.filter(({ code }) => code === problem.code).length;
        const had = problems.filter(({ code }) => code === problem.code).length;
        if (left >= had) throw new Error(`${problem.fix.title} does not fix ${name(problem)} in ${text}`);
      }
      migrate(text);
    }),
    { seed: 2, numRuns: 2000 },
  );
  t.end();
});

t.test("migration leaves nothing of the older dialect and adds no problem", (t) => {
  const member = (names: string[], value: fc.Arbitrary<string>) =>
    fc.tuple(fc.constantFrom(...names), value).map(([key, text]) => `"${key}": ${text}`);
  const object = (members: fc.Arbitrary<string>) =>
    fc
      .tuple(fc.array(members, { maxLength: 4 }), fc.constantFrom(" ", "\n  ", ""))
      .map(([parts, blank]) => `{${parts.map((part) => blank + part).join(",")}${blank}}`);
  const scalar = fc.constantFrom("128", "true", '"x"', "null");
  const settings = fc.oneof(object(member(["memory", "warm", "runtime", "timeout"], scalar)), scalar);
  const toggles = object(member(["enable", "disable", "dir"], fc.constantFrom("true", "false", '"true"')));
  const stage = object(member(["lambda", "function"], settings));
  const section = fc.oneof(
    member(["lambda", "function"], settings),
    member(["logs", "error_pages"], toggles),
    member(["stages"], object(member(["production", "beta"], stage))),
  );
  fc.assert(
    fc.property(object(section), (text) => {
      const count = (source: string) => {
        const codes = checkConfig(source, { triesFixes: false }).problems.map(({ code }) => code);
        return { old: codes.filter((code) => code.startsWith("config/deprecated-")).length, all: codes.length };
      };
      const migrated = migrate(text);
      const before = count(text);
      const after = count(migrated.text);
      // What cannot be migrated (an "enable" that is no boolean, a "lambda" that is no object) stays, and says so.
      if (after.old > 0 && migrate(migrated.text).text !== migrated.text) throw new Error(`not at once: ${text}`);
      if (after.all > before.all) throw new Error(`${before.all} problems became ${after.all}: ${text}`);
      if (before.old > 0 && migrated.notes.length === 0 && migrated.text !== text) throw new Error(`unsaid: ${text}`);
    }),
    { seed: 3, numRuns: 2000 },
  );
  t.end();
});

t.test("one wrong value in a valid file is one problem at that value", (t) => {
  for (const text of valid) {
    const value: Config = JSON.parse(text.replace(/^\ufeff/, ""));
    for (const section of Object.keys(value)) {
      if (section === "actions" || section === "name" || section === "$schema") continue;
      const broken = JSON.stringify({ ...value, [section]: 7 });
      const errors = checkConfig(broken, { triesFixes: false }).problems.filter(isError);
      t.same(
        errors.map(({ span }) => broken.slice(span.start, span.end)),
        ["7"],
        broken.slice(0, 100),
      );
    }
  }
  t.end();
});

t.test("hostile texts are answered at once", (t) => {
  const rows: [string, string][] = [
    ["brackets", "[".repeat(500_000)],
    ["objects", '{"a":'.repeat(200_000)],
    ["words", "a ".repeat(500_000)],
    ["comments", "/**/ ".repeat(100_000)],
    ["quotes", '"'.repeat(500_000)],
    ["duplicate keys", `{"name":"app",${'"x":1,'.repeat(100_000)}"y":1}`],
    [
      "a megabyte of variables",
      JSON.stringify({
        name: "app",
        environment: Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`A${i}`, "value"])),
      }),
    ],
  ];
  for (const [title, text] of rows) {
    const begin = process.cpuUsage();
    checkConfig(text);
    const { user, system } = process.cpuUsage(begin);
    const ms = (user + system) / 1000;
    // About 200 ms on an idle machine; the bound leaves room for a slow one, not for a square of the length.
    t.ok(ms < 2000, `${title}: ${ms.toFixed(0)} ms`);
  }
  t.end();
});

t.test("every property of the schema is documented", (t) => {
  interface Part {
    $ref?: string;
    type?: unknown;
    description?: string;
    markdownDescription?: string;
    examples?: unknown[];
    properties?: Record<string, Part>;
    additionalProperties?: boolean | Part;
    items?: Part;
    definitions?: Record<string, Part>;
  }
  const walk = (part: Part, path: string) => {
    for (const [key, inner] of Object.entries(part.properties ?? {})) {
      const at = `${path}.${key}`;
      if (inner.$ref === undefined) {
        t.ok(inner.description && inner.markdownDescription && inner.examples?.length, at);
      }
      walk(inner, at);
    }
    if (part.type === "object" && part.properties !== undefined) {
      const open = part.additionalProperties === true;
      t.equal(open, path === "error_pages.variables", `${path} takes no other keys`);
    }
    if (typeof part.additionalProperties === "object") walk(part.additionalProperties, `${path}.*`);
    if (part.items !== undefined) walk(part.items, `${path}[]`);
  };
  const schema = toolSchema as Part;
  walk(schema, "");
  for (const [key, part] of Object.entries(schema.definitions!)) walk(part, key);
  t.end();
});

t.test("the examples of the schema are valid", (t) => {
  const properties = (toolSchema as { properties: Record<string, { examples?: unknown[] }> }).properties;
  for (const [key, { examples = [] }] of Object.entries(properties)) {
    for (const example of examples) {
      const config: Record<string, unknown> = { name: "app", [key]: example };
      if (key === "alerts") config.actions = [{ name: "ops", type: "email", emails: ["ops@example.com"] }];
      t.same(checkConfig(JSON.stringify(config)).problems.map(name), [], `${key}: ${JSON.stringify(example)}`);
    }
  }
  t.end();
});
