// .toolignore: what a text of it leaves out, held against rows, against git where both say the same, and as properties.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  decide,
  explainPattern,
  type IgnoreDecision,
  lineAt,
  mayHold,
  parseIgnore,
  ROOT,
  readPattern,
} from "../../schema/ignore/index.ts";
import { type Random, randomOf } from "../support/random.ts";
import { requires } from "../support/require.ts";
import rows from "../vectors/ignore.json" with { type: "json" };

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
    let decision: IgnoreDecision = ROOT;
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

/** Names of the generated trees. No letter of several bytes: git's wildcards count bytes. */
const TREE = ["a", "b", "ab", "b.js", "a.js", "lib", "x", ".a", ".env", "c d", "A", "[b", "#a", "!b", "a-"];

/** What a name of a pattern may be. */
const PARTS = [
  ...["a", "b", "ab", "lib", "x", "a.js", "A", "c d", "a-", "\\a", "\\*"],
  ...["*", "*.js", "a*", "*b", "?", "??", "a?", "*a*", "**", "*.*"],
  ...["[ab]", "[!a]*", "[^b]", "[a-c].js", "[c-a]", "[]a]", "[[:alpha:]]", "[[:digit:]a]", "[a-]"],
];
/** Where a line brings back, as its last name only: git brings nothing back below a folder whose name is a dotfile's. */
const DOTTED = [".a", ".env", ".*", ".e*"];
/**
 * Lines of their own. What is cut off, and stars beside a name, mean more to git before a slash: it takes the text before
 * the first wildcard off, and a set may hold a slash.
 */
const LINES = [
  "*",
  "*",
  "**",
  "",
  "# a",
  "\\#a",
  "\\!b",
  "a ",
  "c d",
  "a//b",
  "/",
  "!",
  "!/",
  "[a",
  "a\\",
  "a**",
  "!a**",
];

function generateLine({ below, chance, pick }: Random): string {
  if (chance(0.12)) return pick(LINES);
  const isNegated = chance(0.4);
  const names = Array.from({ length: pick([1, 1, 1, 2, 2, 3]) }, () => pick(PARTS));
  let suffixes = ["", "", "", "/", "/**", "/*"];
  if (chance(0.15)) {
    names[isNegated ? names.length - 1 : below(names.length)] = pick(DOTTED);
    if (isNegated) suffixes = ["", "/"];
  }
  const first = pick(["", "", "", "/", "./", "**/"]);
  return (isNegated ? "!" : "") + first + names.join("/") + pick(suffixes);
}

/** The lines of a .gitignore that says the same: the specification's own rules in git's words. */
function toGit(lines: readonly string[]): string[] {
  // Dotfiles are left out.
  const written = [".*"];
  for (const [i, line] of lines.entries()) {
    const isNegated = line.startsWith("!");
    let pattern = (isNegated ? line.slice(1) : line).replace(/^\.\//, "/");
    if (line === "" || line.startsWith("#")) continue;
    // Any path that contains it.
    if (/[^/].*\/./.test(pattern) && !/^(\/|\*\*\/)/.test(pattern)) pattern = `**/${pattern}`;
    if (isNegated) written.push(...withoutDots(pattern).map((one) => `!${one}`));
    else {
      written.push(pattern);
      // A lone star with lines after it that bring back something selects.
      if (pattern === "*" && lines.slice(i + 1).some((later) => later.startsWith("!"))) written.push("![!.]*/");
    }
  }
  return written;
}

/** A line that brings back means dotfiles that it names: its wildcards mean none. */
function withoutDots(pattern: string): string[] {
  const [name = "", ...rest] = pattern.split(/(?<=\/)/);
  // A last `**` is anything below.
  const last = /^\*\*(\/?)$/.exec(name);
  if (rest.length === 0) return last === null ? nameWithoutDots(name) : [`**/[!.]*${last[1]}`];
  const variants = last === null ? nameWithoutDots(name) : [name];
  return variants.flatMap((one) => withoutDots(rest.join("")).map((tail) => one + tail));
}

function nameWithoutDots(name: string): string[] {
  const set = /^\[([!^])(.*)$/s.exec(name);
  if (set !== null) return [`[!.${set[2]}`];
  if (name.startsWith("?")) return [`[!.]${name.slice(1)}`];
  if (!name.startsWith("*")) return [name];
  const rest = name.replace(/^\*+/, "");
  const isEmpty = rest === "" || rest === "/";
  return [`[!.]*${rest}`, ...(isEmpty || rest.startsWith(".") ? [] : nameWithoutDots(rest))];
}

/** Files of a small tree; no path is a file and a folder. */
function generateTree({ below, pick }: Random): string[] {
  const files = new Set<string>();
  for (let i = 0; i < 12; i++) {
    const path = Array.from({ length: 1 + below(4) }, () => pick(TREE)).join("/");
    if (![...files].some((file) => file.startsWith(`${path}/`) || path.startsWith(`${file}/`))) files.add(path);
  }
  return [...files];
}

const COUNT = Number(process.env.FUZZ_COUNT ?? 4000);
const SEED = Number(process.env.FUZZ_SEED ?? 20261122);
/** git is asked once about all files of this many pairs. */
const BATCH = 1000;

t.test(
  `git says the same of ${COUNT} pairs of patterns and trees, FUZZ_SEED=${SEED}`,
  { skip: requires("git") },
  (t) => {
    const random = randomOf(SEED);
    const directory = t.testdir();
    const env = { PATH: process.env.PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: "1" };
    const git = (words: string[], input = "") =>
      spawnSync("git", ["-c", "core.excludesFile=/dev/null", ...words], {
        cwd: directory,
        env,
        input,
        maxBuffer: 2 ** 28,
      });
    git(["init", "--quiet", "--template="]);
    const seen = { kept: 0, dropped: 0, broughtBack: 0 };
    for (let done = 0; done < COUNT; done += BATCH) {
      const pairs = Array.from({ length: Math.min(BATCH, COUNT - done) }, (_, i) => ({
        folder: `case${i}`,
        lines: Array.from({ length: 1 + random.below(5) }, () => generateLine(random)),
        files: generateTree(random),
      }));
      for (const { folder, lines } of pairs) {
        // git takes a path that is not there for a file, and what is around it for folders.
        mkdirSync(join(directory, folder), { recursive: true });
        writeFileSync(join(directory, folder, ".gitignore"), toGit(lines).join("\n"));
      }
      const asked = pairs.flatMap(({ folder, files }) => files.map((file) => `${folder}/${file}`));
      const answer = git(["check-ignore", "--no-index", "-z", "--stdin"], `${asked.join("\0")}\0`);
      if (answer.status !== 0) throw new Error(`git check-ignore: ${answer.stderr}`);
      const ignored = new Set(answer.stdout.toString().split("\0"));
      for (const { folder, lines, files } of pairs) {
        const { kept } = walk(lines.join("\n"), files);
        const expected = files.filter((file) => !ignored.has(`${folder}/${file}`));
        seen.kept += kept.length;
        seen.dropped += files.length - kept.length;
        const plain = walk(lines.filter((line) => !line.startsWith("!")).join("\n"), files).kept;
        if (kept.some((file) => !plain.includes(file))) seen.broughtBack++;
        if (kept.join("\0") !== expected.join("\0")) {
          const both = { kept, expected, git: toGit(lines) };
          t.same(kept, expected, `${JSON.stringify(lines)} ${JSON.stringify(both)}`);
        }
      }
      if (!t.passing()) break;
    }
    t.comment(`${seen.kept} files kept, ${seen.dropped} left out, ${seen.broughtBack} pairs bring something back`);
    t.ok(Math.min(seen.kept, seen.dropped) > COUNT && seen.broughtBack > COUNT / 20, "both answers are common");
    t.end();
  },
);

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
