// Queries without hidden characters: what they mean stays.
import fc from "fast-check";
import t from "tap";
import { HIDDEN } from "../../../grammar/hidden.ts";
import { compilePredicate, parseQuery } from "../../../grammar/query/index.ts";
import { readPipeline } from "../../../grammar/query/read.ts";
import { visibleQuery } from "../../../grammar/query/visible.ts";

const HIDDEN_ONE = new RegExp(`(?![\\t\\n])[${HIDDEN}]`, "u");

t.test("rows", (t) => {
  const rows: readonly (readonly [query: string, expected: string])[] = [
    ['text = "a\u202eb"', 'text = "a\\u202eb"'],
    ['"\u2066x\u2069" and "y\u200bz"', '"\\u2066x\\u2069" and "y\\u200bz"'],
    ['fields["o\u202ed"] = 1', 'fields["o\\u202ed"] = 1'],
    ['"tag \u{e0041}"', '"tag \\udb40\\udc41"'],
    ["path ~ /a\u202eb[\u200b]\\.c/i", "path ~ /a\\x{202e}b[\\x{200b}]\\.c/i"],
    ["path ~ /[/\u200b]]\u200b/", "path ~ /[/\\x{200b}]]\\x{200b}/"],
    ["path = /orders\u200b/\u202ea* and b = 1", "path = /orders/a* and b = 1"],
    ["\ufeffstatus\u200b = 500\u00a0and\u2060 a = 1", "status = 500\u00a0and a = 1"],
    ['"a\\\u202e"', '"a\\u202e"'],
    ["a ~ /x\\\u202e/", "a ~ /x\\x{202e}/"],
    ['"open \u202e\nand b = "\u202e"', '"open \\u202e\nand b = "\\u202e"'],
    ["level = error\n\tand a = 1 |\tcount", "level = error\n\tand a = 1 |\tcount"],
    ['name = "نص عربي" and word = "שלום"', 'name = "نص عربي" and word = "שלום"'],
    ['family = "👨‍👩‍👧 ❤️"', 'family = "👨‍👩‍👧 ❤️"'],
    ["a\u3164b = x\u3164y and path = /a*", 'fields["a\\u3164b"] = "x\\u3164y" and path = /a*'],
    ["a\u3164b = 1 | count by c", 'fields["a\\u3164b"] = 1 | count by c'],
    ["a\u3164b =", "ab ="],
    ['path = ~/home and message contains "x\u200by"', 'path = ~/home and message contains "x\\u200by"'],
    ['path = /a~/b and user = "a\u200bb"', 'path = /a~/b and user = "a\\u200bb"'],
    ['path in (a~/b, c) and user = "a\u200bb" and', 'path in (a~/b, c) and user = "a\\u200bb" and'],
    ['path = /a~/b and user = "a\u200bb" and', 'path = /a~/b and user = "a\\u200bb" and'],
    ['a ~ /[(\\[]/ and user = "a\u200bb"', 'a ~ /[(\\[]/ and user = "a\\u200bb"'],
    ['a ~ /[(\\[]/ and user = "a\u200bb" and', 'a ~ /[(\\[]/ and user = "a\\u200bb" and'],
    ["a ~ /[[:alpha:]/\u200b]/", "a ~ /[[:alpha:]/\\x{200b}]/"],
    ["a ~ /[[:alpha:]/\u200b]/ or", "a ~ /[[:alpha:]/\\x{200b}]/ or"],
    ["a ~ /[^]\u200b/]\u200b/", "a ~ /[^]\\x{200b}/]\\x{200b}/"],
    ["error | where user = \ud64d\u3164\uae38", 'error | where user = "\ud64d\\u3164\uae38"'],
    ["error | count by name\u3164, b", 'error | count by fields["name\\u3164"], b'],
    ["| count by \u3164", '| count by fields["\\u3164"]'],
    [
      "a = 1 | stats max(b\u3164) as c\u3164d by e | where c\u3164d > 1",
      'a = 1 | stats max(fields["b\\u3164"]) as cd by e | where cd > 1',
    ],
    [
      "| stats p99(b\u3164) | sort p99(b\u3164) desc",
      '| stats p99(fields["b\\u3164"]) | sort p99(fields["b\\u3164"]) desc',
    ],
    ["a contains x*\u3164 | where b contains *\u3164", 'a contains "x*\\u3164" | where b contains "*\\u3164"'],
    ["a = x*\u3164 | top 5 c", 'a = "x*\\u3164" | top 5 c'],
    ['a = 1\r\nand\rb = "\r"', 'a = 1\nand\nb = "\n"'],
    ["", ""],
  ];
  for (const [query, expected] of rows) t.equal(visibleQuery(query), expected, JSON.stringify(query));
  t.end();
});

t.test("any text: nothing hidden is left, and once more changes nothing", (t) => {
  const unit = fc.constantFrom(
    ...'""//~~[]\\ab =|\n\t',
    "\u202e",
    "\u200b",
    "\0",
    "\u2029",
    "\u{e0041}",
    "\u3164",
    "😀",
    "\ud83d",
  );
  for (const text of fc.sample(fc.string({ unit, maxLength: 30 }), { seed: 5, numRuns: 3_000 })) {
    const visible = visibleQuery(text);
    if (HIDDEN_ONE.test(visible)) t.fail(`hidden in ${JSON.stringify(visible)}`);
    if (visibleQuery(visible) !== visible) t.fail(`not the same again: ${JSON.stringify(text)}`);
  }
  t.end();
});

t.test("a text means the same", (t) => {
  const unit = fc.constantFrom(
    "a",
    "b",
    " ",
    "/",
    "\\\\",
    '\\"',
    "\\n",
    "\u202e",
    "\u200f",
    "\u00ad",
    "\u{e0041}",
    "\u3164",
    "\t",
  );
  for (const text of fc.sample(fc.string({ unit, minLength: 1, maxLength: 12 }), { seed: 6, numRuns: 500 })) {
    const query = `name = "${text}" and fields["${text}"] = 1 or "${text}"`;
    const [before, after] = [readPipeline(query), readPipeline(visibleQuery(query))];
    t.same(withoutPlaces(after), withoutPlaces(before), JSON.stringify(query));
  }
  t.end();
});

t.test("a name or a word with a blank letter is the same", (t) => {
  const unit = fc.constantFrom("a", "b", "\u3164", "\u115f", "*", ".");
  const word = fc.string({ unit, minLength: 1, maxLength: 5 }).map((text) => `x${text}`);
  let compared = 0;
  for (const [name, value] of fc.sample(fc.tuple(word, word), { seed: 8, numRuns: 600 })) {
    for (const query of [`${name} = ${value}`, `${name} contains ${value}`, `not ${name} in (${value}, y)`]) {
      const [before, after] = [parseQuery(query), parseQuery(visibleQuery(query))];
      if (!before.ok) continue;
      t.ok(after.ok, JSON.stringify(query));
      if (!after.ok) continue;
      compared++;
      const [was, is] = [before.value, after.value].map((query) => compilePredicate(query, { nowMs: 0 }));
      for (const key of [name, "x\u3164", "xa"])
        for (const held of [value, value.replaceAll("*", "zz"), "x\u3164a", "y"]) {
          const entry = { fields: { [key]: held, x: { a: held, "\u3164": held } } } as never;
          if (was!(entry) !== is!(entry)) t.fail(`${JSON.stringify(query)} on ${key} ${held}`);
        }
    }
  }
  t.ok(compared > 500, `${compared} compared`);
  t.end();
});

t.test("a regular expression finds the same", (t) => {
  const subjects = ["a\u202eb", "ab", "\u200b", "a\u200b", "x\u{e0041}y", "a.b", "\u202e"];
  const unit = fc.constantFrom("a", "b", ".", "\\.", "[", "]", "^", "*", "\u202e", "\u200b", "\u{e0041}");
  let compared = 0;
  for (const pattern of fc.sample(fc.string({ unit, minLength: 1, maxLength: 8 }), { seed: 7, numRuns: 2_000 })) {
    const query = `name ~ /${pattern}/`;
    const [before, after] = [parseQuery(query), parseQuery(visibleQuery(query))];
    // A range of hidden characters, or a hidden one that is repeated, is read in both.
    t.equal(after.ok, before.ok, JSON.stringify(query));
    if (!before.ok || !after.ok) continue;
    compared++;
    const [was, is] = [before.value, after.value].map((query) => compilePredicate(query, { nowMs: 0 }));
    for (const name of subjects) {
      const entry = { fields: { name } } as never;
      if (was!(entry) !== is!(entry)) t.fail(`${JSON.stringify(query)} on ${JSON.stringify(name)}`);
    }
  }
  t.ok(compared > 500, `${compared} compared`);
  t.end();
});

/** Returns a parsed query without its places. */
function withoutPlaces(read: unknown): unknown {
  const places = ["source", "span", "operator", "operators"];
  return JSON.parse(JSON.stringify(read, (key, value) => (places.includes(key) ? undefined : value)) ?? "null");
}
