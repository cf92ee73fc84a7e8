// Lists that only shrink, in ratchets.json: functions that are too long, exported names that several files declare,
// comments that open with "What", and declarations that are named by a participle alone (found, known, asked, told). A new
// entry fails, and so does a listed one that has gone or shrunk, until it is taken out:
// `node test/lint/ratchets.mjs --record` does that, and adds nothing without `--grow`.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "acorn";
import { transform } from "esbuild";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const LIST = "test/lint/ratchets.json";
const SOURCES = /^(?:grammar|schema|language-server|vscode-extension|cli|runtime|logservice)\//;

/** Rows that are such comments and declarations themselves. */
const ROWS = "test/lint.test.ts";

/** A longer function usually has two concerns. */
const MAX_LINES = 100;

/** The functions of a source that have more lines than MAX_LINES: their names with how many. */
export async function longFunctionsIn(path, text) {
  const long = new Map();
  if (text.split("\n").length <= MAX_LINES) return long;
  const loader = { ".ts": "ts", ".tsx": "tsx" }[extname(path)] ?? "js";
  // The types are gone from the code; the map says on which lines of the source the rest is.
  const { code, map } = await transform(text, { loader, jsx: "automatic", sourcemap: "external" });
  const sourceLine = sourceLines(code, JSON.parse(map).mappings);
  const visit = (node, own, outer) => {
    const isFunction = /Function/.test(node.type);
    const name = node.id?.name ?? own;
    let inner = outer;
    if (isFunction) {
      inner = name ?? `a callback in ${outer}`;
      const lines = sourceLine(node.end - 1) - sourceLine(node.start) + 1;
      // Of functions that have the same name, such as two callbacks, the longest one counts.
      if (lines > MAX_LINES) long.set(inner, Math.max(lines, long.get(inner) ?? 0));
    } else if (/^Class/.test(node.type)) inner = name ?? outer;
    const { key, left } = node;
    const isMember = /^(?:MethodDefinition|PropertyDefinition)$/.test(node.type);
    const memberName = key?.name ?? key?.value ?? left?.property?.name ?? left?.name ?? (isFunction ? undefined : name);
    const valueName = isMember ? `${outer}.${memberName}` : memberName;
    for (const [part, value] of Object.entries(node))
      for (const child of [value].flat())
        if (typeof child?.type === "string")
          visit(child, /^(?:init|value|right)$/.test(part) ? valueName : undefined, inner);
  };
  visit(parse(code, { ecmaVersion: "latest", sourceType: "module" }), undefined, path);
  return long;
}

/** Tells the line in the source of an offset in the code that was made of it, by the map's mappings. */
function sourceLines(code, mappings) {
  const begins = [0];
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) begins.push(at + 1);
  const offsets = [];
  const lines = [];
  let line = 0;
  for (const [index, segments] of mappings.split(";").entries()) {
    let column = 0;
    for (const segment of segments === "" ? [] : segments.split(",")) {
      const [columns, , sourceLines] = numbersOf(segment);
      column += columns;
      line += sourceLines ?? 0;
      offsets.push(begins[index] + column);
      lines.push(line);
    }
  }
  return (offset) => {
    let from = 0;
    let to = offsets.length;
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if (offsets[middle] <= offset) from = middle;
      else to = middle;
    }
    return lines[from];
  };
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The numbers of a segment in base 64 VLQ (ECMA-426, "Source map format"). */
function numbersOf(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = DIGITS.indexOf(letter);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/** The names that more than one of the sources declares and exports, each with its files. `files`: path to text. */
export function sharedNamesIn(files) {
  const pathsByName = new Map();
  for (const [path, text] of files) {
    const declared =
      /^export (?:declare )?(?:default )?(?:async )?(?:abstract )?(?:const enum|const|let|function\*?|class|interface|type|enum) (\w+)/gm;
    for (const [, name] of text.matchAll(declared))
      pathsByName.set(name, (pathsByName.get(name) ?? new Set()).add(path));
  }
  return new Map(
    [...pathsByName].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, [...paths].sort()]),
  );
}

/** How many comments of a text open with the word What: its second lines may begin with it. */
export function whatCommentsIn(text) {
  return text.match(/\/\*\*?\s+(?:\* )?What\b|(?<!^\s*\/\/.*\n\s*)(?<=^|[\s;{},)])\/\/ What\b/gm)?.length ?? 0;
}

const PARTICIPLE = /(?<![\w$]|(?<!\.\.)\.)(?:[Ff]ound|[Kk]nown|[Aa]sked|[Tt]old)(?![\w$])/g;

/** The bracket of a list of parameters or arguments, and those before the last one. */
const IN_PARENTHESES = String.raw`\((?:[^(){}]|\{[^{}]*\}|\([^()]*\))*(?<=[(,]\s*)`;

/**
 * The texts before and after a name that is declared there: by a keyword, in a pattern, as a member of a type or a class, or
 * as a parameter. Members of objects and arguments look alike in part, and are none of these.
 */
const DECLARED = [
  { before: /\b(?:const|let|var|type|interface|class|enum|function\*?|readonly) +#?$/, after: /^/ },
  { before: /\b(?:const|let|var) *[[{][^=;}\]]*$/, after: /^\s*[,=}\]]/ },
  { before: /(?:[{;]|\n) *$/, after: /^\??(?:\(.*\))?: [^,{}\n]*;/ },
  { before: /\n *#$/, after: /^(?:[;:]| = )/ },
  { before: new RegExp(`${IN_PARENTHESES}(?:\\.{3})?$`), after: /^\??: (?!\$)/ },
  { before: new RegExp(`${IN_PARENTHESES}(?:\\.{3})?$`), after: /^(?: = [^(){}]*)?(?:,[^()]*)?\)(?:: [^(){};]+)? =>/ },
  { before: new RegExp(`\\bfunction\\*? *[\\w$]*${IN_PARENTHESES}(?:\\.{3})?$`), after: /^[,)]| =/ },
  { before: new RegExp(`${IN_PARENTHESES}\\{[^(){}]*$`), after: /^(?=\s*[,=}])[^{}]*\}(?::|\) =>)/ },
];

/** Enough for the parameters before a name. */
const CONTEXT_LETTERS = 400;

/** How many variables, parameters, members and types of a text are named by a participle alone. */
export function participlesIn(text) {
  let count = 0;
  for (const { 0: name, index } of text.matchAll(PARTICIPLE)) {
    const end = index + name.length;
    const before = text.slice(Math.max(0, index - CONTEXT_LETTERS), index);
    const after = text.slice(end, end + CONTEXT_LETTERS);
    if (DECLARED.some((side) => side.before.test(before) && side.after.test(after))) count++;
  }
  return count;
}

/** All that the lists are about, as they have it. */
async function measured(files) {
  const sources = [...files].filter(([path]) => SOURCES.test(path)).sort(([a], [b]) => (a < b ? -1 : 1));
  const long = await Promise.all(sources.map(async ([path, text]) => [path, await longFunctionsIn(path, text)]));
  const lists = { longFunctions: {}, sharedNames: {}, whatComments: {}, participles: {} };
  for (const [path, functions] of long)
    if (functions.size > 0) lists.longFunctions[path] = Object.fromEntries([...functions].sort());
  for (const [name, paths] of [...sharedNamesIn(sources)].sort()) lists.sharedNames[name] = paths;
  for (const [path, text] of [...files].sort()) {
    if (path === ROWS) continue;
    const count = whatCommentsIn(text);
    if (count > 0) lists.whatComments[path] = count;
    const participles = participlesIn(text);
    if (participles > 0) lists.participles[path] = participles;
  }
  return lists;
}

/**
 * How the sources differ from the lists: findings for entries that are not listed or have grown (`more`), for listed ones
 * that have gone or shrunk (`less`), and the lists without the latter (`shrunk`).
 */
export function compared(current, listed) {
  const more = [];
  const less = [];
  const shrunk = { longFunctions: {}, sharedNames: {}, whatComments: {}, participles: {} };
  const compare = (now = 0, before = 0, says) => {
    if (now > before) more.push(before > 0 ? `${says(now)}; ${before} in the list` : says(now));
    if (now < before) less.push(`${says(now)}, not ${before}: take it out of the list`);
    return Math.min(now, before);
  };
  for (const file of keysOf(current.longFunctions, listed.longFunctions)) {
    const [now, before] = [current.longFunctions[file] ?? {}, listed.longFunctions[file] ?? {}];
    for (const name of keysOf(now, before)) {
      const says = (lines) =>
        lines > 0 ? `${file}: ${name} has ${lines} lines` : `${file}: ${name} has at most ${MAX_LINES} lines`;
      const lines = compare(now[name], before[name], says);
      if (lines > 0) shrunk.longFunctions[file] = { ...shrunk.longFunctions[file], [name]: lines };
    }
  }
  for (const name of keysOf(current.sharedNames, listed.sharedNames)) {
    const [now, before] = [current.sharedNames[name] ?? [], listed.sharedNames[name] ?? []];
    for (const file of now)
      if (!before.includes(file))
        more.push(`${file}: exports ${name}, as ${now.filter((it) => it !== file).join(", ")}`);
    for (const file of before)
      if (!now.includes(file)) less.push(`${file}: shares no exported ${name}: take it out of the list`);
    const both = before.filter((file) => now.includes(file));
    if (both.length > 0) shrunk.sharedNames[name] = both;
  }
  for (const file of keysOf(current.whatComments, listed.whatComments)) {
    const says = (count) => `${file}: ${count} comment${count === 1 ? " opens" : "s open"} with "What"`;
    const count = compare(current.whatComments[file], listed.whatComments[file], says);
    if (count > 0) shrunk.whatComments[file] = count;
  }
  for (const file of keysOf(current.participles, listed.participles)) {
    const says = (count) => `${file}: ${count} declaration${count === 1 ? "" : "s"} named found, known, asked or told`;
    const count = compare(current.participles[file], listed.participles[file], says);
    if (count > 0) shrunk.participles[file] = count;
  }
  return { more, less, shrunk };
}

const keysOf = (...objects) => [...new Set(objects.flatMap((one) => Object.keys(one)))].sort();

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { record: { type: "boolean" }, grow: { type: "boolean" } } });
  const paths = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\0")
    .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !/\.d\.ts$|\.generated\./.test(path))
    .filter((path) => existsSync(resolve(root, path)));
  const current = await measured(new Map(paths.map((path) => [path, readFileSync(resolve(root, path), "utf8")])));
  const { more, less, shrunk } = compared(current, JSON.parse(readFileSync(resolve(root, LIST), "utf8")));
  if (values.record) {
    writeFileSync(resolve(root, LIST), JSON.stringify(values.grow ? current : shrunk, null, 2));
    execFileSync(process.execPath, ["node_modules/@biomejs/biome/bin/biome", "format", "--write", LIST], { cwd: root });
    for (const finding of values.grow ? [] : more) console.log(finding);
    if (!values.grow && more.length > 0) console.log(`${more.length} not added: a list only grows with --grow`);
  } else {
    for (const finding of [...more, ...less]) console.log(finding);
    if (more.length > 0)
      console.log("Split the function, choose another name (a noun), name the subject of the comment.");
    if (less.length > 0) console.log("To take out: node test/lint/ratchets.mjs --record");
    if (more.length + less.length === 0) console.log(`as ${LIST} has it`);
  }
  const isWrong = values.record ? more.length > 0 && !values.grow : more.length + less.length > 0;
  process.exitCode = isWrong ? 1 : 0;
}
