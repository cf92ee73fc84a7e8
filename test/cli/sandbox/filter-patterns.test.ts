// Rows of documented behaviour of filter patterns: {pattern, message, match} or {pattern, valid: false}; `source` says
// whether the page has the row as an example (doc-example), as a rule (doc-rule), or it is inferred from it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parseFilterPattern } from "../../../cli/sandbox/cloud/filter-pattern.ts";
import { root } from "../../support/cli.ts";

interface Row {
  readonly pattern: string;
  readonly message?: string;
  readonly match?: boolean;
  readonly valid?: boolean;
  readonly area: string;
}

const rows: Row[] = JSON.parse(readFileSync(join(root, "test/vectors/cloudwatch-filter-patterns.json"), "utf8"));

for (const area of new Set(rows.map((row) => row.area))) {
  t.test(area, (t) => {
    for (const { pattern, message, match } of rows.filter((row) => row.area === area)) {
      const parsed = parseFilterPattern(pattern);
      if (message === undefined) t.equal(parsed.ok, false, `${pattern} is refused`);
      else if (parsed.ok) t.equal(parsed.matches(message), match, `${pattern} on ${message}`);
      else t.fail(`${pattern}: ${parsed.problems[0]}`);
    }
    t.end();
  });
}

/** Rows that the table leaves out: written from the same page. */
const MORE: readonly (readonly [pattern: string, message: string, match: boolean | "invalid"])[] = [
  ["", "anything", true],
  ["  ", "anything", true],
  ['"say \\"hi\\""', 'they say "hi"', true],
  ["?ERROR WARN", "WARN x", true],
  ["?ERROR WARN", "ERROR x", false],
  ["ERROR%x%", "ERROR", "invalid"],
  ['"open', "open", "invalid"],
  ["%a% %b%", "ab", "invalid"],
  ["%a\\bc%", "abc", "invalid"],
  ["%[%", "[", "invalid"],
  ["%%", "", "invalid"],
  ["a".repeat(1024), "a".repeat(1024), true],
  ["a".repeat(1025), "a".repeat(1025), "invalid"],
  ["{ $.a IS NULL }", '{"a":null}', true],
  ["{ $.a IS NULL }", '{"a":[1,null]}', true],
  ["{ $.a IS NULL }", '{"b":1}', false],
  ["{ $.a IS FALSE }", '{"a":false}', true],
  ["{ $.a NOT EXISTS }", '{"a":null}', false],
  ["{ $.a NOT EXISTS }", '{"b":null}', true],
  ["{ $.a.b NOT EXISTS }", '{"a":1}', true],
  ["{ $.a EXISTS }", '{"a":1}', "invalid"],
  ["{ $.a = true }", '{"a":"true"}', true],
  ["{ $.a = true }", '{"a":true}', false],
  ["{ $.a != true }", '{"a":true}', false],
  ["{ $.a > 1 }", '{"a":"2"}', false],
  ["{ $.a > x }", '{"a":"2"}', "invalid"],
  ['{ $.a < "2" }', '{"a":1}', "invalid"],
  ['{ $.a = "*mid*" }', '{"a":"in the middle"}', true],
  ['{ $.a = "*mid*" }', '{"a":"in the end"}', false],
  ["{ $.['cluster.name'] = \"c\" }", '{"cluster.name":"c"}', true],
  ["{ $.a = 1 || }", "{}", "invalid"],
  ["{ ($.a = 1 }", "{}", "invalid"],
  ["{ $.a = 1 } x", "{}", "invalid"],
  ["{ }", "{}", "invalid"],
  ["{ a = 1 }", "{}", "invalid"],
  ["[a = x || a = y, b]", "y 1", true],
  ["[a = x || a = y, b]", "z 1", false],
  ["[a, b", "x y", "invalid"],
  ["[a, a]", "x y", "invalid"],
  ["[a > x]", "x", "invalid"],
  ["[a > 10]", "9", false],
  ["[a > 10]", "text", false],
  ["[a, ...]", "x", true],
  ['{ $.a = "1" }', '{"a":1}', true],
  ['{ $.a = "1*" }', '{"a":12}', true],
  ['{ $.a = "1" }', '{"a":2}', false],
  ['{ $.a != "1" }', '{"a":1}', false],
  ['{ $.a = "1" }', '{"a":true}', false],
  ["{ $.a NOT EXISTS }", "[1]", false],
  ["{ $.a NOT EXISTS }", "[]", false],
  ["{ $.a NOT EXISTS }", '[{"b":1}]', false],
  ["{ $.a NOT EXISTS }", '{"b":[]}', true],
  ["[a, size > 1000]", "x 2000", true],
  ["[a, size > 1000]", "x 2000 y", false],
  ["[a, b = y]", "x y z", false],
  ["[a = x, b]", "x y z", true],
  ["[a, size > 1000, ...]", "x 2000 y", true],
];

t.test("beside the table", (t) => {
  for (const [pattern, message, match] of MORE) {
    const parsed = parseFilterPattern(pattern);
    t.equal(
      parsed.ok ? parsed.matches(message) : "invalid",
      match,
      `${pattern.slice(0, 60)} on ${message.slice(0, 60)}`,
    );
  }
  t.end();
});
