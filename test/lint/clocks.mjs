// Time is an input: sources take a Clock (grammar/units/clock.ts), and no check of a test depends on how fast the machine is.
// `node test/lint/clocks.mjs` prints each place that reads a clock or waits by itself; `npm run lint` runs it. Places that have
// a reason are listed in clocks.json by file and number; the lists only shrink.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const MAX_WIDTH = 120;
const listFile = join(root, "test/lint/clocks.json");

const SOURCE = /^(?:grammar|schema|language-server|vscode-extension|runtime|cli|logservice)\/.*\.tsx?$/;
const TEST = /^test\/.*\.ts$/;
/** The one real clock; what runs before anything is built, or is no part of the product. */
const EXEMPT =
  /^grammar\/units\/clock\.ts$|^cli\/build\/|\.generated\.|^test\/(?:bench|apps|fixtures|mutate|pictures|loop|lint)\/|^test\/(?:support\/until|lint\.test)\.ts$/;

/** Patterns of which any counts. */
const anyOf = (...patterns) => new RegExp(patterns.map(({ source }) => source).join("|"));

/** Date and performance by another name: const { now } = Date, Reflect.get(Date, "now"), import { performance as p }. */
const ALIAS = anyOf(
  /[=(,] *(?:globalThis\.)?(?:Date|performance)(?= *(?:[;,)]|$))/,
  /\bperformance as\b/,
  /\b(?:Date|performance)(?:\?\.)?\[/,
);
const READS = anyOf(
  ALIAS,
  /\bperformance\.now\b|\bDate\.now\b|\bhrtime\b|\bprocess\.uptime\b/,
  /\bnew Date\b(?!\((?!\)))|(?<!\bnew )(?<![.\w])Date\(/,
);
/** Waits that a test and a source have in common, by whatever name; of the timers of Node, setImmediate waits for no time. */
const BY_ANOTHER_NAME = anyOf(
  /\b(?:globalThis|window|self|timers\w*)\.set(?:Timeout|Interval)\b/,
  /\bAbortSignal\.timeout\b|\bAtomics\.wait|\bscheduler\.wait\b/,
  /\b(?:import|require)\(\s*"(?:node:)?timers|\bimport [^{"]+ from "(?:node:)?timers/,
);
const WAITS = anyOf(BY_ANOTHER_NAME, /(?<![.\w])set(?:Timeout|Interval)\b/);
const CLOCK = /(?:performance\.now\(\)|Date\.now\(\)|hrtime\(?\)?|process\.uptime\(\))/;
/** A duration that was measured, held against a bound. */
const BOUND = anyOf(
  new RegExp(`${CLOCK.source} *(?:[<>]|-[^;]*(?<!=)[<>])`),
  /(?<!=)[<>]=? *(?:performance\.now|Date\.now)/,
  /\b(?:ms|took\w*|elapsed\w*|\w*tookMs|durationMs|cancelledMs) *[<>]=? *[\d_]{2,}/,
);
/** A difference of times against a bound, in an assertion. */
const ASSERTED = /\bt\.(?:ok|notOk|equal|not|match|same)\(.*\b\w*Ms!?(?: - [\w.]+Ms!?)? *<=? *[\w.]+/;
/** A name that gets a duration. */
const DURATION = new RegExp(String.raw`\b(\w+)(?: =|:) (?:Math\.\w+)?\(*${CLOCK.source} *-`, "g");
const SLEEP = anyOf(
  BY_ANOTHER_NAME,
  /(?<![.\w])(?:sleep|pause|delay)\(|(?<![.\w])setTimeout\(|(?:= |\()setTimeout[;)]/,
  /\["set(?:Timeout|Interval)"|, "set(?:Timeout|Interval)"/,
);
/** The names by which a wait is noticed where it is called. */
const OTHER_SLEEP = /\bsetTimeout as (?!(?:sleep|pause|delay)\b)/;
const COMMENT = /(?<=^|\s)\/\/.*$|^\s*\/\*(?:(?!\*\/).)*(?:\*\/|$)|^\s*\*(?:[\s/].*)?$/;

/** Places of a source or a test: kind, line from 1, text. */
export function placesIn(file, text) {
  if (EXEMPT.test(file)) return [];
  const isTest = TEST.test(file);
  if (!isTest && !SOURCE.test(file)) return [];
  const names = [...text.matchAll(DURATION)].map(([, name]) => name);
  const named =
    names.length > 0 ? new RegExp(String.raw`\b(?:${names.join("|")}) *[<>]=? *(?:[\d_]{2,}|[A-Z_]{2,})`) : /(?!)/;
  return text.split("\n").flatMap((line, index) => {
    const code = line.replace(COMMENT, "");
    const isSleep = SLEEP.test(code) && (!/^\s*import\b/.test(code) || BY_ANOTHER_NAME.test(code));
    const kinds = isTest
      ? [
          (BOUND.test(code) || ASSERTED.test(code) || named.test(code)) && "bound",
          (isSleep || OTHER_SLEEP.test(code)) && "sleep",
        ]
      : [READS.test(code) && "read", WAITS.test(code) && "wait"];
    return kinds.filter(Boolean).map((kind) => ({ kind, line: index + 1, text: line.trim() }));
  });
}

const INSTEAD = {
  read: "take a Clock: nowMs(), monotonicMs() (grammar/units/clock.ts)",
  wait: "take a Clock: sleep(), after(), every() (grammar/units/clock.ts)",
  bound:
    "no check depends on how fast the machine is: count, turn a TestClock, or compare processor times (test/README.md)",
  sleep: "wait for what is to come with until (test/support/until.ts), or turn a TestClock",
};

/** Returns how the current places differ from the list: new places, and entries that are larger than what is there. */
export function clockFaults(current, listed) {
  const faults = [];
  for (const [key, places] of Object.entries(current)) {
    const { count = 0 } = listed[key] ?? {};
    if (places.length <= count) continue;
    for (const { file, line, text, kind } of places)
      faults.push(`${file}:${line}  ${text}\n    ${INSTEAD[kind]}${count > 0 ? `; ${count} are listed` : ""}`);
  }
  for (const [key, { count, reason }] of Object.entries(listed)) {
    const now = current[key]?.length ?? 0;
    if (now < count)
      faults.push(`test/lint/clocks.json: ${key} has ${count}, there are ${now}: make it ${now === 0 ? "go" : now}`);
    if (!reason) faults.push(`test/lint/clocks.json: ${key} has no reason`);
  }
  return faults;
}

export function placesByKey(files) {
  const places = {};
  for (const [file, text] of files)
    for (const place of placesIn(file, text)) {
      const key = `${file} ${place.kind}`;
      places[key] = [...(places[key] ?? []), { file, ...place }];
    }
  return places;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.ts", "*.tsx"], {
    cwd: root,
    encoding: "utf8",
  });
  const files = names
    .split("\n")
    .filter(Boolean)
    .flatMap((file) => {
      try {
        return [[file, readFileSync(join(root, file), "utf8")]];
      } catch {
        return []; // Removed, and not committed yet.
      }
    });
  const places = placesByKey(files);
  const listed = JSON.parse(readFileSync(listFile, "utf8"));
  if (process.argv.includes("--shrink")) {
    const kept = Object.entries(listed).flatMap(([key, { count, reason }]) => {
      const now = Math.min(count, places[key]?.length ?? 0);
      return now === 0 ? [] : [[key, { count: now, reason }]];
    });
    writeFileSync(listFile, listText(Object.fromEntries(kept)));
  } else {
    const faults = clockFaults(places, listed);
    for (const fault of faults) console.error(fault);
    if (faults.length > 0)
      console.error(`${faults.length} places; node test/lint/clocks.mjs --shrink takes out of the list what is gone`);
    process.exitCode = faults.length > 0 ? 1 : 0;
  }
}

export function listText(list) {
  const rows = Object.entries(list)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { count, reason }]) => {
      // As Biome formats it.
      const members = [`"count": ${count}`, `"reason": ${JSON.stringify(reason)}`];
      const line = `  ${JSON.stringify(key)}: { ${members.join(", ")} }`;
      return line.length < MAX_WIDTH ? line : `  ${JSON.stringify(key)}: {\n    ${members.join(",\n    ")}\n  }`;
    });
  return `{\n${rows.join(",\n")}\n}\n`;
}
