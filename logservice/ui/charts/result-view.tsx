import type { ComponentChildren } from "preact";
import type { AggregateResponse } from "../../../schema/rpc.generated.ts";
import { DRAWINGS, type Drawing } from "../../address/view.ts";
import { count } from "../kit/format.ts";
import { late } from "../kit/late.tsx";
import { Text } from "../kit/text.tsx";
import { BarChart } from "./bars.tsx";
import { drawingOf, drawingsOf, type ResultGroup } from "./drawing.ts";
import type { LineChartProps } from "./lines.tsx";
import { ResultTable } from "./result-table.tsx";

const LineChart = late<LineChartProps>(() => import("./lines.tsx").then(({ LineChart }) => LineChart));

export interface ResultViewProps {
  readonly of: AggregateResponse;
  /** The range that was asked for. */
  readonly range: { readonly startMs: number; readonly stopMs: number };
  /** The name of the query. */
  readonly name?: ComponentChildren;
  /** The drawing that the person chose; undefined for the one that fits the result. */
  readonly drawn: Drawing | undefined;
  /** Whether it is the answer to another query than the one that is typed or asked. */
  readonly isOld: boolean;
  onDraw(drawing: Drawing): void;
  /** Shows the events of one group. */
  onFilter?(group: ResultGroup): void;
  /** Shows the same for a part of the time. */
  onZoom?(range: { readonly startMs: number; readonly stopMs: number }): void;
}

const NAMES: Readonly<Record<Drawing, string>> = { table: "Table", bars: "Bars", lines: "Lines" };

/** Why a result cannot be drawn so, and what the query needs. */
const MISSING: Readonly<Record<Drawing, string>> = {
  table: "",
  bars: "Bars need numbers by a value, without times: | count by path",
  lines: "Lines need numbers over time: | timeseries 5m count() by path",
};

/** The answer of a query with stages: a table, bars, or lines over time. */
export function ResultView({ of, range, name, drawn, isOld, onDraw, onFilter, onZoom }: ResultViewProps) {
  const possible = drawingsOf(of);
  const current = drawn !== undefined && possible.has(drawn) ? drawn : drawingOf(of);
  // A misspelled name groups all events under nothing, which would read as a fact.
  const nowhere = of.columns.find(
    ({ type }, at) => type === "value" && of.rows.length > 0 && of.rows.every((row) => row[at] === null),
  )?.name;
  return (
    <div class="result" data-old={isOld}>
      <div class="row result-head">
        <span class="grow">
          <strong>{count(of.rows.length)}</strong> {of.rows.length === 1 ? "row" : "rows"}
          {of.truncated && ", cut: sort or limit the query to choose which are shown"}
          {of.columns.some(({ is_estimate }) => is_estimate) && ", values marked ≈ are estimates"}
        </span>
        {name}
        <fieldset class="switcher" aria-label="Show as">
          {DRAWINGS.map((name) => (
            <button
              type="button"
              key={name}
              class="button small"
              aria-pressed={name === current}
              disabled={!possible.has(name)}
              title={possible.has(name) ? undefined : MISSING[name]}
              onClick={() => onDraw(name)}
            >
              {NAMES[name]}
            </button>
          ))}
        </fieldset>
      </div>
      {nowhere !== undefined && (
        <p class="note warning" role="status">
          None of these events has a field{" "}
          <code>
            <Text text={nowhere} />
          </code>
          .
        </p>
      )}
      {current === "lines" ? (
        <LineChart of={of} range={range} {...(onZoom && { onZoom })} />
      ) : current === "bars" ? (
        <BarChart of={of} {...(onFilter && { onFilter })} />
      ) : (
        <ResultTable of={of} onFilter={onFilter} />
      )}
    </div>
  );
}
