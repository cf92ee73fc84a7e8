import type { AggregateResponse } from "../../../schema/rpc.generated.ts";
import { count } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { cellNumberText } from "./cell.tsx";
import { cellText, groupColumns, groupOfRow, NONE_TEXT, numberColumns, type ResultGroup } from "./drawing.ts";

/** So many bars are drawn. */
const MOST = 200;

export interface BarChartProps {
  readonly of: AggregateResponse;
  /** Shows the events of one group. */
  onFilter?(group: ResultGroup): void;
}

/** A result as bars: one for each group, by the first column of numbers. A press on one shows its events. */
export function BarChart({ of, onFilter }: BarChartProps) {
  const groups = groupColumns(of);
  const at = numberColumns(of)[0]!;
  const column = of.columns[at]!;
  const rows = of.rows.slice(0, MOST);
  const values = rows.map((row) => (typeof row[at] === "number" ? (row[at] as number) : 0));
  const names = rows.map((row) => groups.map((group) => cellText(row[group])).join(", "));
  const most = Math.max(...values.map(Math.abs), Number.MIN_VALUE);
  return (
    <div class="chart-bars">
      <p class="hint">
        <Text text={column.name} />
        {of.rows.length > MOST && `, the first ${count(MOST)} of ${count(of.rows.length)} rows`}
      </p>
      <ul>
        {rows.map((row, i) => (
          <Bar
            key={i}
            name={names[i]!}
            share={Math.abs(values[i]!) / most}
            number={row[at] === null ? NONE_TEXT : cellNumberText(values[i]!, column)}
            onPress={pressOf(groupOfRow(of, row), onFilter)}
          />
        ))}
      </ul>
    </div>
  );
}

const pressOf = (group: ResultGroup | undefined, onFilter: ((group: ResultGroup) => void) | undefined) =>
  group && onFilter && (() => onFilter(group));

interface BarProps {
  readonly name: string;
  readonly share: number;
  readonly number: string;
  readonly onPress: (() => void) | undefined;
}

function Bar({ name, share, number, onPress }: BarProps) {
  const parts = (
    <>
      <span class="chart-name" title={name}>
        <Text text={name} />
      </span>
      <span class="chart-track">
        <span class="chart-bar" style={{ width: `${share * 100}%` }} />
      </span>
      <span class="chart-number">{number}</span>
    </>
  );
  return (
    <li>
      {onPress === undefined ? (
        <span class="chart-row">{parts}</span>
      ) : (
        <button type="button" class="chart-row" title="Show these events" onClick={onPress}>
          {parts}
        </button>
      )}
    </li>
  );
}
