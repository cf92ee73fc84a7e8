import {
  factsOf,
  isStreaming,
  type Pipeline,
  type PipesResult,
  pipeCondition,
  readsOfPipeline,
  type Table,
  TooManyGroups,
} from "../../grammar/query/index.ts";
import type { Format } from "../argv.ts";
import type { Context } from "../context.ts";
import { chartText } from "../output/chart-text.ts";
import { tableCsv } from "../output/table-csv.ts";
import { tableJson, tableText } from "../output/table-text.ts";
import { type Aggregation, aggregateEntries, type KeptEntry } from "./aggregate-entries.ts";
import { explainStages, explainTypes } from "./explain-selection.ts";
import { FoundLines } from "./found-lines.ts";
import { InputError } from "./read-files.ts";
import type { EntrySource } from "./source.ts";

export interface PrintAggregatedOptions {
  readonly source: EntrySource;
  readonly isFollowed: boolean;
  readonly format: Format;
  readonly aggregation: Aggregation;
  /** Whether remarks on the query are wanted. */
  readonly explains: boolean;
}

/**
 * Prints what the stages of a query give: a table for people, JSON lines for programs, or entries as without stages. While
 * a source is followed, a terminal shows the rows so far, once a second and in place.
 */
export async function printAggregated(
  context: Context,
  { source, isFollowed, format, aggregation, explains }: PrintAggregatedOptions,
): Promise<void> {
  const { stdout } = context.io;
  const { signal, progress } = aggregation;
  const { pipes } = aggregation.pipeline;
  const isLive =
    isFollowed && stdout.isTerminal && format === "text" && readsOfPipeline(aggregation.pipeline) !== undefined;
  if (isFollowed && !isLive && pipes.some((pipe) => factsOf(pipe).collects)) await context.say(AT_THE_END);
  let lineCount = 0;
  const text = (table: Table) => {
    const options = { width: stdout.columns, color: stdout.color, isTerminal: stdout.isTerminal };
    return chartText(table, options) ?? tableText(table, options);
  };
  const refresh = async (result: PipesResult) => {
    if (result.kind !== "table") return;
    progress.erase();
    const lines = text(result).replace(/\n$/, "").split("\n");
    // Lines that have left the top of the screen cannot be written again.
    const fitting = fitted(lines, Math.max(3, stdout.rows - 1), !pipes.some((pipe) => factsOf(pipe).reorders));
    await stdout.write(`${erased(lineCount)}${fitting.join("\n")}\n`);
    lineCount = fitting.length;
  };
  const isStreamed = isFollowed && !isLive && isStreaming(aggregation.pipeline);
  let isBegun = false;
  const written = (table: Table) => {
    if (format === "text") return text(table);
    if (format !== "csv") return tableJson(table);
    const rows = tableCsv(table, stdout);
    // The names of the columns come once.
    return isBegun ? rows.slice(rows.indexOf("\r\n") + 2) : rows;
  };
  const append = async (result: PipesResult) => {
    if (result.kind !== "table" || result.rows.length === 0) return;
    await stdout.write(written(result));
    isBegun = true;
  };
  let isFailed = false;
  const onError: Aggregation["onError"] = async (error) => {
    isFailed = true;
    await aggregation.onError(error);
  };
  let result: PipesResult | undefined;
  try {
    result = await aggregateEntries(source, {
      ...aggregation,
      onError,
      ...(isLive && { refresh }),
      ...(isStreamed && { refresh: append, isTaken: true }),
    });
  } catch (error) {
    if (!(error instanceof TooManyGroups)) throw error;
    progress.erase();
    await aggregation.onError(error);
    return;
  }
  await stdout.write(erased(lineCount));
  // Zero would look like a count of what could not be read.
  if (result === undefined) return;
  if (result.kind === "entries")
    await printEntries(context, format, result.entries as readonly KeptEntry[], aggregation);
  else if (!isBegun || result.rows.length > 0) await stdout.write(written(result));
  const missing =
    signal.aborted && !isFollowed && !stdout.closed.aborted
      ? "interrupted, so that these are of what was read until then"
      : isFailed
        ? "not everything could be read"
        : source.missing?.();
  if (missing !== undefined) await context.say(`partial: ${missing}`);
  if (result.kind === "table") await sayNotes(context, result, missing !== undefined);
  const absent = missing === undefined ? aggregation.survey?.explainPipes(source.totalBytes) : undefined;
  if (absent !== undefined) await context.say(absent);
  if (!explains || missing !== undefined) return;
  const hasFound =
    result.kind === "table"
      ? result.rows.some((row) => row.some((cell) => cell !== 0 && cell !== null))
      : result.entries.length > 0;
  const said = hasFound
    ? await explainTypes(source, aggregation.pipeline, { hasFound, signal })
    : ((await explainStages(source, { ...aggregation, isNothing: isOfNothing(result, pipes) }).catch(noRemark)) ??
      (await explainTypes(source, aggregation.pipeline, { hasFound, signal })));
  progress.erase();
  if (said !== undefined && !signal.aborted) await context.say(said);
}

/** The answer is printed already: without a remark nothing is missing. */
function noRemark(error: unknown): undefined {
  if (!(error instanceof InputError)) throw error;
}

/** Whether stages with this result surely were given nothing; later conditions leave out what they were given. */
function isOfNothing(result: PipesResult, pipes: Pipeline["pipes"]): boolean {
  if (pipes.some((pipe) => pipeCondition(pipe) !== undefined)) return false;
  if (result.kind === "entries") return result.entries.length === 0;
  const at = result.columns.findIndex(({ name }) => name === "count");
  return result.rows.every((row) => at >= 0 && row[at] === 0);
}

const AT_THE_END = `the rows are printed at the end; Ctrl-C ends what reads them, too: end it with kill -INT ${process.pid}`;

/** The lines that a screen has room for, and how many it has not: the newest where they come in the order of time. */
function fitted(lines: readonly string[], room: number, isNewestLast: boolean): readonly string[] {
  if (lines.length <= room) return lines;
  const left = lines.length - room + 1;
  const [header = "", ...rest] = lines;
  return isNewestLast
    ? [header, `... ${left} more above`, ...rest.slice(left)]
    : [header, ...rest.slice(0, room - 2), `... ${left} more`];
}

/** The return undoes what a terminal shows of Ctrl-C. */
const erased = (lines: number) => (lines === 0 ? "" : `\u001b[${lines}A\r\u001b[J`);

async function printEntries(
  { io }: Context,
  format: Format,
  entries: readonly KeptEntry[],
  { wanted }: Aggregation,
): Promise<void> {
  const options = { format, color: io.stdout.color, expand: false, nowMs: wanted.nowMs, countOnly: false };
  const lines = new FoundLines(options);
  for (const { line } of entries) {
    lines.onLine(line, 0, line.length - 1, undefined);
    lines.settle();
  }
  await io.stdout.write(lines.take());
}

/** Prints remarks that a reader of the table should know. */
async function sayNotes(context: Context, { rows, notes }: Table, isPartial: boolean): Promise<void> {
  if (!isPartial && rows.length === 0 && context.io.stderr.isTerminal) await context.say("no rows");
  for (const [name, count] of notes.leftOut)
    await context.say(
      `${name}: ${count.toLocaleString("en")} ${count === 1 ? "value was no number and is" : "values were no numbers and are"} left out`,
    );
  if (notes.withoutTime > 0)
    await context.say(
      `${notes.withoutTime.toLocaleString("en")} ${notes.withoutTime === 1 ? "entry has no time and is" : "entries have no time and are"} left out`,
    );
  for (const name of notes.estimates) await context.say(`${name} is an estimate: there are more than 100,000 values`);
}
