import { compileOver, type FieldCondition, type Query, target } from "../../grammar/query/index.ts";
import { type ColumnRequest, type MemtableColumn, NumberColumn, type ValueColumn } from "./memtable-columns.ts";

/** Selects events of a memtable by its columns, the same ones as the predicate of the query. */
export interface ColumnFilter {
  /** The columns that it reads. */
  readonly requests: readonly ColumnRequest[];
  /** Makes a function of an event's place, given those columns in their order. */
  readonly over: (columns: readonly MemtableColumn[]) => (place: number) => boolean;
}

/** Undefined if the query reads what differs in nearly every event, which makes no column. */
export function columnFilter(query: Query, nowMs: number): ColumnFilter | undefined {
  const requests: ColumnRequest[] = [];
  let isOfColumns = true;
  compileOver(query, { nowMs }, (condition) => {
    const place = target(condition.field);
    if (place.at === "entry" && place.name !== "level") isOfColumns = false;
    requests.push({ column: condition.field, use: isOfNumbers(condition) ? "test" : "values" });
    return () => true;
  });
  if (!isOfColumns) return undefined;
  return {
    requests,
    over(columns) {
      let next = 0;
      return compileOver(query, { nowMs }, ({ passes }) => testOf(columns[next++]!, passes));
    },
  };
}

/** Whether a column of numbers tells enough: it knows no null from a missing value. */
function isOfNumbers({ expr, passes }: FieldCondition): boolean {
  const values = expr.kind === "comparison" ? [expr.value] : expr.kind === "in" ? expr.values : [];
  return values.length > 0 && values.every(({ kind }) => kind === "number") && passes(null) === passes(undefined);
}

function testOf(column: MemtableColumn, passes: (value: unknown) => boolean): (place: number) => boolean {
  if (column instanceof NumberColumn) {
    const { numbers, others } = column;
    return (place) => {
      const number = numbers[place]!;
      return passes(Number.isNaN(number) ? others.get(place) : number);
    };
  }
  // Each different value is tested once.
  const { codes, values } = column as ValueColumn;
  const results = new Uint8Array(values.length);
  return (place) => {
    const code = codes[place]!;
    results[code] ||= passes(values[code]) ? PASSES : FAILS;
    return results[code] === PASSES;
  };
}

const [PASSES, FAILS] = [1, 2] as const;
