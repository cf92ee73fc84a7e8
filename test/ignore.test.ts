// .toolignore: what a text of it leaves out, held against rows, against git where both say the same, and as properties.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import {
  type Decision,
  decide,
  explainPattern,
  lineAt,
  mayHold,
  parseIgnore,
  ROOT,
  readPattern,
} from "../schema/ignore/index.ts";
import { randomOf } from "./support/random.ts";
import { requires } from "./support/require.ts";
import rows from "./vectors/ignore.json" with { type: "json" };

interface Walked {
  /** The files that go along. */
  readonly kept: string[];
  /** Folders that no walk needs to look into. */
  readonly closed: string[];
}

/** Decides about files of a tree; a folder is what has something below it. */
function walk(ignore: string, files: readonly string[], isNeeded?: (names: readonly string[]) => boolean): Walked {
  const options = { rules: parseIgnore(ignore), ...(isNeeded && { isNeeded }) };
  const closed = new Set<string>();
  const kept = files.filter((file) => {
    let decision: Decision = ROOT;
    const names = file.split("/");
    for (const [i, name] of names.entries()) {
      const isFolder = i < names.length - 1;
      decision = decide(decision, name, isFolder, options);
      const path = names.slice(0, i + 1).join("/");
      if (isFolder && decision.reason !== undefined && !mayHold(decision, options)) closed.add(path);
    }
    return decision.reason === undefined;
  });
  return { kept, closed: [...closed] };
}

t.test("what a .toolignore leaves", (t) => {
  for (const { ignore, keeps = [], drops = [] } of rows.rows as {
    ignore: string[];
    keeps?: string[];
    drops?: string[];
  }[]) {
    const { kept } = walk(ignore.join("\n"), [...keeps, ...drops]);
    t.same(kept, keeps, JSON.stringify(ignore));
  }
  t.end();
});

t.test("a line", (t) => {
  for (const { line, pattern, says } of rows.lines as { line: string; pattern: string | null; says?: string }[]) {
    const read = readPattern({ text: line, start: 0, end: line.length });
    t.equal(read === undefined ? null : line.slice(read.start, read.end), pattern, JSON.stringify(line));
    if (says !== undefined) t.equal(explainPattern(read!), says, JSON.stringify(line));
  }
  for (const [text, offset, line] of [
    ["a\nb\r\nc", 0, "a"],
    ["a\nb\r\nc", 2, "b"],
    ["a\nb\r\nc", 5, "c"],
    ["a\nb\r\nc", 6, "c"],
    ["", 0, ""],
  ] as const) {
    t.equal(lineAt(text, offset).text, line, `${JSON.stringify(text)} at ${offset}`);
  }
  t.same(
    parseIgnore("\ufeff# no\n\r\na/\r\n!b\rc").map(({ line, text }) => [line, text]),
    [
      [3, "a/"],
      [4, "!b"],
      [5, "c"],
    ],
    "lines are counted as editors count them",
  );
  t.end();
});

t.test("what is needed", (t) => {
  const isNeeded = (names: readonly string[]) => names[0] === ".pypath" || names.slice(0, -1).includes("node_modules");
  const files = [".env", ".pypath/.hidden/a.py", ".pypath/b.py", "node_modules/.bin/next", "app.py"];
  for (const [ignore, kept] of [
    ["", [".pypath/.hidden/a.py", ".pypath/b.py", "node_modules/.bin/next", "app.py"]],
    ["*\n!app.py", [".pypath/.hidden/a.py", ".pypath/b.py", "app.py"]],
    [".pypath", ["node_modules/.bin/next", "app.py"]],
    ["**/.hidden", [".pypath/b.py", "node_modules/.bin/next", "app.py"]],
    ["node_modules/.bin", [".pypath/.hidden/a.py", ".pypath/b.py", "app.py"]],
  ] as const) {
    t.same(walk(ignore, files, isNeeded).kept, kept, JSON.stringify(ignore));
  }
  t.end();
});

const NAMES = ["a", "b", "ab", "src", "node_modules", "a.js", "b.js", "x.map", "c d", "ü"];
const PATTERNS = [
  "a",
  "b",
  "*.js",
  "src",
  "a*",
  "*b",
  "?",
  "[ab]",
  "[!a]*",
  "*",
  "x.map",
  "a?",
  "[a-b].js",
  "ü",
  "c d",
  "*.*",
];

t.test("git leaves the same", { skip: requires("git") }, (t) => {
  // What both read alike: no dotfiles, no wildcard for a letter of several bytes, of which git counts each, no slash but a last one or a first (./ is not git's), and nothing brought back.
  const { below, chance, pick } = randomOf(20261121);
  const directory = t.testdir();
  const files = new Set<string>();
  while (files.size < 150) {
    const depth = 1 + below(4);
    const names = Array.from({ length: depth }, () => pick(NAMES.filter((name) => name !== "ü")));
    const path = names.join("/");
    const isTaken = [...files].some((file) => file.startsWith(`${path}/`) || path.startsWith(`${file}/`));
    if (!isTaken) files.add(path);
  }
  for (const file of files) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), "");
  }
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "core.quotePath=false", ...words], { cwd: directory, encoding: "utf8" });
  git("init", "--quiet");
  for (let round = 0; round < 60; round++) {
    const lines = Array.from({ length: 1 + below(3) }, () => {
      const first = chance(0.25) ? "/" : chance(0.2) ? "**/" : "";
      const last = chance(0.25) ? "/" : first === "/" && chance(0.3) ? "/**" : "";
      return first + pick(PATTERNS) + last;
    });
    writeFileSync(join(directory, ".git/rules"), lines.join("\n"));
    const expected = git("ls-files", "--others", "-z", "--exclude-from=.git/rules").split("\0").filter(Boolean);
    t.same(walk(lines.join("\n"), [...files]).kept.sort(), expected.sort(), lines.join(" | "));
  }
  t.end();
});

t.test("a folder that is closed holds nothing that goes along", (t) => {
  const { below, chance, pick } = randomOf(7);
  const names = [...NAMES, ".git", ".env", ".a"];
  const patterns = [
    ...PATTERNS,
    ".env",
    ".a",
    ".*",
    "**",
    "a/**/b",
    "src/.env",
    ".a/b",
    "./src",
    "/a/b",
    "**/x.map",
    "a/",
    ".a/**",
  ];
  let closed = 0;
  for (let round = 0; round < 3000; round++) {
    const ignore = Array.from({ length: 1 + below(4) }, () => (chance(0.5) ? "!" : "") + pick(patterns));
    const files = Array.from({ length: 20 }, () => Array.from({ length: 1 + below(5) }, () => pick(names)).join("/"));
    const walked = walk(ignore.join("\n"), files);
    closed += walked.closed.length;
    const wrong = walked.closed.flatMap((folder) => walked.kept.filter((file) => file.startsWith(`${folder}/`)));
    if (wrong.length > 0) t.fail(`${ignore.join(" | ")} keeps ${wrong.join(", ")} in a folder that is closed`);
  }
  t.ok(closed > 10_000, `${closed} folders were closed`);
  t.end();
});

t.test("a pattern made to take long takes no longer", (t) => {
  const name = "a".repeat(255);
  const files = Array.from({ length: 100 }, (_, i) => Array.from({ length: 40 }, () => `${name}${i}`).join("/"));
  const { kept } = walk(`${"*a".repeat(100)}b\n${"**/a*/".repeat(60)}b\n${"[a-z]*".repeat(80)}!`, files);
  t.equal(kept.length, files.length);
  t.end();
});
