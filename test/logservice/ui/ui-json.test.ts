// JSON that the texts of events hold, as the tree in the detail has it.
import fc from "fast-check";
import t from "tap";
import { type JsonNode, jsonIn, nodeText, openLevels, pathText } from "../../../logservice/ui/explorer/json-text.ts";

/** The value that a tree stands for, by JSON.parse's rules. */
function read(node: JsonNode): unknown {
  if (!("members" in node)) return node.kind === "string" ? node.text : JSON.parse(node.text);
  if (node.kind === "list") return node.members.map(([, member]) => read(member));
  return Object.fromEntries(node.members.map(([key, member]) => [key, read(member)]));
}

t.test("whatever JSON has, in its order", (t) => {
  const values = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
  for (const value of fc.sample(values, { seed: 9, numRuns: 600 })) {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, "\t"), ` ${JSON.stringify(value)}\r\n`]) {
      const node = jsonIn(text);
      if (node === undefined) t.fail(text);
      else t.same(read(node), JSON.parse(text), text.slice(0, 60));
    }
  }
  t.end();
});

t.test("what is written is kept", (t) => {
  const node = jsonIn('{"n":12345678901234567890.10,"e":1E400,"k":1,"k":2,"__proto__":{"a":[]},"u":"\\u202e\\"}"}');
  t.same(node, {
    kind: "object",
    members: [
      ["n", { kind: "number", text: "12345678901234567890.10" }],
      ["e", { kind: "number", text: "1E400" }],
      ["k", { kind: "number", text: "1" }],
      ["k", { kind: "number", text: "2" }],
      ["__proto__", { kind: "object", members: [["a", { kind: "list", members: [] }]] }],
      ["u", { kind: "string", text: '\u202e"}' }],
    ],
  });
  t.end();
});

t.test("a part is copied as it is written, and by its way", (t) => {
  const text = '{"n":12345678901234567890.10,"e":1E400,"k":1,"k":2,"__proto__":{"a":[]},"o":[[null,"\\u202e"]]}';
  t.equal(nodeText(jsonIn(text)!), text.replace("\\u202e", "\u202e"));
  const rows: readonly (readonly [path: readonly (string | number)[], shown: string])[] = [
    [[], "."],
    [["a", "b_1", 0, "c"], ".a.b_1[0].c"],
    [[0, 17], ".[0][17]"],
    [["a b", "c"], '.["a b"].c'],
    [["a", "0", 'q"\\'], '.a["0"]["q\\"\\\\"]'],
    [["o\u202ed\u{e0041}\n"], '.["o\\u202ed\\udb40\\udc41\\n"]'],
    [["__proto__"], ".__proto__"],
  ];
  for (const [path, shown] of rows) t.equal(pathText(path), shown);
  t.end();
});

t.test("so many levels are open at first that the page is not held up", (t) => {
  const list = (size: number, inner: string) => `[${Array(size).fill(inner).join()}]`;
  const rows: readonly (readonly [what: string, text: string, levels: number])[] = [
    ["nothing in it", "{}", 1],
    ["a flat one", '{"a":1,"b":2}', 1],
    ["20 deep", `${'{"a":'.repeat(20)}1${"}".repeat(20)}`, 20],
    ["200 deep", `${"[".repeat(200)}1${"]".repeat(200)}`, 200],
    ["10,000 in a list", list(10_000, "1"), 1],
    ["a list of small ones", list(90, '{"a":1,"b":2}'), 2],
    ["a list of larger ones", list(99, list(9, "1")), 1],
    ["98 lists of 98 lists", list(98, list(98, "[1,1]")), 1],
    ["wide further down", `{"a":{"b":${list(99, list(9, "1"))}}}`, 3],
  ];
  for (const [what, text, levels] of rows) t.equal(openLevels(jsonIn(text)!), levels, what);
  t.end();
});

t.test("other texts stay texts", (t) => {
  const deep = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
  for (const text of ["", "1", '"a"', "{", "{]", "[1,]", "{'a':1}", "[x] failed", '{"a":1} and more', "[NaN]"])
    t.equal(jsonIn(text), undefined, text);
  t.ok(jsonIn(deep(20)) && jsonIn(deep(200)));
  t.equal(jsonIn(deep(202)), undefined, "deeper than anybody writes");
  t.equal(jsonIn(deep(100_000)), undefined);
  t.equal(jsonIn(`["${"x".repeat(300_000)}"]`), undefined, "longer than an event");
  t.match(jsonIn(`[${"1,".repeat(9_999)}1]`), { kind: "list", members: { length: 10_000 } });
  t.end();
});
