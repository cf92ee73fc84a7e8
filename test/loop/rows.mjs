// Which rows of the tests are gone, and which are new.
//
//   node test/loop/rows.mjs BEFORE AFTER      two folders of TAP outputs, as `npm test -- --out=DIR` writes them
//   node test/loop/rows.mjs FOLDER            the rows of one folder, with their numbers
//
// A row is the path of the nested names of an assertion or a subtest; the file does not count, as rows may move. What
// differs from run to run in a name (ports, process ids, temporary paths, times, random ids) counts as equal. A row is lost if it
// is there fewer times than before, or is skipped or fails now. Exit code 1 if any is lost.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SEPARATOR = " > ";

/** How often each row of a TAP output passes. */
export function rowsOf(tap) {
  const rows = new Map();
  const path = [];
  let isDiagnostic = false;
  for (const line of tap.split("\n")) {
    const indent = /^ */.exec(line)[0].length;
    const text = line.slice(indent);
    // The lines of tap about a failed assertion may hold anything.
    if (isDiagnostic) {
      if (text === "...") isDiagnostic = false;
      continue;
    }
    if (text === "---" && indent % 4 === 2) isDiagnostic = true;
    if (indent % 4 !== 0) continue;
    const depth = indent / 4;
    const begin = /^# Subtest: (.*)$/.exec(text);
    if (begin !== null) {
      path[depth] = nameOf(begin[1]);
      path.length = depth + 1;
      continue;
    }
    const point = /^ok \d+(?: - (.*))?$/.exec(text.trimEnd());
    const opened = /^(?:not )?ok \d+ - (.*) \{$/.exec(text.trimEnd());
    if (point !== null && !/# (?:SKIP|TODO)\b/i.test(point[1] ?? "")) {
      const row = [...path.slice(0, depth), nameOf(point[1] ?? "")].join(SEPARATOR);
      rows.set(row, (rows.get(row) ?? 0) + 1);
    }
    // A subtest whose rows follow its result.
    if (opened !== null) {
      path[depth] = nameOf(opened[1]);
      path.length = depth + 1;
    }
  }
  return rows;
}

function nameOf(text) {
  return normalized(
    text
      .replace(/ \{$/, "")
      .replace(/ # time=.*$/, "")
      .trimEnd(),
  );
}

const volatile = [
  // The two runs may be of different trees.
  [
    /(?:\/[\w.-]+)+\/(?=(?:grammar|schema|language-server|vscode-extension|cli|runtime|logservice|test|dist)\/)/g,
    "<root>/",
  ],
  // Bodies that an app echoes, which are cut off anywhere.
  [/("X-(?:Amzn-Trace-Id|Request-Id|Forwarded-Port)",")[^"]*/g, "$1<id>"],
  [/(?<="rawHeaders":\[.*)[^"\w]*"[^"]*$/g, "<cut>"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, "<time>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<uuid>"],
  [/(?:\/[\w.-]+)*\/tmp\/[^\s'"`,;)]*/g, "<temporary>"],
  [/(\b127\.0\.0\.1|\blocalhost|\[::1\]|\bport|\bpid|\bprocess|\bseed):? ?=?\d+/g, "$1:<n>"],
  [/ \(\d+(?:\.\d+)? ?m?s\)/g, ""],
  [/\b\d+(?:\.\d+)?(?= ?(?:ms|µs|us|ns|s|seconds?|bytes|B|KB|MB|GB|KiB|MiB|GiB)\b)/g, "<n>"],
  [/\b\d+\.\d{3,}\b/g, "<n>"],
  [/\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/g, "<hex>"],
  [/\b(?=[0-9a-z]*\d)[0-9a-z]{20}\b/g, "<id>"],
  [/\b(?:tok|lgs)_\w+/g, "<token>"],
  [/\b(?:inv|sig)_[\w.-]+/gi, "<link>"],
  [/\(request [^)]*\)?/g, "(request <id>)"],
  [/\b(\d{16}-\d{16})-\w+-\d+(?=\.parquet)/g, "$1-<n>"],
  [/(?<="duration":)\d+/g, "<n>"],
  [/(?<=https:\/\/)\w{10}(?=\.execute-api)/g, "<id>"],
];

/** The end of a longer name is output, which may come in another order. */
const MAX_NAME_LENGTH = 200;

export function normalized(name) {
  return volatile.reduce((so, [pattern, by]) => so.replace(pattern, by), name).slice(0, MAX_NAME_LENGTH);
}

/** Returns the rows that `before` has more often than `after`, with the difference. */
export function missing(before, after) {
  return [...before].flatMap(([row, count]) => {
    const fewer = count - (after.get(row) ?? 0);
    return fewer > 0 ? [{ row, fewer }] : [];
  });
}

function rowsIn(folder) {
  const all = new Map();
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".tap")) : [];
  if (files.length === 0) {
    console.error(`${folder} has no *.tap files: \`npm test -- --out=${folder}\` writes them`);
    process.exit(2);
  }
  for (const name of files) {
    for (const [row, count] of rowsOf(readFileSync(join(folder, name), "utf8"))) {
      all.set(row, (all.get(row) ?? 0) + count);
    }
  }
  return all;
}

const sum = (counts) => counts.reduce((so, count) => so + count, 0);

function print(title, rows) {
  if (rows.length === 0) return;
  console.log(`${title}:`);
  for (const { row, fewer } of rows) console.log(`  ${fewer > 1 ? `${fewer} x ` : ""}${row}`);
}

function main(folders) {
  const [before, after] = folders.map(rowsIn);
  if (after === undefined) {
    for (const [row, count] of before) console.log(`${count}\t${row}`);
    return;
  }
  const lost = missing(before, after);
  const added = missing(after, before);
  print("lost", lost);
  print("new", added);
  const total = (rows) => `${rows.size} rows, ${sum([...rows.values()])} assertions`;
  console.log(`before: ${total(before)}; after: ${total(after)}; lost: ${lost.length}, new: ${added.length}`);
  process.exitCode = lost.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folders = process.argv.slice(2);
  if (folders.length === 1 || folders.length === 2) main(folders);
  else {
    console.error("usage: node test/loop/rows.mjs BEFORE [AFTER]");
    process.exitCode = 2;
  }
}
