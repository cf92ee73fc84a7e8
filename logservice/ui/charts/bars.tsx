import type { AggregateResponse } from "../../../schema/rpc.generated.ts";
import { count } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { numberText } from "./cell.tsx";
import { cellText, groupColumns, numberColumns } from "./drawing.ts";

/** So many bars are drawn. */
const MOST = 200;

/** A result as bars: one for each group, by the first column of numbers. */
export function Bars({ of }: { readonly of: AggregateResponse }) {
  const groups = groupColumns(of);
  const at = numberColumns(of)[0]!;
  const column = of.columns[at]!;
  const rows = of.rows.slice(0, MOST);
  const values = rows.map((row) => (typeof row[at] === "number" ? (row[at] as number) : 0));
  const most = Math.max(...values.map(Math.abs), Number.MIN_VALUE);
  return (
    <div class="chart-bars">
      <p class="hint">
        <Text text={column.name} />
        {of.rows.length > MOST && `, the first ${count(MOST)} of ${count(of.rows.length)} rows`}
      </p>
      <ul>
        {rows.map((row, i) => (
          <li key={i}>
            <span class="chart-name">
              <Text text={groups.map((group) => cellText(row[group])).join(", ")} />
            </span>
            <span class="chart-track">
              <span class="chart-bar" style={{ width: `${(Math.abs(values[i]!) / most) * 100}%` }} />
            </span>
            <span class="chart-number">{row[at] === null ? "none" : numberText(values[i]!, column)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
