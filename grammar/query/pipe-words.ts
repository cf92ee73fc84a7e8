import type { Pipe } from "./ast.ts";

/** The words that stages begin with, each with an example. */
export const PIPE_USES = {
  count: "count by path",
  stats: "stats avg(duration), p99(duration) by path",
  timeseries: "timeseries 5m count() by level",
  top: "top 10 path",
  where: "where count > 10",
  sort: "sort count desc",
  limit: "limit 10",
  fields: "fields timestamp, path, status",
  unique: "unique user.id",
} as const satisfies Record<Pipe["kind"], string>;

export const PIPE_WORDS = Object.keys(PIPE_USES) as Pipe["kind"][];

/** Where a stage may begin that lacks its bar: `error count by path`. */
export const PIPE_BEGIN = new RegExp(`(?:^|\\s)(${PIPE_WORDS.join("|")})(?=[ \\t\\r\\n])`, "g");

/** The word of a stage in other languages. */
export const GROUP_BY = /(?:^|\s)group\s+by\s/;

/** The result of each stage, in a sentence. */
export const PIPE_DOCS: Readonly<Record<keyof typeof PIPE_USES, string>> = {
  count: "How many there are, for each value of the fields after by.",
  stats: "Functions such as avg(duration), for each value of the fields after by.",
  timeseries: "How many there are, or functions, for each step of time.",
  top: "The most frequent values of a field, with their count; 10 if no number is written.",
  where: "Only those for which the terms are true: of entries, or of the rows of the stage before.",
  sort: "In the order of columns, times by time and levels by severity; desc puts the greatest first.",
  limit: "Only the first ones.",
  fields: "Only these columns, in this order.",
  unique: "Each combination of these columns once.",
};

/** The effects of the other words of stages. */
export const KEYWORD_DOCS: Readonly<Record<"by" | "as" | "asc" | "desc", string>> = {
  by: "A row for each value of the fields that follow.",
  as: "The name of the column, for the stages after this one.",
  asc: "The least first, which is usual.",
  desc: "The greatest first.",
};

/** Words for a direction that are hardly the name of a field, though `sort desc` reads them as one. */
export const DIRECTION_WORDS: Readonly<Record<string, "asc" | "desc">> = {
  asc: "asc",
  ascending: "asc",
  desc: "desc",
  descending: "desc",
  dsc: "desc",
};
