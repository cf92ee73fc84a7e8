// The changes of `npm run t -- --record` to the rows of test/vectors: the members alone, in the format that is there.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { root } from "../support/cli.ts";
import { withMembers } from "../support/vectors.ts";

t.test("a row keeps its format", (t) => {
  for (const [name, before, path, members, after] of [
    [
      "compact, in a line",
      '[\n  {"a":1,"b":[1,2]},\n  {"a":2}\n]\n',
      [0],
      { b: [3] },
      '[\n  {"a":1,"b":[3]},\n  {"a":2}\n]\n',
    ],
    ["spaced", '[\n  {"a": 1, "b": [1, 2]}\n]\n', [0], { b: [3, 4, 5] }, '[\n  {"a": 1, "b": [3, 4, 5]}\n]\n'],
    ["with room in its braces", '[\n  { "a": 1, "b": "" }\n]\n', [0], { b: "x" }, '[\n  { "a": 1, "b": "x" }\n]\n'],
    ["a member that is new", '[\n  {"a": 1}\n]\n', [0], { b: "x" }, '[\n  {"a": 1, "b": "x"}\n]\n'],
    ["a member that goes", '[\n  {"a": 1, "b": "x"}\n]\n', [0], { b: undefined }, '[\n  {"a": 1}\n]\n'],
    [
      "an array",
      '{\n  "rows": [\n    ["1d", 1, "1d"]\n  ]\n}\n',
      ["rows", 0],
      { 2: "24h" },
      '{\n  "rows": [\n    ["1d", 1, "24h"]\n  ]\n}\n',
    ],
    [
      "in lines",
      '[\n  {\n    "a": [\n      1\n    ],\n    "b": 1\n  }\n]\n',
      [0],
      { a: [1, 2] },
      '[\n  {\n    "a": [\n      1,\n      2\n    ],\n    "b": 1\n  }\n]\n',
    ],
    [
      "a member a line, each its own",
      '[\n  {\n    "a": {"x":1},\n    "b": ["y", "z"]\n  }\n]\n',
      [0],
      { a: { x: 2 }, b: ["z"] },
      '[\n  {\n    "a": {"x":2},\n    "b": ["z"]\n  }\n]\n',
    ],
    [
      "lists in lines, in an object in one",
      '[\n  {"a":1,"b":[\n    ["x",1],\n    ["y",2]\n  ]}\n]\n',
      [0],
      {
        b: [
          ["x", 1],
          ["z", 3],
        ],
      },
      '[\n  {"a":1,"b":[\n    ["x",1],\n    ["z",3]\n  ]}\n]\n',
    ],
    ["nothing", '[ {"a":1 } ]', [0], { a: 1 }, '[ {"a":1 } ]'],
  ] as const) {
    t.equal(withMembers(before, [...path], members), after, name);
    t.same(
      (JSON.parse(after) as unknown[]) && JSON.parse(withMembers(before, [...path], members)),
      JSON.parse(after),
      `${name}, read`,
    );
  }
  t.end();
});

t.test("any member of any row of the files: set and set back, the text is the same", (t) => {
  for (const name of readdirSync(join(root, "test/vectors")).filter((name) => name.endsWith(".json"))) {
    const text = readFileSync(join(root, "test/vectors", name), "utf8");
    const content = JSON.parse(text);
    const lists: [path: (string | number)[], rows: unknown[]][] = Array.isArray(content)
      ? [[[], content]]
      : Object.entries(content).flatMap(([key, rows]) => (Array.isArray(rows) ? [[[key], rows]] : []));
    for (const [path, rows] of lists) {
      const [row] = rows;
      if (typeof row !== "object" || row === null || Array.isArray(row)) continue;
      for (const [key, value] of Object.entries(row)) {
        const at = [...path, 0];
        const changed = withMembers(text, at, { [key]: "another" });
        JSON.parse(changed);
        if (typeof value === "string") {
          t.equal(withMembers(changed, at, { [key]: value }), text, `${name} ${at.join(".")}.${key}`);
        }
      }
    }
  }
  t.end();
});
