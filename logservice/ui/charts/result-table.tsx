import { useState } from "preact/hooks";
import type { AggregateResponse } from "../../../schema/rpc.generated.ts";
import { TABLE_ROWS } from "../../address/first-data.ts";
import { count } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { ResultCell } from "./cell.tsx";
import { groupOfRow, type ResultGroup } from "./drawing.ts";

export interface ResultTableProps {
  readonly of: AggregateResponse;
  /** Shows the events of one group. */
  readonly onFilter?: ((group: ResultGroup) => void) | undefined;
}

/** A result as a table. Sorted as the query says until a column is pressed. */
export function ResultTable({ of, onFilter }: ResultTableProps) {
  const { columns, rows } = of;
  const [sorted, setSorted] = useState<{ readonly at: number; readonly isDown: boolean } | undefined>(undefined);
  const sortedRows =
    sorted === undefined
      ? rows
      : [...rows].sort((a, b) => compare(a[sorted.at], b[sorted.at]) * (sorted.isDown ? -1 : 1));
  const most = columns.map(({ type }, at) =>
    type === "number" ? Math.max(0, ...rows.map((row) => (typeof row[at] === "number" ? (row[at] as number) : 0))) : 0,
  );
  // One number alone is compared with nothing.
  const isBarred = (at: number) => rows.length > 1 && most[at]! > 0;
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
          {sortedRows.slice(0, TABLE_ROWS).map((row, i) => (
            <tr
              key={i}
              class={onFilter && groupOfRow(of, row) ? "pressable" : undefined}
              onClick={(event) => {
                const group = groupOfRow(of, row);
                if (group === undefined || String(getSelection()) !== "") return;
                // A button of the row has its own action.
                if ((event.target as Element).closest("button") === null) onFilter?.(group);
              }}
            >
              {columns.map((column, at) => {
                const value = row[at];
                const isGroup = column.type === "value" || column.type === "level";
                return (
                  <td
                    key={column.name}
                    class={column.type !== "number" ? undefined : isBarred(at) ? "number barred" : "number"}
                  >
                    {isBarred(at) && typeof value === "number" && (
                      <span class="cell-bar" style={{ "--share": Math.max(0, value) / most[at]! }} aria-hidden="true" />
                    )}
                    {isGroup && onFilter ? (
                      <button
                        type="button"
                        class="cell-value"
                        title="Show these events"
                        onClick={() => onFilter(groupOfRow(of, row)!)}
                      >
                        <ResultCell value={value} column={column} />
                      </button>
                    ) : (
                      <ResultCell value={value} column={column} />
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > TABLE_ROWS && (
        <p class="hint">
          The first {count(TABLE_ROWS)} of {count(rows.length)} rows are shown. An export has all.
        </p>
      )}
      {rows.length === 0 && <p class="hint no-rows">No events match in this range.</p>}
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
