import { didYouMean } from "../../did-you-mean.ts";
import { type Fix, quote, type Span } from "../../problem.ts";
import { BOUNDS_OF_TIME, isPartOfTime } from "../meant/foreign-words.ts";
import { PIPE_USES, PIPE_WORDS } from "../pipe-words.ts";
import { problem, replace } from "../problems.ts";
import type { RowColumn } from "./columns.ts";
import { FOREIGN_FUNCTIONS, FUNCTIONS, functionOf } from "./functions.ts";

// Every problem that the stages of a query can have: of the text, then of what it names. Codes are stable.

const insert = (at: number, text: string, title: string): Fix => ({
  title,
  edits: [{ span: { start: at, end: at }, text }],
});

export const missingPipe = (bar: Span) =>
  problem("missing-stage", bar, "a stage is missing after |", {
    hint: `write one, such as | count by path; stages are ${PIPE_WORDS.join(", ")}`,
  });

export const tooManyPipes = (bar: Span, most: number) =>
  problem("too-many-stages", bar, `there are more than ${most} stages`, { hint: "leave some out" });

/** `write`: the same in ours, if that is certain. */
export const unknownPipe = (at: Span, word: string, hint: string | undefined, write: string | undefined) => {
  const near = didYouMean(word, PIPE_WORDS);
  const fix = write === undefined ? near && replace(at, near) : replace(at, write);
  return problem("unknown-stage", at, `there is no stage ${quote(word)}`, {
    hint: hint ?? (near === undefined ? `stages are ${PIPE_WORDS.join(", ")}` : `did you mean ${near}?`),
    fix: fix || undefined,
  });
};

/** A term where a stage belongs: `a | b`. */
export const termAfterBar = (bar: Span, term: string) =>
  problem("term-after-bar", bar, `a stage belongs after |, and ${quote(term)} is none`, {
    hint: "write or between terms",
    fix: replace(bar, "or"),
  });

/** `error || count by path` */
export const pipeAfterOr = (operator: Span, pipe: string) =>
  problem("stage-after-or", operator, `${quote(pipe)} is a stage, and || means or`, {
    hint: "write a single |",
    fix: replace(operator, "|"),
  });

/** `count by path` without a bar. `starts`: where one belongs. */
export const missingBar = (at: Span, pipe: string, starts: readonly number[]) =>
  problem("missing-bar", at, `${quote(pipe)} reads like a stage without its |`, {
    hint: `write | ${pipe}`,
    fix: {
      title: "Write | before it",
      edits: starts.map((start) => ({ span: { start, end: start }, text: "| " })),
    },
  });

export const wrongPipe = (at: Span, word: keyof typeof PIPE_USES) =>
  problem("wrong-stage", at, `this is no ${word} stage`, { hint: `write ${word} as in: ${PIPE_USES[word]}` });

/** `count by`. `last`: its text; `wanted`: what belongs after it, such as "a field". */
export const unfinishedPipe = (at: Span, last: string, wanted: string, word: keyof typeof PIPE_USES) =>
  problem("wrong-stage", at, `nothing follows ${quote(last)}`, { hint: `write ${wanted}, as in: ${PIPE_USES[word]}` });

/** `timeseries 1h by 5m`: the first part that cannot be there, and the text before it. */
export const wrongPart = (at: Span, text: string, before: string, hint: string) =>
  problem("wrong-stage", at, `${/^"/.test(text) ? text : quote(text)} is not expected after ${quote(before)}`, {
    hint,
  });

/** `max(p99(duration))` */
export const nestedCall = (at: Span, text: string, outer: string) =>
  problem("wrong-stage", at, `${outer}() takes a field, and ${quote(text)} is a function`, {
    hint: `name it in a stage before: stats ${text} as value by path | stats ${outer}(value)`,
  });

/** `count path` */
export const missingWord = (at: Span, text: string, word: string) =>
  problem("missing-word", at, `${word} is missing before ${quote(text)}`, {
    hint: `write ${word} ${text}`,
    fix: insert(at.start, `${word} `, `Write ${word} before it`),
  });

/** `sort by count` */
export const needlessWord = (at: Span, next: number, text: string, pipe: string) =>
  problem("needless-word", at, `${quote(text)} does not belong into ${pipe}`, {
    hint: "remove it",
    fix: { title: "Remove it", edits: [{ span: { start: at.start, end: next }, text: "" }] },
  });

export const missingComma = (at: Span, text: string) =>
  problem("missing-comma", at, `a comma is missing before ${quote(text)}`, {
    hint: "write a comma between columns",
    fix: insert(at.start, ",", "Write a comma before it"),
  });

/** `stats count by path` */
export const missingParentheses = (at: Span, name: string, needsArgument: boolean) =>
  problem("missing-parentheses", at, `${quote(name)} lacks its parentheses`, {
    hint: needsArgument ? `write ${name}(field), such as ${name}(duration)` : `write ${name}()`,
    fix: needsArgument ? undefined : insert(at.end, "()", "Write ()"),
  });

export const missingRowCount = (at: Span, word: string) =>
  problem("missing-row-count", at, `${word} lacks its number of rows`, {
    hint: `write ${word} 10`,
    fix: { ...insert(at.end, " 10", `Write ${word} 10`), isSuggestion: true },
  });

/** `limit 1.5`, `limit 5 offset 5` */
export const wrongRowCount = (at: Span, text: string, word: string) => {
  const count = Number(text);
  const isCount = Number.isSafeInteger(count) && count > 0;
  return problem("wrong-row-count", at, `${word} takes a whole number, not ${quote(text)}`, {
    hint: `write ${word} ${isCount ? count : 10}${text.includes("offset") ? "; there is no offset" : ""}`,
    fix: isCount ? replace(at, `${count}`) : undefined,
  });
};

/** `written`: with the blanks around it. */
export const foreignForm = (at: Span, text: string, write: string, written = write) =>
  problem("foreign-form", at, `${/^"\w*"$/.test(text) ? text : quote(text)} is written in another way here`, {
    hint: `write ${write}`,
    fix: replace(at, written),
  });

/** `limit 10 offset 5` */
export const notPossible = (at: Span, message: string, hint: string) => problem("not-possible", at, message, { hint });

/** `top 2 path, method`. `stage`: its text; `write`: the same with a count. */
export const oneField = (at: Span, pipe: Span, write: string) =>
  problem("one-field", at, "top takes one field", {
    hint: `write ${write}`,
    fix: replace(pipe, write),
  });

/** `fields *` */
export const needlessPipe = (at: Span) =>
  problem("needless-stage", at, "this stage changes nothing", { hint: "leave it out", fix: replace(at, "") });

// Names

export const unknownFunction = (at: Span, name: string) => {
  // p999 is the usual name of p99.9.
  const percentile = /^p\d{3,}$/.test(name) ? name.replace(/^p../, "$&.") : undefined;
  const own = percentile ?? FOREIGN_FUNCTIONS[name.toLowerCase()] ?? didYouMean(name, Object.keys(FUNCTIONS));
  const all = Object.keys(FUNCTIONS).map((one) => (one === "pNN" ? "p50, p99, p99.9 or any pNN" : one));
  return problem("unknown-function", at, `there is no function ${quote(name)}`, {
    hint: own === undefined ? `functions are ${all.join(", ")}` : `write ${own}`,
    fix: own === undefined ? undefined : replace(at, own),
  });
};

export const missingArgument = (at: Span, name: string) =>
  problem("missing-argument", at, `${name}() lacks its field`, { hint: `write ${name}(duration), for example` });

export const needlessArgument = (at: Span, name: string) =>
  problem("needless-argument", at, `${name}() takes no field`, {
    hint: `write ${name}()`,
    fix: replace(at, `${name}()`),
  });

/** `sum(message)` */
export const noNumbers = (at: Span, name: string, field: string) =>
  problem("no-numbers", at, `${name}() takes numbers, and ${field} is none`, {
    hint:
      field === "timestamp"
        ? "write first(timestamp) or last(timestamp)"
        : `write distinct(${field}) or count by ${field}`,
  });

export const callInPredicate = (at: Span, text: string, name: string) =>
  problem("call-in-predicate", at, `${quote(text)} is a function, and only stages have those`, {
    hint: isPartOfTime(name)
      ? BOUNDS_OF_TIME
      : "write a condition of fields here, and the function in a stage: | stats ...",
  });

/** `count by hour(timestamp)`, `sort p99(duration)` of events */
export const callAsField = (at: Span, text: string, name: string) =>
  problem("call-in-predicate", at, `${quote(text)} is a function, and a field belongs here`, {
    hint: isPartOfTime(name)
      ? "for steps of time write timeseries 1h, with the fields after by"
      : functionOf(name) === undefined
        ? "values are not computed: write a field, such as path"
        : `compute it in a stage before: stats ${text} by path`,
  });

export const unknownColumn = (at: Span, name: string, columns: readonly RowColumn[]) => {
  const names = columns.map((column) => column.name);
  const near = didYouMean(name, names) ?? names.find((one) => name === `${one}()`);
  const columnList = `the columns here are ${names.join(", ")}`;
  return problem("unknown-column", at, `there is no column ${quote(name)} here`, {
    hint: near === undefined ? columnList : `did you mean ${near}? ${columnList}`,
    fix: near === undefined ? undefined : replace(at, near),
  });
};

/** `insertAt`: where an `as` would go; `needless`: the second one in its list. */
export const duplicateColumn = (
  at: Span,
  name: string,
  { insertAt, needless, other }: { insertAt: number | undefined; needless: Span | undefined; other: string },
) =>
  problem("duplicate-column", at, `there are two columns ${quote(name)}`, {
    hint: insertAt === undefined ? "name each once" : `write ${name} as ${other}`,
    fix:
      insertAt === undefined ? needless && replace(needless, "") : insert(insertAt, ` as ${other}`, `Name it ${other}`),
  });

export const badStep = (at: Span, text: string) =>
  problem("bad-step", at, `${quote(text)} is no step of time`, {
    hint: "write a duration that divides a day, such as 30s, 5m, 1h or 1d, or 7d for weeks",
  });

export const noEvents = (at: Span, what: string) =>
  problem("no-events", at, `${what} needs events, and the stage before it gives rows`, {
    hint: `write it before the first count, stats, top, fields or unique`,
  });

export const noRows = (at: Span, word: string) =>
  problem("no-rows", at, `${word} 0 gives nothing`, { hint: `write ${word} 1 or more` });

/** A bare level, stage or text tests a column that the rows do not have. */
export const noSuchTerm = (at: Span, text: string, column: string) =>
  problem("unknown-column", at, `${quote(text)} tests the column ${column}, which is not here`, {
    hint: "compare a column, such as count > 10",
  });
