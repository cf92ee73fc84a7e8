// The results of the stages of a query on an array of entries, evaluated in the plainest way: whole arrays, one stage
// after the other, exact values, no streaming. Written apart from grammar/query/pipe; only the parsed tree and the
// predicate are shared.
import type { Entry } from "../../grammar/entry.ts";
import {
  compilePredicate,
  levelOf,
  type Pipe,
  type Pipeline,
  parsePipeline,
  target,
} from "../../grammar/query/index.ts";

type Value = unknown;
type Item = { readonly entry?: Entry; readonly row?: Map<string, Value> };
type Named = Pipe extends infer S ? (S extends { by: readonly (infer C)[] } ? C : never) : never;

export interface OracleTable {
  readonly names: readonly string[] | undefined;
  readonly rows: readonly (readonly Value[])[];
}

export function byOracle(pipeline: Pipeline, entries: readonly Entry[], nowMs: number): OracleTable {
  const selects = compilePredicate(pipeline.query, { nowMs });
  let items: Item[] = entries.filter(selects).map((entry) => ({ entry }));
  let names: string[] | undefined;
  let kinds: Kinds = new Map();
  for (const stage of pipeline.pipes) {
    const isOfRows = names !== undefined;
    [items, names] = staged(stage, items, names, { nowMs, kinds });
    kinds = kindsAfter(stage, kinds, isOfRows);
  }
  if (names === undefined) return { names, rows: items.map(({ entry }) => [entry]) };
  return { names, rows: items.map(({ row }) => names!.map((name) => row!.get(name) ?? null)) };
}

/** Columns of times and levels, by their name: they have an order of their own. */
type Kinds = ReadonlyMap<string, "time" | "level">;

function kindOf(column: Named, kinds: Kinds, isOfRows: boolean): "time" | "level" | undefined {
  if (isOfRows) return kinds.get(textOf(column));
  const place = target(column);
  if (place.at !== "entry") return undefined;
  return place.name === "timestamp" ? "time" : place.name === "level" ? "level" : undefined;
}

function kindsAfter(stage: Pipe, kinds: Kinds, isOfRows: boolean): Kinds {
  const after = new Map<string, "time" | "level">();
  const add = (name: string, of: Named) => {
    const kind = kindOf(of, kinds, isOfRows);
    if (kind !== undefined) after.set(name, kind);
  };
  if (stage.kind === "where" || stage.kind === "sort" || stage.kind === "limit") return kinds;
  const columns = "columns" in stage ? stage.columns : "by" in stage ? stage.by : [stage.column];
  for (const column of columns) add(textOf(column), column);
  if (stage.kind === "stats") {
    for (const { call, as } of stage.aggregates)
      if (call.argument !== undefined && /^(?:first|last)$/.test(call.name))
        add(as?.name ?? `${call.name}(${textOf(call.argument)})`, call.argument);
  }
  return after;
}

const textOf = ({ path }: Named) =>
  path
    .map((part, at) =>
      part.kind === "index"
        ? `[${part.index}]`
        : at === 0
          ? part.key
          : /^[\w@$-]+$/.test(part.key)
            ? `.${part.key}`
            : `["${part.key}"]`,
    )
    .join("");

function cellOf({ entry, row }: Item, column: Named): Value {
  if (row !== undefined) {
    const name = textOf(column);
    return row.has(name) ? row.get(name) : row.get(`${name}()`);
  }
  const place = target(column);
  if (place.at === "entry" && place.name !== "id") {
    const value = entry![place.name];
    if (place.name === "timestamp") return value === "" ? undefined : value;
    return place.name === "level" ? (levelOf(String(value)) ?? value) : value;
  }
  if (place.at === "entry") return entry!.id ?? entry!.fields.id;
  let value: Value = entry!.fields;
  for (const key of place.path) {
    if (typeof value !== "object" || value === null || Array.isArray(value) !== (typeof key === "number"))
      return undefined;
    value = Object.hasOwn(value, key) ? (value as Record<string, Value>)[key] : undefined;
  }
  return value;
}

const flat = (value: Value): Value[] => (Array.isArray(value) ? value.flatMap(flat) : [value ?? null]);
const sameText = (value: Value) => JSON.stringify([typeof value, value === 0 ? 0 : value]);
const differing = (values: Value[]) => [...new Map(values.map((value) => [sameText(value), value])).values()];

const rank = (value: Value) =>
  value === null || value === undefined
    ? 0
    : value === false
      ? 1
      : value === true
        ? 2
        : typeof value === "number"
          ? 3
          : typeof value === "string"
            ? 4
            : 5;
function order(a: Value, b: Value): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (rank(a) === 3) return (a as number) - (b as number);
  if (rank(a) < 3) return 0;
  const [x, y] = [a, b].map((value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
  return Buffer.compare(x!, y!);
}

const TIME = /^(\d+-\d+-\d+)[T ](\d+:\d+:\d+)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** Nanoseconds of a time. */
function nanosOf(value: Value): bigint | undefined {
  const [, day, second, fraction = "", zone] = TIME.exec(typeof value === "string" ? value : "") ?? [];
  if (day === undefined) return undefined;
  const ms = Date.parse(`${day}T${second}${zone}`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0").slice(0, 9));
}

const SEVERITIES = ["debug", "info", "notice", "warn", "error", "critical", "alert", "emergency"];

/** Values that are no time, or no level, come before those that are, in the order of values. */
function orderIn(kind: "time" | "level" | undefined, a: Value, b: Value): number {
  if (kind === undefined) return order(a, b);
  const [x, y] = [a, b].map((value) => {
    if (kind === "time") return nanosOf(value);
    const at = SEVERITIES.indexOf(value as string);
    return at < 0 ? undefined : BigInt(at);
  });
  if (x === undefined || y === undefined) return x === y ? order(a, b) : x === undefined ? -1 : 1;
  return x < y ? -1 : x > y ? 1 : 0;
}

function staged(
  stage: Pipe,
  items: Item[],
  names: string[] | undefined,
  { nowMs, kinds }: { readonly nowMs: number; readonly kinds: Kinds },
): [Item[], string[] | undefined] {
  switch (stage.kind) {
    case "where": {
      if (names === undefined) {
        const test = compilePredicate({ source: "", expr: stage.expr }, { nowMs });
        return [items.filter(({ entry }) => test(entry!)), names];
      }
      const [time] = stage.expr.kind === "comparison" && "chunks" in stage.expr.value ? stage.expr.value.chunks : [];
      if (stage.expr.kind === "comparison" && time !== undefined && stage.expr.op === ">") {
        const { field } = stage.expr;
        const ms = (value: Value) => Number(nanosOf(value) ?? Number.NaN) / 1e6;
        return [items.filter((item) => flat(cellOf(item, field)).some((cell) => ms(cell) > ms(time))), names];
      }
      // Only comparisons with numbers, and of times after another, are drawn for rows.
      if (stage.expr.kind !== "comparison" || stage.expr.value.kind !== "number") throw new Error("not drawn");
      const { field, op, value } = stage.expr;
      return [
        // Any element of a list, as everywhere.
        items.filter((item) =>
          flat(cellOf(item, field)).some((cell) => {
            if (op === "=") return cell === value.value || cell === value.text;
            if (op === "!=") return cell !== undefined && cell !== null && cell !== value.value && cell !== value.text;
            if (typeof cell !== "number") return false;
            return op === "<"
              ? cell < value.value
              : op === "<="
                ? cell <= value.value
                : op === ">"
                  ? cell > value.value
                  : cell >= value.value;
          }),
        ),
        names,
      ];
    }
    case "sort":
      return [
        [...items].sort((a, b) => {
          for (const { column, direction } of stage.keys) {
            const kind = kindOf(column, kinds, names !== undefined);
            const sign = orderIn(kind, cellOf(a, column), cellOf(b, column));
            if (sign !== 0) return direction === "desc" ? -sign : sign;
          }
          return 0;
        }),
        names,
      ];
    case "limit":
      return [items.slice(0, stage.count.value), names];
    case "fields":
    case "unique": {
      const headings = stage.columns.map((column) =>
        names?.includes(`${textOf(column)}()`) ? `${textOf(column)}()` : textOf(column),
      );
      const rows = items.map((item) => ({
        row: new Map(stage.columns.map((column, at) => [headings[at]!, cellOf(item, column) ?? null])),
      }));
      if (stage.kind === "fields") return [rows, headings];
      const seen: string[] = [];
      const isFirst = ({ row }: { readonly row: Map<string, Value> }) => {
        const key = JSON.stringify([...row.values()].map(sameText));
        if (seen.includes(key)) return false;
        seen.push(key);
        return true;
      };
      return [rows.filter(isFirst), headings];
    }
    case "count":
      return grouped(items, stage.by, [{ name: "count", kind: "count", column: undefined, percent: 0 }], names);
    case "top": {
      const [rows, headings] = grouped(
        items,
        [stage.column],
        [{ name: "count", kind: "count", column: undefined, percent: 0 }],
        names,
      );
      return [rows.slice(0, stage.count?.value ?? 10), headings];
    }
    case "stats":
      return grouped(
        items,
        stage.by,
        stage.aggregates.map(({ call, as }) => ({
          name: as?.name ?? `${call.name}(${call.argument === undefined ? "" : textOf(call.argument)})`,
          kind: call.name.replace(/^p[\d.]+$/, "p"),
          column: call.argument,
          percent: Number(call.name.slice(1)),
        })),
        names,
      );
    case "timeseries":
      throw new Error("not drawn");
  }
}

interface NamedAggregate {
  readonly name: string;
  readonly kind: string;
  readonly column: Named | undefined;
  readonly percent: number;
}

function grouped(
  items: Item[],
  by: readonly Named[],
  aggregates: readonly NamedAggregate[],
  names: string[] | undefined,
): [Item[], string[]] {
  const groups = new Map<string, { readonly values: Value[]; readonly items: Item[] }>();
  if (by.length === 0) groups.set("[]", { values: [], items: [] });
  for (const item of items) {
    let all: Value[][] = [[]];
    for (const column of by) {
      const value = cellOf(item, column);
      const cells = Array.isArray(value) ? differing(flat(value)) : [value ?? null];
      all = all.flatMap((row) => (cells.length === 0 ? [null] : cells).map((cell) => [...row, cell]));
    }
    for (const values of all) {
      const key = JSON.stringify(values.map(sameText));
      const group = groups.get(key) ?? { values, items: [] };
      group.items.push(item);
      groups.set(key, group);
    }
  }
  const labels = by.map((column) => (names?.includes(`${textOf(column)}()`) ? `${textOf(column)}()` : textOf(column)));
  const rows = [...groups.values()].map(({ values, items }) => [
    ...values,
    ...aggregates.map((one) => result(one, items)),
  ]);
  rows.sort((a, b) => {
    const first = order(b[by.length], a[by.length]);
    if (first !== 0) return first;
    for (let at = 0; at < by.length; at++) if (order(a[at], b[at]) !== 0) return order(a[at], b[at]);
    return 0;
  });
  const headings = [...labels, ...aggregates.map(({ name }) => name)];
  return [rows.map((row) => ({ row: new Map(headings.map((name, at) => [name, row[at]])) })), headings];
}

function result({ kind, column, percent }: NamedAggregate, items: Item[]): Value {
  const values = column === undefined ? [] : items.map((item) => cellOf(item, column));
  const there = values.filter((value) => value !== undefined);
  const numbers = there
    .flatMap(flat)
    .filter((value): value is number => typeof value === "number")
    .sort((a, b) => a - b);
  switch (kind) {
    case "count":
      return column === undefined ? items.length : there.filter((value) => value !== null).length;
    case "sum":
      return numbers.length === 0 ? null : numbers.reduce((sum, value) => sum + value, 0);
    case "avg":
      return numbers.length === 0 ? null : numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    case "min":
      return numbers[0] ?? null;
    case "max":
      return numbers.at(-1) ?? null;
    case "p":
      return numbers[Math.max(1, Math.ceil((percent * numbers.length) / 100 - 1e-9)) - 1] ?? null;
    case "distinct":
      return differing(there.flatMap(flat).filter((value) => value !== null)).length;
    case "first":
      return there.find((value) => value !== null) ?? null;
    case "last":
      return there.findLast((value) => value !== null) ?? null;
    default:
      throw new Error(`not drawn: ${kind}`);
  }
}

export const parsed = (source: string): Pipeline => {
  const result = parsePipeline(source);
  if (!result.ok) throw new Error(`${source}: ${JSON.stringify(result.problems)}`);
  return result.value;
};
