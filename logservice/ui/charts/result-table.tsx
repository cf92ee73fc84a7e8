import { useState } from "preact/hooks";
import type { AggregateResponse } from "../../../schema/rpc.generated.ts";
import { Text } from "../kit/text.tsx";
import { Cell } from "./cell.tsx";

export interface ResultTableProps {
  readonly of: AggregateResponse;
  /** Shows the events of one group. */
  readonly onFilter?: ((field: string, value: unknown) => void) | undefined;
}

/** A result as a table. Sorted as the query says until a column is pressed. */
export function ResultTable({ of: { columns, rows }, onFilter }: ResultTableProps) {
  const [sorted, setSorted] = useState<{ readonly at: number; readonly isDown: boolean } | undefined>(undefined);
  const shown =
    sorted === undefined
      ? rows
      : [...rows].sort((a, b) => compare(a[sorted.at], b[sorted.at]) * (sorted.isDown ? -1 : 1));
  const most = columns.map(({ type }, at) =>
    type === "number" ? Math.max(0, ...rows.map((row) => (typeof row[at] === "number" ? (row[at] as number) : 0))) : 0,
  );
  return (
    <div class="table-wrap result-table">
      <table class="list">
        <thead>
          <tr>
            {columns.map(({ name, type }, at) => (
              <th
                key={name}
                scope="col"
                class={type === "number" ? "number" : undefined}
                aria-sort={sorted?.at !== at ? undefined : sorted.isDown ? "descending" : "ascending"}
              >
                <button
                  type="button"
                  class="sort"
                  onClick={() => setSorted({ at, isDown: sorted?.at === at ? !sorted.isDown : type === "number" })}
                >
                  <Text text={name} />
                  <span aria-hidden="true">{sorted?.at === at ? (sorted.isDown ? " ↓" : " ↑") : ""}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, i) => (
            <tr key={i}>
              {columns.map((column, at) => {
                const value = row[at];
                const isGroup = column.type === "value" || column.type === "level";
                return (
                  <td key={column.name} class={column.type === "number" ? "number" : undefined}>
                    {most[at]! > 0 && typeof value === "number" && (
                      <span
                        class="cell-bar"
                        style={{ width: `${(Math.max(0, value) / most[at]!) * 100}%` }}
                        aria-hidden="true"
                      />
                    )}
                    {isGroup && onFilter && value !== null ? (
                      <button
                        type="button"
                        class="cell-value"
                        title="Show these events"
                        onClick={() => onFilter(column.name, value)}
                      >
                        <Cell value={value} column={column} />
                      </button>
                    ) : (
                      <Cell value={value} column={column} />
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Numbers by size, other values by their text, nothing last. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
