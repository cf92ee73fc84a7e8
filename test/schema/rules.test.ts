// The catalogue of rules, held against the sources that make problems and against every problem of the vectors.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import sarifSchema from "@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json" with { type: "json" };
import { Ajv } from "ajv";
import t from "tap";
import { toSarif } from "../../cli/output/sarif.ts";
import { RULES, ruleHelp, ruleTitle } from "../../schema/rules.ts";

// Compiled tests are one level deeper than sources.
const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, here.includes("dist") ? "../../.." : "../..");

/** Every code that a source writes: whole, or as the name that the area's own constructor of problems takes. */
function codesOfSources(): Map<string, string> {
  const codes = new Map<string, string>();
  for (const folder of ["grammar", "schema"]) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!/\.ts$/.test(path) || /generated|grammar\/build\/|schema\/rules\.ts$/.test(path)) continue;
      const source = readFileSync(path, "utf8");
      for (const [, code] of source.matchAll(/["`]((?:bytes|config|duration|query|route|template)\/[a-z0-9-]+)["`]/g)) {
        codes.set(code!, path);
      }
      const area = /grammar\/(query|route|template)\/(?:pipe\/)?problems\.ts$|units\/(bytes|duration)\.ts$/.exec(path);
      if (area === null) continue;
      const calls = source.matchAll(
        /\b(?:make|problem)\(\s*(?:"([a-z-]+)"|[^"]{0,90}"?[^"]{0,9}"?[^"]{0,60}\? "([a-z-]+)" : "([a-z-]+)")/g,
      );
      for (const [, ...names] of calls) {
        for (const name of names) if (name !== undefined) codes.set(`${area[1] ?? area[2]}/${name}`, path);
      }
    }
  }
  // Warnings of --traffic are no problems of the text.
  const ofTraffic = readFileSync(join(root, "cli/rule-traffic.ts"), "utf8");
  for (const [, code] of ofTraffic.matchAll(/"(config\/[a-z-]+)"/g)) codes.set(code!, "cli/rule-traffic.ts");
  // dialect.ts makes these of the keys that are dropped.
  const dropped = ["runtime", "timeout", "endpoint"].map((key) => [`config/deprecated-${key}`, "dialect"] as const);
  return new Map([...codes, ...dropped]);
}

t.test("every code of the sources is in the catalogue, and nothing else is", (t) => {
  const codes = codesOfSources();
  t.ok(codes.size > 150, `${codes.size} codes are found`);
  for (const [code, path] of codes) t.ok(Object.hasOwn(RULES, code), `${code} of ${path} has a sentence`);
  for (const code of Object.keys(RULES)) t.ok(codes.has(code), `${code} is made somewhere`);
  t.end();
});

t.test("every code of the vectors is in the catalogue", (t) => {
  const seen = new Set<string>();
  for (const name of readdirSync(join(root, "test/vectors")).filter((name) => name.endsWith(".json"))) {
    const text = readFileSync(join(root, "test/vectors", name), "utf8");
    for (const [, code] of text.matchAll(
      /(?:\[|\^ )((?:bytes|config|duration|query|route|template)\/[a-z0-9-]+)[\] ]/g,
    )) {
      seen.add(code!);
    }
  }
  t.ok(seen.size > 60, `${seen.size} codes are found`);
  for (const code of seen) t.ok(Object.hasOwn(RULES, code), code);
  t.end();
});

t.test("a SARIF log has a rule for every code", (t) => {
  const { $schema: _, id: __, ...schema } = sarifSchema;
  const isSarif = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);
  // One that nobody has written down yet gets a rule of its own words.
  for (const code of [...Object.keys(RULES), "newer/of-its-own"]) {
    const problem = { code, severity: "error" as const, message: "wrong", span: { start: 0, end: 1 } };
    const log = toSarif([{ path: "/a/tool.json", text: "{}", problems: [problem] }], { version: "1.0.0", base: "/a" });
    t.ok(isSarif(log), code, { errors: isSarif.errors });
    const [{ tool, results }] = (log as { runs: [Run] }).runs;
    t.equal(tool.driver.rules[results[0]!.ruleIndex]!.id, code);
    t.ok(ruleTitle(code).length > 8 && ruleHelp(code).length > 20, `${code} has words`);
  }
  t.end();
});

interface Run {
  readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
  readonly results: readonly { readonly ruleIndex: number }[];
}
