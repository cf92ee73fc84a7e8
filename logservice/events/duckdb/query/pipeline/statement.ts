// The statement that groups events: a part for each kind of segment, one for rows that are bound, and what joins them.
import { type Cell, LEVELS, type Level, type Target, target } from "../../../../../grammar/query/index.ts";
import type { Sql, SqlValue } from "../../../../../grammar/query/sql/condition.ts";
import { ID } from "../../segment-schema.ts";
import type { SelectStatement, SqlPart } from "../aggregate.ts";
import { fromRows } from "../query-context.ts";
import type { GroupValues } from "./memory-groups.ts";
import { cellJson, type MemoryRow } from "./memory-rows.ts";
import {
  type AggregateInput,
  type GroupPlan,
  hasPositions,
  isOutermost,
  isSortedByTime,
  needsValues,
  type PlannedAggregate,
} from "./plan.ts";
import type { ColumnSource, SegmentSources } from "./sources.ts";
import { joinedSumsSql, type SumGrid, splitSum, splitSumsSql, sumGrid } from "./sum-grids.ts";
import type { SummaryRow } from "./summarized.ts";

/** How values of a column are in SQL, the same in all parts. `json`: as text, canonical but for objects and lists. */
export type Form = "string" | "number" | "boolean" | "level" | "json";

export interface Forms {
  readonly by: readonly Form[];
  readonly inputs: readonly Form[];
}

export interface StatementInput {
  readonly plan: GroupPlan;
  readonly parts: readonly SqlPart<SegmentSources>[];
  readonly memory: readonly MemoryRow[];
  readonly summaries: readonly SummaryRow[];
  /** Groups in memory, if functions need values. */
  readonly values: readonly GroupValues[];
  /** For `timeseries`: nanoseconds of the first step's beginning, and its length. */
  readonly steps: { readonly first: bigint; readonly length: bigint } | undefined;
  /** The divisor of `rate`. */
  readonly seconds: number;
  /** Rows that the answer may have, if no stages are left to do with them. */
  readonly maxRows: number;
}

export interface GroupStatement {
  /** Its columns: cells, then a value for each aggregate, then, for each input of numbers, what was left out in all. */
  readonly select: SelectStatement;
  readonly forms: Forms;
  /** Whether its rows are in the plan's order and within its limit. */
  readonly isCut: boolean;
  /** More rows than this are not asked for. */
  readonly most: number;
}

/** Groups that are kept in memory where SQL cannot cut them. */
const MOST_GROUPS = 100_000;

/** The columns of rows: c0, c1, ... are cells, v0 or what is like it the values of inputs. */
export function groupStatement(input: StatementInput): GroupStatement {
  const { plan, parts, memory, summaries, values: ofValues } = input;
  const forms = formsOf(input);
  const rows = [
    ...parts.map((part) => ({ sql: ofSegments(part, input, forms), isCounted: true })),
    ...(ofValues.length > 0 ? [{ sql: ofGroups(ofValues, input, forms), isCounted: false }] : []),
    ...(memory.length > 0 || parts.length + summaries.length + ofValues.length === 0
      ? [{ sql: ofMemory(memory, input, forms), isCounted: false }]
      : []),
  ];
  const grids = plan.inputs.map(({ use }, at) => (use === "number" ? sumGrid(input, at) : undefined));
  const grouped = needsValues(plan) ? groupedRows(rows, plan, grids) : merged(rows, input, { forms, grids });
  const outs = plan.aggregates.map((one, at) => `${valueSql(one, input.seconds)} as o${at}`);
  const { order, most } = cutOf(plan, forms, input.maxRows);
  const sums = numberInputs(plan).map((at) => `x${at}`);
  const values = [...cellNames(plan), ...outs.map((_, at) => `o${at}`), ...sums];
  // Values that were left out are those of all groups.
  const inner = [
    ...cellNames(plan),
    ...(plan.isUnique ? ["first"] : []),
    ...(isSortedByTime(plan) ? ["moment"] : []),
    ...plan.inputs.flatMap((one, at) => (isOutermost(one) ? [`f${at}`] : [])),
    ...outs,
    ...sums.map((name) => `sum(${name}) over () as ${name}`),
  ];
  const having = plan.having.map(({ place, operator }) => `o${place - plan.by.length} ${operator} ?::double`);
  const text = `select ${values.join(", ")} from (select ${inner.join(", ")} from (${grouped.text}))
    ${having.length === 0 ? "" : `where ${having.join(" and ")}`}
    ${order === undefined ? "" : `order by ${order}`} limit ${most + 1}`;
  const bound = [...grouped.values, ...plan.having.map(({ number }) => number)];
  return { select: { text, values: bound }, forms, isCut: order !== undefined, most };
}

/** The order that SQL can cut its rows in, if any, and how many rows are asked for then. */
export function cutOf(
  plan: GroupPlan,
  forms: Forms,
  maxRows: number,
): { readonly order: string | undefined; readonly most: number } {
  const order = orderOf(plan, forms);
  const most = order === undefined ? MOST_GROUPS : Math.min(plan.limit ?? maxRows, mostLeft(plan, maxRows));
  return { order, most };
}

const mostLeft = ({ rest }: GroupPlan, maxRows: number) => (rest.length > 0 ? MOST_GROUPS : maxRows);

/** Undefined if SQL does not order values as the language does, or if the order of all rows is of no use. */
function orderOf(plan: GroupPlan, forms: Forms): string | undefined {
  if (plan.isUnique) return "first.position, first.event_id";
  if (plan.stepMs !== undefined) return undefined;
  if (plan.rest.length > 0 && (plan.limit === undefined || plan.limit > MOST_GROUPS)) return undefined;
  const { by, aggregates, order } = plan;
  const cells = by.map((_, at) => ({ form: forms.by[at]!, text: `c${at}` }));
  const outs = aggregates.map((one, at) => ({ form: formOfValue(one, plan, forms), text: `o${at}` }));
  const columns = [...cells, ...outs];
  const usual = [{ place: by.length, isDescending: true }, ...by.map((_, place) => ({ place, isDescending: false }))];
  if ([...order, ...usual].some(({ place }) => columns[place]!.form === "json")) return undefined;
  const keys = [
    // By time and by severity.
    ...order.map(({ place, isDescending }) => ({
      text: plan.columns[place]!.type === "time" ? timeSql(plan, place) : columns[place]!.text,
      isDescending,
    })),
    ...usual.map(({ place, isDescending }) => {
      const { form, text } = columns[place]!;
      return { text: form === "level" ? `${LEVEL_LIST}[${text} + 1]` : text, isDescending };
    }),
  ];
  return keys
    .map(({ text, isDescending }) => `${text} ${isDescending ? "desc nulls last" : "asc nulls first"}`)
    .join(", ");
}

/** The nanoseconds of a time. Groups of a time hold events of that time only, and an outermost value is of its event. */
function timeSql({ by, aggregates }: GroupPlan, place: number): string {
  return place < by.length ? "moment" : `f${aggregates[place - by.length]!.input}.position`;
}

const LEVEL_LIST = `['${LEVELS.join("', '")}']`;

/** How a function's values are in the statement's answer. */
export function formOfValue({ input }: PlannedAggregate, { inputs }: GroupPlan, forms: Forms): Form {
  return input !== undefined && isOutermost(inputs[input]!) ? forms.inputs[input]! : "number";
}

function valueSql({ kind, input }: PlannedAggregate, seconds: number): string {
  switch (kind.name) {
    case "count":
      return input === undefined ? "coalesce(w, 0)" : `coalesce(n${input}, 0)`;
    case "distinct":
      return `coalesce(n${input}, 0)`;
    case "rate":
      return seconds > 0 ? `coalesce(w, 0) / ${seconds}` : "null::double";
    case "sum":
      return `case when n${input} > 0 and isfinite(s${input} + l${input}) then s${input} + l${input} end`;
    case "avg":
      return `case when n${input} > 0 and isfinite(s${input} + l${input}) then (s${input} + l${input}) / n${input} end`;
    case "min":
      return `lo${input}`;
    case "max":
      return `hi${input}`;
    case "pNN":
      return percentileName(input!, kind.percent);
    case "first":
    case "last":
      return `f${input}.v`;
  }
}

export const cellNames = ({ by, stepMs }: GroupPlan): string[] => [
  ...(stepMs === undefined ? [] : ["step"]),
  ...by.map((_, at) => `c${at}`),
];

export const numberInputs = ({ inputs }: GroupPlan): number[] =>
  inputs.flatMap(({ use }, at) => (use === "number" ? [at] : []));

// ---- forms

/** The forms of rows in memory, with no values of inputs. */
export const formsOfCells = (plan: GroupPlan, groups: readonly { readonly cells: readonly Cell[] }[]): Forms =>
  formsOf({ plan, parts: [], memory: [], summaries: groups, values: [] });

function formsOf({
  plan,
  parts,
  memory,
  summaries,
  values,
}: Pick<StatementInput, "plan" | "parts" | "memory" | "values"> & {
  readonly summaries: readonly { readonly cells: readonly Cell[] }[];
}): Forms {
  const offset = plan.stepMs === undefined ? 0 : 1;
  const cells = [...memory, ...summaries, ...values];
  return {
    by: plan.by.map((column, at) =>
      isLevel(target(column))
        ? "level"
        : formOf(
            parts.map(({ reading }) => reading.by[at]!.type),
            cells.map((row) => row.cells[offset + at]),
          ),
    ),
    inputs: plan.inputs.map((input, at) =>
      isLevel(input.target)
        ? "level"
        : formOf(
            parts.map(({ reading }) => reading.inputs[at]!.type),
            [
              ...memory.map((row) => row.values[at]),
              ...(input.use === "key" ? values.flatMap((group) => group.values[at] as Cell[]) : []),
            ],
          ),
    ),
  };
}

/** In memory a level is its name, and in SQL its severity, by which it is sorted. */
const isLevel = (place: Target) => place.at === "entry" && place.name === "level";

function formOf(types: readonly ColumnSource["type"][], values: readonly unknown[]): Form {
  const seen = new Set<ColumnSource["type"]>(types);
  for (const value of values) {
    if (value === null || value === undefined) continue;
    const type = typeof value;
    seen.add(type === "string" || type === "number" || type === "boolean" ? type : "json");
  }
  seen.delete("absent");
  const [only = "string"] = seen;
  return seen.size > 1 ? "json" : (only as Form);
}

const SQL_TYPES: Readonly<Record<Form, string>> = {
  string: "varchar",
  number: "double",
  boolean: "boolean",
  level: "integer",
  json: "varchar",
};

function inForm({ type, text }: ColumnSource, form: Form): string {
  if (type === "absent") return `null::${SQL_TYPES[form]}`;
  if (type === "json") return canonical(text);
  if (type === form) return type === "number" ? `(${text})::double` : `(${text})`;
  if (type === "boolean") return `(${text})::varchar`;
  return `case when ${text} is not null then to_json(${type === "number" ? `(${text})::double` : text})::varchar end`;
}

/** Equal scalars have the same text then, however they were written. */
const canonical = (text: string) =>
  `case when ${text} is null then null
    when starts_with(${text}, '"') then to_json(json_extract_string(${text}::json, '$'))::varchar
    when ${text} in ('true', 'false') or starts_with(${text}, '{') or starts_with(${text}, '[') then ${text}
    else to_json(try_cast(${text} as double))::varchar end`;

// ---- rows

function ofSegments({ segments, reading, counted }: SqlPart<SegmentSources>, input: StatementInput, forms: Forms): Sql {
  const { plan, steps } = input;
  const jsons = reading.jsons.map((_, at) => `, json_extract(fields, ?)::varchar as j${at}`).join("");
  const from = `(select *${jsons} from ${fromRows(segments)} where ${counted.where})`;
  const columns = [
    ...(steps === undefined ? [] : [stepSql(steps)]),
    ...reading.by.map((source, at) => `${inForm(source, forms.by[at]!)} as c${at}`),
    "1::double as w",
    ...plan.inputs.flatMap((one, at) => inputColumns(one, at, reading.inputs[at]!, forms)),
    ...(hasPositions(plan) ? [`t as position, ${ID} as event_id`] : []),
  ];
  const values: SqlValue[] = [...reading.jsons, ...counted.values];
  return { text: `select ${columns.join(", ")} from ${from}`, where: "", values };
}

/** Before 1970 a difference of nanoseconds may need more than 64 bits. */
function stepSql({ first, length }: NonNullable<StatementInput["steps"]>): string {
  const type = first < 0n ? "hugeint" : "bigint";
  return `((t::${type} - (${first})::${type}) // ${length}::${type})::double as step`;
}

function inputColumns({ use }: AggregateInput, at: number, source: ColumnSource, forms: Forms): string[] {
  const { type, text } = source;
  switch (use) {
    case "number": {
      const isNumber = type === "number" || type === "json";
      const value = type === "json" ? `try_cast(${text} as double)` : isNumber ? text : "null";
      const leftOut =
        type === "number" || type === "absent"
          ? "null"
          : `case when ${text} is not null and ${type === "json" ? `try_cast(${text} as double) is null` : "true"} then 1 end`;
      return [`(${value})::double as v${at}`, `(${leftOut})::double as x${at}`];
    }
    case "presence":
      return [`${type === "absent" ? "null" : `case when ${text} is not null then 1 end`}::double as v${at}`];
    default:
      return [`${inForm(source, forms.inputs[at]!)} as v${at}`];
  }
}

/** Columns of JSON lists in one bound text, side by side. */
function ofMemory(memory: readonly MemoryRow[], { plan, steps }: StatementInput, forms: Forms): Sql {
  const offset = steps === undefined ? 0 : 1;
  const bound = new BoundTable();
  bound.add(
    "times",
    "DOUBLE",
    memory.map(({ times }) => times),
  );
  bound.add(
    "w",
    "DOUBLE",
    memory.map(({ counts }) => counts),
  );
  if (steps !== undefined)
    bound.add(
      "step",
      "DOUBLE",
      memory.map(({ cells }) => cells[0]),
    );
  for (const at of plan.by.keys()) {
    const form = forms.by[at]!;
    bound.addInForm(
      `c${at}`,
      form,
      memory.map(({ cells }) => cells[offset + at]),
    );
  }
  for (const [at, { use }] of plan.inputs.entries()) {
    const values = memory.map((row) => row.values[at]);
    if (use === "number") {
      bound.add(`v${at}`, "DOUBLE", values);
      bound.add(
        `x${at}`,
        "DOUBLE",
        memory.map(({ leftOut }) => leftOut[at]! || null),
      );
    } else if (use === "presence")
      bound.add(
        `v${at}`,
        "DOUBLE",
        values.map((value) => (value === null ? null : 1)),
      );
    else bound.addInForm(`v${at}`, forms.inputs[at]!, values);
  }
  if (hasPositions(plan)) {
    bound.add(
      "position",
      "BIGINT",
      memory.map(({ position }) => position && String(position.nanoseconds)),
    );
    bound.add(
      "event_id",
      "VARCHAR",
      memory.map(({ position }) => position?.id),
    );
  }
  const { from, values } = bound.table();
  const names = [...cellNames(plan), "w", ...inputNames(plan), ...(hasPositions(plan) ? ["position", "event_id"] : [])];
  // Each row as often as there are such events.
  return {
    text: `select ${names.join(", ")} from (select *, unnest(range(times::bigint)) from ${from})`,
    where: "",
    values,
  };
}

/** As many rows of a group as it has values of an input; the first one counts its events. */
function ofGroups(groups: readonly GroupValues[], { plan, steps }: StatementInput, forms: Forms): Sql {
  const offset = steps === undefined ? 0 : 1;
  const bound = new BoundTable();
  if (steps !== undefined)
    bound.add(
      "step",
      "DOUBLE",
      groups.map(({ cells }) => cells[0]),
    );
  for (const at of plan.by.keys()) {
    const cells = groups.map(({ cells }) => cells[offset + at]);
    bound.addInForm(`c${at}`, forms.by[at]!, cells);
  }
  bound.add(
    "w",
    "DOUBLE",
    groups.map(({ events }) => events),
  );
  for (const [at, { use }] of plan.inputs.entries()) {
    const values = groups.map((group) => group.values[at]!);
    if (use === "presence") bound.add(`v${at}`, "DOUBLE", values);
    else
      bound.addLists(`v${at}`, use === "number" ? "number" : forms.inputs[at]!, values as readonly (readonly Cell[])[]);
    if (use !== "number") continue;
    bound.add(
      `x${at}`,
      "DOUBLE",
      groups.map(({ leftOut }) => leftOut[at]! || null),
    );
  }
  const { from, values } = bound.table();
  const inputs = plan.inputs.flatMap(({ use }, at) => {
    if (use === "presence") return [`unnest([v${at}]) as v${at}`];
    return [`unnest(v${at}) as v${at}`, ...(use === "number" ? [`unnest([x${at}]) as x${at}`] : [])];
  });
  const cells = cellNames(plan);
  // Shorter lists are filled up with NULL.
  const rows = `(select ${[...cells, "unnest([w]) as w", ...inputs].join(", ")} from ${from})`;
  const read = plan.inputs.flatMap(({ use }, at) => {
    const name = `v${at}`;
    return [
      use === "key" && forms.inputs[at] === "json" ? `${canonical(name)} as ${name}` : name,
      ...(use === "number" ? [`x${at}`] : []),
    ];
  });
  return { text: `select ${[...cells, "w", ...read].join(", ")} from ${rows}`, where: "", values };
}

const inputNames = ({ inputs }: GroupPlan) =>
  inputs.flatMap(({ use }, at) => (use === "number" ? [`v${at}`, `x${at}`] : [`v${at}`]));

/** Values as columns, each of them one JSON text. */
class BoundTable {
  readonly #columns: {
    readonly name: string;
    /** How `from_json` reads the JSON text. */
    readonly shape: unknown;
    readonly text: (name: string) => string;
    readonly values: readonly unknown[];
  }[] = [];

  add(name: string, type: string, values: readonly unknown[], text = (column: string) => column): void {
    this.#columns.push({ name, shape: [type], text, values: values.map((value) => value ?? null) });
  }

  addInForm(name: string, form: Form, values: readonly unknown[]): void {
    switch (form) {
      case "json":
        this.add(
          name,
          "VARCHAR",
          values.map((value) => cellJson(value ?? null)),
          canonical,
        );
        return;
      case "level":
        this.add(
          name,
          "INTEGER",
          values.map((value) => (value === null ? null : levelNumber(value))),
        );
        return;
      default:
        this.add(name, SQL_TYPES[form].toUpperCase(), values);
    }
  }

  /** Lists of values, of which those of JSON are texts as they were written. */
  addLists(name: string, form: Form, lists: readonly (readonly Cell[])[]): void {
    const inList = form === "json" ? cellJson : form === "level" ? levelNumber : (cell: Cell) => cell;
    const values = lists.map((list) => list.map(inList));
    this.#columns.push({ name, shape: [[SQL_TYPES[form].toUpperCase()]], text: (column) => column, values });
  }

  table(): { readonly from: string; readonly values: readonly SqlValue[] } {
    const unnested = this.#columns.map(
      ({ name, shape }) => `unnest(from_json(?, '${JSON.stringify(shape)}')) as ${name}`,
    );
    const read = this.#columns.map(({ name, text }) => `${text(name)} as ${name}`);
    return {
      from: `(select ${read.join(", ")} from (select ${unnested.join(", ")}))`,
      values: this.#columns.map(({ values }) => JSON.stringify(values)),
    };
  }
}

const levelNumber = (level: Cell) => LEVELS.indexOf(level as Level);

// ---- groups

interface Rows {
  readonly sql: Sql;
  /** Whether each row is an event. */
  readonly isCounted: boolean;
}

/** With percentiles or distinct values: all rows at once. */
function groupedRows(rows: readonly Rows[], plan: GroupPlan, grids: readonly SumGrid[]): SelectStatement {
  const sums = plan.inputs.flatMap(({ use }, at) => {
    switch (use) {
      case "number":
        return [...partialNumbers(at, grids[at]), ...percentiles(plan, at)];
      case "key":
        return [`count(distinct v${at})::double as n${at}`];
      case "presence":
        return [`sum(v${at}) as n${at}`];
      default:
        return partial(use, at);
    }
  });
  const isAll = rows.every(({ isCounted }) => isCounted);
  const events = `${isAll ? "count(*)::double" : "sum(w)"} as w`;
  const names = [...cellNames(plan), events, ...(isSortedByTime(plan) ? [TIME_OF_GROUP] : []), ...sums].join(", ");
  return {
    text: `select ${names} from (${union(rows.map(({ sql }) => sql))}) group by all`,
    values: rows.flatMap(({ sql }) => sql.values),
  };
}

/** The groups of each part, joined. */
function merged(
  rows: readonly Rows[],
  { plan, summaries, steps }: StatementInput,
  { forms, grids }: { readonly forms: Forms; readonly grids: readonly SumGrid[] },
): SelectStatement {
  const cells = cellNames(plan);
  const parts = rows.map(({ sql, isCounted }): SelectStatement => {
    const sums = plan.inputs.flatMap(({ use }, at) =>
      use === "number" ? partialNumbers(at, grids[at]) : partial(use, at),
    );
    const events = plan.isUnique ? FIRST : `${isCounted ? "count(*)::double" : "sum(w)"} as w`;
    const names = [...cells, events, ...(isSortedByTime(plan) ? [TIME_OF_GROUP] : []), ...sums].join(", ");
    return { text: `select ${names} from (${sql.text}) group by all`, values: sql.values };
  });
  if (summaries.length > 0) parts.push(ofSummaries(summaries, { plan, steps, grids }, forms));
  const [only] = parts;
  // Summaries give several rows of a group.
  if (parts.length === 1 && summaries.length === 0) return only!;
  const sums = plan.inputs.flatMap(({ use }, at) => joins(use, at, grids[at]));
  const events = plan.isUnique
    ? ["min(first) as first"]
    : ["sum(w) as w", ...(isSortedByTime(plan) ? ["min(moment) as moment"] : [])];
  return {
    text: `select ${[...cells, ...events, ...sums].join(", ")} from (${union(parts)}) group by all`,
    values: parts.flatMap(({ values }) => values),
  };
}

const TIME_OF_GROUP = "min(position) as moment";

/** The place of a group's first event. */
const FIRST = "min({'position': position, 'event_id': event_id}) as first";

const union = (parts: readonly { readonly text: string }[]) =>
  parts.map(({ text }) => `(${text})`).join(" union all by name ");

const partialNumbers = (at: number, grid: SumGrid) => [
  `count(v${at})::double as n${at}`,
  ...splitSumsSql(at, grid),
  `min(v${at}) as lo${at}`,
  `max(v${at}) as hi${at}`,
  `sum(x${at}) as x${at}`,
];

function partial(use: AggregateInput["use"], at: number): string[] {
  if (use === "presence") return [`count(v${at})::double as n${at}`];
  const order = use === "first" ? "arg_min" : "arg_max";
  return [
    `${order}({'v': v${at}, 'position': position, 'event_id': event_id}, {'position': position, 'event_id': event_id})
      filter (v${at} is not null) as f${at}`,
  ];
}

function joins(use: AggregateInput["use"], at: number, grid: SumGrid): string[] {
  switch (use) {
    case "number":
      return [
        `sum(n${at}) as n${at}`,
        ...joinedSumsSql(at, grid),
        `min(lo${at}) as lo${at}`,
        `max(hi${at}) as hi${at}`,
        `sum(x${at}) as x${at}`,
      ];
    case "presence":
      return [`sum(n${at}) as n${at}`];
    default: {
      const order = use === "first" ? "arg_min" : "arg_max";
      return [
        `${order}(f${at}, {'position': f${at}.position, 'event_id': f${at}.event_id})
          filter (f${at} is not null) as f${at}`,
      ];
    }
  }
}

/** The nearest rank. A percent in decimals makes DuckDB reckon with whole numbers. */
function percentiles({ aggregates }: GroupPlan, input: number): string[] {
  const percents = new Set(
    aggregates.flatMap((one) => (one.kind.name === "pNN" && one.input === input ? [one.kind.percent] : [])),
  );
  return [...percents].map(
    (percent) => `quantile_disc(v${input}, ${quantile(percent)}) as ${percentileName(input, percent)}`,
  );
}

const percentileName = (input: number, percent: number) => `q${input}_${String(percent).replace(/\D/g, "_")}`;

/** A percent as a share: 0.999 for 99.9, made of its digits, since division would round. */
function quantile(percent: number): string {
  const [whole = "0", fraction = ""] = String(percent).split(".");
  const digits = `${whole.padStart(3, "0")}${fraction}`;
  return `${digits[0]}.${digits.slice(1)}`;
}

/** Counts of what summaries know. */
function ofSummaries(
  summaries: readonly SummaryRow[],
  { plan, steps, grids }: Pick<StatementInput, "plan" | "steps"> & { readonly grids: readonly SumGrid[] },
  forms: Forms,
): SelectStatement {
  const bound = new BoundTable();
  const offset = steps === undefined ? 0 : 1;
  if (steps !== undefined)
    bound.add(
      "step",
      "DOUBLE",
      summaries.map(({ cells }) => cells[0]),
    );
  for (const at of plan.by.keys()) {
    const cells = summaries.map((row) => row.cells[offset + at]);
    bound.addInForm(`c${at}`, forms.by[at]!, cells);
  }
  bound.add(
    "w",
    "DOUBLE",
    summaries.map(({ events }) => events),
  );
  for (const [at, { use }] of plan.inputs.entries()) {
    const numbers = summaries.map(({ inputs }) => inputs[at]!);
    bound.add(
      `n${at}`,
      "DOUBLE",
      numbers.map(({ count }) => count),
    );
    if (use !== "number") continue;
    const sums = numbers.map(({ sum, lost }) => (sum === null ? undefined : splitSum({ sum, lost }, grids[at])));
    bound.add(
      `s${at}`,
      "DOUBLE",
      sums.map((one) => one?.sum),
    );
    bound.add(
      `l${at}`,
      "DOUBLE",
      sums.map((one) => one?.lost),
    );
    bound.add(
      `lo${at}`,
      "DOUBLE",
      numbers.map(({ min }) => min),
    );
    bound.add(
      `hi${at}`,
      "DOUBLE",
      numbers.map(({ max }) => max),
    );
    bound.add(
      `x${at}`,
      "DOUBLE",
      numbers.map(({ leftOut }) => leftOut || null),
    );
  }
  const { from, values } = bound.table();
  return { text: `select * from ${from}`, values };
}
