// Plain English, kept: the words that a native reader stumbles over, in comments, documents, help and messages.
// `node test/lint/english.mjs [folder or file ...]` prints each place with what to write; `npm run lint` runs it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The patterns that are looked for in a line, and what to write instead. */
const WORDS = [
  {
    pattern: /^\s*(?:\/\/|\/?\*+) ?Of\b|[.:;] Of (?:a|an|the|each|what|one|which)\b/,
    instead: 'the name of the thing first: "Size of the zip in bytes.", not "Of the zip."',
  },
  { pattern: /\b(?:stands?|stood|standing)\b/i, instead: '"is", or the verb that says what happens' },
  { pattern: /\b(?:lies?|lying|lay)\b/i, instead: '"is"; a file is in a folder' },
  { pattern: /\bbehind\b/i, instead: '"after" for time and order, "past" for an offset, "next to" for a place' },
];

/** Where such a word is the usual one. Each is taken out of a line before it is looked at. */
const ALLOWED = [
  { pattern: /\bstand-ins?\b/gi, reason: "the usual word for a thing that takes another's place" },
  { pattern: /\bstand(?:s|ing)? (?:in )?for\b/gi, reason: "to mean, to represent" },
  { pattern: /"The metadata JSON and the delimiter must lie\b/g, reason: "a quotation" },
  { pattern: /\bstanding out\b|\bstands? out\b/gi, reason: "to be easy to see" },
  { pattern: /\bstand-?alone\b/gi, reason: "the usual word for a program without others" },
  {
    pattern:
      /\bbehind (?:\S+ ){0,3}?(?:proxy|proxies|gateways?|API Gateway|balancer|firewall|NAT|CDN|CloudFront|nginx|door|http-proxy|pipeline)\b/gi,
    reason: "an upstream is behind its proxy: the field's word",
  },
  { pattern: /\b(?:leave|leaves|leaving|left|stays?)(?: \S+){0,4}? behind\b/gi, reason: "to go away without it" },
  { pattern: /\b(?:fall|falls|fell|fallen|lag|lags|be|is|are|was|left|runs?) behind\b/gi, reason: "to be late" },
  { pattern: /\bbehind (?:the|its) (?:scenes|back)\b/gi, reason: "fixed phrases" },
  { pattern: /\blook(?:s|ed|ing)? ?-?behinds?\b|\blookbehinds?\b/gi, reason: "a regular expression's assertion" },
];

/** Texts of others, and what the lint itself and its rows have to name. */
const SKIPPED = [
  /^test\/vectors\//,
  /^test\/lint\b/,
  /^package-lock\.json$/,
  /^LICENSE$/,
  /\.generated\./,
  /^test\/corpus\//,
];
const READ = /\.(?:tsx?|mjs|md|ohm|html|css|yml|sh)$|\.schema\.json$|(?:^|\/)package\.json$|^\.ci\/run$/;

/**
 * The places of a text: line from 1, the line, what to write. `isTest`: in its comments alone, as its texts are names of
 * rows, and what the rows are about.
 */
export function placesIn(text, isTest = false) {
  return text.split("\n").flatMap((line, index) => {
    const read = isTest ? (/^\s*(?:\/\/|\/?\*).*|(?<=\s)\/\/ .*/.exec(line)?.[0] ?? "") : line;
    const left = ALLOWED.reduce((rest, { pattern }) => rest.replace(pattern, ""), read);
    return WORDS.filter(({ pattern }) => pattern.test(left)).map(({ instead }) => ({
      line: index + 1,
      text: line,
      instead,
    }));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const listed = spawnSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--error-unmatch", "--", ...words],
    { cwd: root, encoding: "utf8" },
  );
  // Nothing that was read is no success.
  if (listed.status !== 0) {
    console.error(listed.stderr.trim());
    process.exit(2);
  }
  const files = listed.stdout
    .split("\0")
    .filter(
      (file) => READ.test(file) && existsSync(resolve(root, file)) && !SKIPPED.some((pattern) => pattern.test(file)),
    );
  const places = files.flatMap((file) =>
    placesIn(readFileSync(resolve(root, file), "utf8"), /^test\/.*\.(?:ts|mjs)$/.test(file)).map((place) => ({
      file,
      ...place,
    })),
  );
  for (const { file, line, text, instead } of places)
    console.log(`${file}:${line}: ${text.trim()}\n    write ${instead}`);
  console.log(
    places.length === 0
      ? `${files.length} files in plain English`
      : `${places.length} place${places.length === 1 ? "" : "s"} in ${new Set(places.map(({ file }) => file)).size} of ${files.length} files`,
  );
  process.exitCode = places.length === 0 ? 0 : 1;
}
