// Texts that a hint says to write are accepted where they are written: the texts of hints and fixes are tried out.
import t from "tap";
import { readArgv } from "../../cli/argv.ts";
import { createContext } from "../../cli/context.ts";
import { describeTable } from "../../cli/table.ts";
import { explainUnknown } from "../../cli/unknown-command.ts";
import { applyEdits, fixesOf, type Parsed, type Problem } from "../../grammar/problem.ts";
import { parseQuery } from "../../grammar/query/index.ts";
import { tokenize } from "../../grammar/query/tokens.ts";
import { parseLocation, parseRoute } from "../../grammar/route/index.ts";
import { checkConfig } from "../../schema/index.ts";
import { endlessFixes } from "../support/fix-walk.ts";
import { habits } from "../support/query-habits.ts";
import { randomOf } from "../support/random.ts";
import argv from "../vectors/argv.json" with { type: "json" };
import config from "../vectors/config.json" with { type: "json" };
import queryVectors from "../vectors/query.json" with { type: "json" };
import queryErrors from "../vectors/query-errors.json" with { type: "json" };
import routeVectors from "../vectors/route.json" with { type: "json" };

type Parse = (source: string) => Parsed<unknown>;

const problemsOf = (parse: Parse, source: string): readonly Problem[] => {
  const parsed = parse(source);
  return parsed.ok ? [] : parsed.problems;
};

const queries = [
  ...queryErrors.map(({ query }) => query),
  ...queryVectors.invalid.map(({ query }) => query),
  ...habits.map(([text]) => text),
];
/** Queries as they are while they are typed, and those that a piece is missing of. */
const unfinished = (queryVectors.valid as { query?: string }[]).flatMap(({ query = "" }) => {
  const tokens = tokenize(query);
  return tokens.flatMap(({ start, end }) => [query.slice(0, end), query.slice(0, start) + query.slice(end)]);
});

/** Fixes after which something is wrong with what they wrote. */
function refusedFixes(parse: Parse, sources: readonly string[]) {
  const refused: string[] = [];
  let count = 0;
  for (const source of new Set(sources)) {
    const before = problemsOf(parse, source);
    for (const problem of before) {
      // Other problems there stay.
      const others = before.filter((other) => other !== problem).map(({ code }) => code);
      for (const { title, edits } of fixesOf(problem)) {
        count++;
        const after = problemsOf(parse, applyEdits(source, edits));
        const left = after.filter(({ code }) => !others.includes(code));
        let moved = 0;
        for (const { span, text } of [...edits].sort((a, b) => a.span.start - b.span.start)) {
          const start = span.start + moved;
          const end = start + text.length;
          moved += text.length - (span.end - span.start);
          const wrong = left.find((other) => /\w/.test(text) && other.span.start < end && start < other.span.end);
          if (wrong) refused.push(`${JSON.stringify(source)}, ${title}: ${wrong.message}`);
        }
      }
    }
  }
  return { refused, count };
}

t.test("what a fix writes into a query or a route is accepted", (t) => {
  const tried = refusedFixes(parseQuery, queries);
  t.same(tried.refused, [], "queries");
  t.ok(tried.count > 400, `${tried.count} fixes`);
  t.same(refusedFixes(parseQuery, unfinished).refused, [], `${unfinished.length} unfinished queries`);
  const routes = routeVectors.invalid.map(({ source }) => source);
  const locations = routeVectors.invalidLocations.map(({ source }) => source);
  t.same(refusedFixes(parseRoute, routes).refused, [], "routes");
  t.same(refusedFixes(parseLocation, locations).refused, [], "locations");
  t.end();
});

t.test("fixes of queries and routes taken one after the other never lead back", (t) => {
  const routes = routeVectors.invalid.map(({ source }) => source);
  const locations = routeVectors.invalidLocations.map(({ source }) => source);
  for (const [parse, sources] of [
    [parseQuery, [...queries, ...unfinished]],
    [parseRoute, routes],
    [parseLocation, locations],
  ] as const) {
    const circles = sources.flatMap((source) => endlessFixes(source, (text) => problemsOf(parse, text)) ?? []);
    t.same(circles, []);
  }
  t.end();
});

/** The texts that a hint gives as they are to be written: after "write" and "such as", and quoted ones with stars. */
function textsIn(hint: string): string[] {
  const texts: string[] = [];
  for (const [, text] of hint.matchAll(
    /(?:^write|such as|^did you mean) (.+?)(?=\?$|; | to compare|, which|, or |, 1\.5mb| for |$)/g,
  )) {
    if (!/\.\.\.|^(?:an? |the |one |it |what |at |and between|field |\) |\/ |")|^the option/.test(text!))
      texts.push(text!);
  }
  for (const [text] of hint.matchAll(/"\*.*?\*"(?= to search| in double)/g)) texts.push(text);
  return texts;
}

t.test("what the hint of a query tells to write is accepted", (t) => {
  let count = 0;
  for (const source of new Set(queries)) {
    for (const { hint = "", span, fix } of problemsOf(parseQuery, source)) {
      // The fix is tried out above.
      if (fix !== undefined) continue;
      for (const text of textsIn(hint)) {
        count++;
        // A term, or what takes the place of the marked text, or the name or number that an operator takes.
        const fits = [
          text,
          `${source.slice(0, span.start)}${text}${source.slice(span.end)}`,
          `x > ${text}`,
          `x ~ ${text}`,
        ];
        const one = fits.some((fit) => parseQuery(fit).ok);
        // The marked text may be wrong twice; then what was wrong about it is gone.
        const before = problemsOf(parseQuery, source).length;
        t.ok(one || problemsOf(parseQuery, fits[1]!).length < before, `${source}: ${text}`);
      }
    }
  }
  t.ok(count > 20, `${count} texts`);
  t.end();
});

t.test("what the hint of a route or location tells to write is accepted", (t) => {
  let count = 0;
  for (const [parse, rows] of [
    [parseRoute, routeVectors.invalid],
    [parseLocation, routeVectors.invalidLocations],
  ] as const) {
    for (const { source } of rows) {
      const problems = problemsOf(parse, source);
      for (const { hint = "", span } of problems) {
        const text = /^write ("(?:[^"\\]|\\.)*"|https?:\S+[a-z])(?:,| or|$)/.exec(hint)?.[1];
        if (text === undefined || text === '"/"') continue;
        count++;
        const meant = text.startsWith('"') ? text.slice(1, -1) : text;
        const inPlace = `${source.slice(0, span.start)}${meant}${source.slice(span.end)}`;
        // The other problems stay.
        const left = Math.min(problemsOf(parse, meant).length, problemsOf(parse, inPlace).length);
        t.ok(left < problems.length, `${source}: ${hint}`);
      }
    }
  }
  t.ok(count > 10, `${count} texts`);
  t.end();
});

t.test("what the hint of a path, query or page in tool.json tells to write is accepted there", (t) => {
  let count = 0;
  for (const row of config.check as { text: string[]; files?: unknown }[]) {
    const source = row.text.join("\n");
    if (row.files !== undefined) continue;
    const { problems } = checkConfig(source);
    for (const { hint = "", span, code } of problems) {
      const meant = /^did you mean ("(?:[^"\\]|\\.)*")\?$/.exec(hint)?.[1];
      // A key that is already there, or a text that is a part of a longer one, has a fix of its own.
      if (meant === undefined || source[span.start] !== '"') continue;
      count++;
      const after = checkConfig(`${source.slice(0, span.start)}${meant}${source.slice(span.end)}`).problems;
      t.notOk(
        after.some((other) => other.code === code && other.span.start === span.start),
        `${code}: ${hint}`,
      );
    }
  }
  t.ok(count > 20, `${count} texts`);
  t.end();
});

const commands = describeTable();

/** The words with one slip: a letter left out, doubled, or exchanged with the next. */
function slips(word: string): string[] {
  const random = randomOf(word.length);
  const at = 1 + random.below(Math.max(1, word.length - 2));
  return [
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + word.slice(at - 1),
    word.slice(0, at) + (word[at + 1] ?? "") + word[at] + word.slice(at + 2),
  ].filter((slip) => slip !== word);
}

/** Returns the message that refuses a command line: undefined if it is accepted. */
function refusal(
  words: readonly string[],
  directory: string,
): { message: string; hint?: string | undefined } | undefined {
  const read = readArgv(words, commands);
  if (read.kind === "misuse") return read;
  if (read.kind !== "unknown") return undefined;
  if (["staging", "production"].includes(read.word)) return undefined;
  return explainUnknown([read.word], commands, createContext({ cwd: directory } as never, read.globals));
}

/** The words of a hint, in which each placeholder gets a value. */
const filled = (usage: string) => usage.replace(/<[^>]*>/g, "x").split(" ");

t.test("what the hint of a command line tells to write is accepted", (t) => {
  const directory = t.testdir();
  const lines: string[][] = (argv.read as { argv: string }[]).map(({ argv }) => argv.split(" "));
  for (const { name, usage, flags } of commands) {
    const needed = filled(usage.replace(/ \[.*?\]/g, "")).slice(name.split(" ").length);
    const names = name.split(" ");
    for (const [i, word] of names.entries()) {
      for (const slip of slips(word)) lines.push([...names.with(i, slip), ...needed]);
    }
    for (const { long, value } of flags) {
      const behind = value === undefined ? "" : "=x";
      for (const slip of slips(long)) lines.push([...names, ...needed, `--${slip}${behind}`]);
      lines.push(
        [`--${long}${behind}`, ...names, ...needed],
        [...names, ...needed, `--${long}=x`],
        [...names, ...needed, "surplus word"],
      );
    }
  }
  for (const slip of ["development", "staging", "production"].flatMap(slips)) lines.push([slip]);
  let count = 0;
  for (const line of lines) {
    const { hint = "" } = refusal(line, directory) ?? {};
    const words =
      /^did you mean tool ([^?,]*)[?,]/.exec(hint)?.[1] ?? /^write (?:it after: )?tool ([^,]*)$/.exec(hint)?.[1];
    const flag = /^did you mean (--[\w-]+)\?$/.exec(hint)?.[1] ?? /^write (--[\w-]+|-\w) alone$/.exec(hint)?.[1];
    if (words !== undefined) {
      count++;
      t.equal(refusal(filled(words), directory), undefined, `tool ${line.join(" ")}: ${hint}`);
    } else if (flag !== undefined) {
      count++;
      // In the place of what looks most like it: the only flag of the line that is refused.
      const at = line.findIndex((word) => word.startsWith("-") && !/^-[CS]$/.test(word));
      const behind = hint.endsWith("alone") ? "" : (/=.*/.exec(line[at]!)?.[0] ?? "");
      const again = refusal(line.with(at, `${flag}${behind}`), directory);
      t.notOk(/^unknown flag|takes no value/.test(again?.message ?? ""), `tool ${line.join(" ")}: ${hint}`);
    }
  }
  t.ok(count > 100, `${count} hints`);
  t.end();
});

t.test("the last line about a connection is a sentence", async (t) => {
  const of = (message: string, code?: string, cause?: Error) =>
    Object.assign(new Error(message, { cause }), code === undefined ? {} : { code });
  const AGAIN = "\n  check what it connects to, then run the command again\n";
  const reset = of("read ECONNRESET", "ECONNRESET");
  const rows: [thrown: Error, said: string][] = [
    [reset, `the other side ended the connection before its answer was complete (read ECONNRESET)${AGAIN}`],
    [
      of("socket hang up", "ECONNRESET"),
      `the other side ended the connection before its answer was complete (socket hang up)${AGAIN}`,
    ],
    [
      of("cannot ask the sandbox", undefined, reset),
      `cannot ask the sandbox: the other side ended the connection before its answer was complete (read ECONNRESET)${AGAIN}`,
    ],
    [
      of("connect ECONNREFUSED 127.0.0.1:9", "ECONNREFUSED"),
      `nothing accepts connections there (connect ECONNREFUSED 127.0.0.1:9)${AGAIN}`,
    ],
    [of("write EPIPE", "EPIPE"), `the other side ended the connection before all was sent (write EPIPE)${AGAIN}`],
    [of("the service said no: ECONNRESET", "ECONNRESET"), "the service said no: ECONNRESET\n"],
    [of("ENOSPC: no space left on device, write", "ENOSPC"), "ENOSPC: no space left on device, write\n"],
  ];
  for (const [thrown, said] of rows) {
    let written = "";
    const write = async (text: string) => {
      written += text;
    };
    const io = { cwd: "/", stderr: { color: false, write } } as never;
    t.equal(
      await createContext(io, { command: undefined, chdir: ".", verbose: false, format: undefined }).explain(thrown),
      1,
    );
    t.equal(written, `error: ${said}`);
  }
});
