import { type Aggregate, type Column, type Pipe, target } from "../ast.ts";
import { type FieldType, KNOWN_FIELDS } from "../known-fields.ts";
import { printField } from "../print.ts";
import { FUNCTIONS, functionOf } from "./functions.ts";

export type RowColumnType = "number" | "level" | "time" | "value";
export type Unit = "ms" | "bytes" | "per second";

/** A column of the rows that a stage gives. */
export interface RowColumn {
  /** As later stages and outputs name it. */
  readonly name: string;
  /** "value" for what may be anything. */
  readonly type: RowColumnType;
  readonly unit?: Unit;
  /** Whether its values tell groups apart. */
  readonly isGroup: boolean;
}

/** `number, ms`: what is known of a column's values; "value" is anything. */
export const aboutColumn = ({ type, unit }: RowColumn) => {
  const values = type === "value" ? "any value" : type;
  return unit === undefined ? values : `${values}, ${unit}`;
};

/** The input of a stage: events, or the rows of the stage before. */
export type PipeInput = { readonly kind: "events" } | { readonly kind: "rows"; readonly columns: readonly RowColumn[] };

/** The name of the column of steps. */
const TIME_COLUMN = "time";
const COUNT_COLUMN = "count";

export const columnName = (column: Column) => printField(column);

export const aggregateName = ({ call, as }: Aggregate) =>
  as?.name ?? `${call.name}(${call.argument === undefined ? "" : printField(call.argument)})`;

/**
 * The place of a column of rows, by its name; -1 if there is none. `count` finds `count()` too, if nothing else has that
 * name.
 */
export function columnIndex(columns: readonly RowColumn[], name: string): number {
  const exact = columns.findIndex((column) => column.name === name);
  return exact >= 0 ? exact : columns.findIndex((column) => column.name === `${name}()`);
}

/** The output of the stages for the input of the first of them, if nothing is wrong with them. */
export const resultOf = (pipes: readonly Pipe[], input = EVENTS): PipeInput => pipes.reduce(after, input);

const EVENTS: PipeInput = { kind: "events" };
const after = (input: PipeInput, pipe: Pipe) => outputOf(pipe, input);

/** The output of the stage, if nothing is wrong with it. */
export function outputOf(pipe: Pipe, input: PipeInput): PipeInput {
  switch (pipe.kind) {
    case "where":
    case "sort":
    case "limit":
      return input;
    case "fields":
    case "unique":
      return rows(pipe.columns.map((column) => ({ ...columnOf(column, input), isGroup: false })));
    case "count":
      return rows([...groups(pipe.by, input), COUNT]);
    case "top":
      return rows([...groups([pipe.column], input), COUNT]);
    case "stats":
      return rows([...groups(pipe.by, input), ...pipe.aggregates.map((one) => aggregated(one, input))]);
    case "timeseries": {
      const values = pipe.aggregates.length === 0 ? [COUNT] : pipe.aggregates.map((one) => aggregated(one, input));
      return rows([TIME, ...groups(pipe.by, input), ...values]);
    }
  }
}

const COUNT: RowColumn = { name: COUNT_COLUMN, type: "number", isGroup: false };
const TIME: RowColumn = { name: TIME_COLUMN, type: "time", isGroup: true };

const rows = (columns: readonly RowColumn[]): PipeInput => ({ kind: "rows", columns });

const groups = (by: readonly Column[], input: PipeInput): RowColumn[] =>
  by.map((column) => ({ ...columnOf(column, input), isGroup: true }));

/** A column for a field of events, or the column of the rows. */
export function columnOf(column: Column, input: PipeInput): RowColumn {
  const name = columnName(column);
  if (input.kind === "rows") {
    const rowColumn = input.columns[columnIndex(input.columns, name)];
    return rowColumn ?? { name, type: "value", isGroup: false };
  }
  const place = target(column);
  const fieldType = KNOWN_FIELDS.find((field) => field.name === name)?.type;
  const unit = unitOf(fieldType);
  const type =
    place.at !== "entry" ? "value" : place.name === "level" ? "level" : place.name === "timestamp" ? "time" : "value";
  return { name, type, ...(unit && { unit }), isGroup: false };
}

const unitOf = (type: FieldType | undefined): Unit | undefined =>
  type === "duration" ? "ms" : type === "bytes" ? "bytes" : undefined;

function aggregated(aggregate: Aggregate, input: PipeInput): RowColumn {
  const { call } = aggregate;
  const name = aggregateName(aggregate);
  const kind = functionOf(call.name)?.name;
  const gives = kind === undefined ? "count" : FUNCTIONS[kind].gives;
  if (gives === "rate") return { name, type: "number", unit: "per second", isGroup: false };
  if (gives === "count") return { name, type: "number", isGroup: false };
  const of = call.argument === undefined ? undefined : columnOf(call.argument, input);
  const unit = of?.unit && { unit: of.unit };
  return { name, type: gives === "number" ? "number" : (of?.type ?? "value"), ...unit, isGroup: false };
}
