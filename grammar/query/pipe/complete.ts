import type { Pipe } from "../ast.ts";
import type { FieldType } from "../known-fields.ts";
import { NO_MATCH, parsers } from "../query-parser.generated.ts";
import type { Token } from "../tokens.ts";
import { checkPipes } from "./check.ts";
import { columnIndex, type PipeInput, type RowColumn, type RowColumnType, resultOf } from "./columns.ts";
import { FUNCTIONS, functionOf } from "./functions.ts";
import { isOfFunctions } from "./pipe-facts.ts";

/** The stage that a cursor is in. */
export interface PipeCursor {
  /** Where its text begins, after the bar. */
  readonly start: number;
  /** The tokens of it before the cursor; the first is its word. */
  readonly tokens: readonly Token[];
  /** The stages before it that can be read. */
  readonly before: readonly Pipe[];
  readonly input: PipeInput;
}

/** Undefined before the first bar. `tokens` are those before the cursor. */
export function pipeAt(source: string, tokens: readonly Token[]): PipeCursor | undefined {
  const bars = [...tokens.keys()].filter((at) => tokens[at]!.kind === "other" && tokens[at]!.text === "|");
  const last = bars.at(-1);
  if (last === undefined) return undefined;
  const before: Pipe[] = [];
  for (const [index, at] of bars.slice(0, -1).entries()) {
    const pipe = parsers.Pipe(source, tokens[at]!.end, tokens[bars[index + 1]!]!.start);
    if (pipe !== NO_MATCH) before.push(pipe as Pipe);
  }
  return { start: tokens[last]!.end, tokens: tokens.slice(last + 1), before, input: resultOf(before) };
}

/** Whether the stage, which ends with what would be accepted, has no problem but that it is unfinished. */
export function isAllowed(source: string, { start, before }: PipeCursor): boolean {
  for (const end of ["", ")"]) {
    const text = source + end;
    const pipe = parsers.Pipe(text, start, text.length);
    if (pipe !== NO_MATCH) return checkPipes({ source: text, pipes: [pipe as Pipe] }, before).length === 0;
  }
  return true;
}

/** The name of the function whose parenthesis is open, and whether it is one that the stage computes. */
export function openCall({ tokens }: PipeCursor): { readonly name: string; readonly isComputed: boolean } | undefined {
  const [name, open] = tokens.slice(-2);
  if (open?.kind !== "open" || name?.kind !== "word" || name.end !== open.start) return undefined;
  return { name: name.text, isComputed: isComputing({ tokens }) };
}

/** Whether the cursor is among the functions of a stage. */
export const isComputing = ({ tokens }: Pick<PipeCursor, "tokens">) =>
  isOfFunctions(tokens[0]?.text ?? "") && !tokens.some(({ text }) => text === "by");

/** A column of rows to offer: its name, or after `p99(` the rest of that. */
export interface OfferedColumn {
  readonly text: string;
  readonly column: RowColumn;
}

/** The columns that may be named at the cursor; undefined where fields of events are. */
export function columnsAt(cursor: PipeCursor): OfferedColumn[] | undefined {
  if (cursor.input.kind === "events") return undefined;
  const { columns } = cursor.input;
  const call = openCall(cursor);
  if (call === undefined) return columns.map((column) => ({ text: column.name, column }));
  if (!call.isComputed) {
    const begin = `${call.name}(`;
    const matches = columns.filter(({ name }) => name.startsWith(begin));
    return matches.map((column) => ({ text: column.name.slice(begin.length), column }));
  }
  const isOfNumbers = takesNumbers(cursor);
  // The function of a function is named by as; count() is found by the name count.
  const isNumber = ({ type }: RowColumn) => type === "number";
  return [...columns.filter(isNumber), ...columns.filter((column) => !isNumber(column))]
    .filter(({ type }) => !isOfNumbers || type === "number" || type === "value")
    .map((column) => ({ text: column.name.replace(/^count\(\)$/, "count"), column }))
    .filter(({ text }) => !text.includes("("));
}

/** Whether the open function takes numbers only. */
export function takesNumbers(cursor: PipeCursor | undefined): boolean {
  const call = cursor && openCall(cursor);
  const kind = call === undefined ? undefined : functionOf(call.name);
  return kind !== undefined && FUNCTIONS[kind.name].isOfNumbers;
}

/** The column that an operand of the rows names. */
export function rowColumnOf({ input }: PipeCursor, name: string): RowColumn | undefined {
  return input.kind === "rows" ? input.columns[columnIndex(input.columns, name)] : undefined;
}

/** The type by which operators and units are chosen. */
export function fieldTypeOf({ type, unit }: RowColumn): FieldType | undefined {
  if (unit === "ms") return "duration";
  if (unit === "bytes") return "bytes";
  return TYPES[type];
}

const TYPES: Readonly<Record<RowColumnType, FieldType | undefined>> = {
  number: "number",
  level: "level",
  time: "timestamp",
  value: undefined,
};

/** The operand whose last token is at the end: `count`, `p99(duration)`. */
export function operandBefore(source: string, tokens: readonly Token[]): string | undefined {
  const last = tokens.at(-1);
  if (last?.kind === "word") return last.text;
  if (last?.kind !== "close") return undefined;
  const open = tokens.findLastIndex(({ kind }) => kind === "open");
  const name = tokens[open - 1];
  if (name?.kind !== "word" || name.end !== tokens[open]!.start || tokens.length - open > 3) return undefined;
  return source.slice(name.start, last.end).replace(/\s/g, "");
}

/** Steps of time, the usual ones first. */
export const STEPS = ["5m", "1h", "1m", "1d", "15m", "30m", "30s", "6h", "12h", "3h", "15s", "5s", "1s", "7d"];

/** A function to offer: as text, and with a field that may be its argument. */
export interface OfferedFunction {
  readonly text: string;
  readonly example: string | undefined;
  readonly documentation: string;
}

/** The functions that may begin at the end of the text. */
export function functionsAt(source: string, cursor: PipeCursor): OfferedFunction[] {
  return Object.entries(FUNCTIONS).flatMap(([key, { argument, documentation, isOfNumbers }]) => {
    const name = key === "pNN" ? "p99" : key;
    if (argument !== "needed")
      return isAllowed(`${source}${name}()`, cursor) ? [{ text: `${name}()`, example: undefined, documentation }] : [];
    const token = (kind: Token["kind"], text: string): Token => ({ kind, text, start: 0, end: 0 });
    const open = { ...cursor, tokens: [...cursor.tokens, token("word", name), token("open", "(")] };
    const fields =
      columnsAt(open)?.map(({ text }) => text) ??
      (isOfNumbers ? ["duration", "size", "status"] : ["path", "status", "id"]);
    const field = fields.find((one) => isAllowed(`${source}${name}(${one})`, cursor));
    if (field === undefined && cursor.input.kind === "rows") return [];
    return [{ text: `${name}(`, example: field && `${name}(\${1:${field}})`, documentation }];
  });
}
