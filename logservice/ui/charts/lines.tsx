import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { AggregateResponse } from "../../../schema/rpc.generated.ts";
import { theme, zone } from "../data/preferences.ts";
import { isSystemDark } from "../kit/dark.ts";
import { count, timeText } from "../kit/format.ts";
import { visibleText } from "../kit/visible.ts";
import { cellNumberText } from "./cell.tsx";
import { NONE_TEXT, numberColumns, seriesOf } from "./drawing.ts";
import { timeLabels } from "./time-labels.ts";

/** Most of a screen for a chart that is the page. */
const heightOf = () => Math.max(260, Math.min(560, Math.round(innerHeight * 0.45)));
/** Room of a time below the chart. */
const TIME_PX = 90;

export interface LineChartProps {
  readonly of: AggregateResponse;
  /** The range that was asked for. */
  readonly range: { readonly startMs: number; readonly stopMs: number };
  /** Shows the same for a part of the time; without it a drag only looks closer. */
  onZoom?(range: { readonly startMs: number; readonly stopMs: number }): void;
}

/** A result as lines over time. A drag zooms in. */
export function LineChart({ of, range, onZoom }: LineChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const { times, series, left, isCut } = seriesOf(of, range);
  const column = of.columns[numberColumns(of)[0]!]!;
  const isLevels = of.columns.some(({ type }) => type === "level") && series.every(({ name }) => levelOf(name));
  const isUtc = zone.value === "utc";
  const colours = `${theme.value} ${isSystemDark.value}`;
  useEffect(() => {
    const element = place.current!;
    // A canvas does not know of the colour scheme: the colour has to be computed.
    const of = (name: string) => {
      element.style.color = `var(${name})`;
      const { color } = getComputedStyle(element);
      element.style.color = "";
      return color;
    };
    const axis = {
      stroke: of("--soft"),
      grid: { stroke: of("--line"), width: 1 },
      ticks: { stroke: of("--line"), width: 1 },
    };
    const chart = new uPlot(
      {
        ...{ width: element.clientWidth, height: heightOf() },
        // One zone for the whole page.
        tzDate: (seconds) => (isUtc ? uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC") : new Date(seconds * 1e3)),
        axes: [
          { ...axis, space: TIME_PX, values: (_, seconds) => timeLabels(seconds) },
          {
            ...axis,
            size: 72,
            values: (_, values) => values.map((value) => cellNumberText(value, { ...column, is_estimate: false })),
          },
        ],
        series: [
          { value: (_, seconds) => (seconds === null ? "" : timeText(seconds * 1e3)) },
          ...series.map(({ name }, i) => ({
            label: name,
            stroke: of(isLevels ? levelColour(name) : `--line-${(i % 12) + 1}`),
            width: 1.75,
            points: { show: times.length < 60, size: 5 },
            // Without the mouse over the chart there is no index.
            value: (_: uPlot, value: number | null, __: number, index: number | null) =>
              index === null ? "" : value === null ? NONE_TEXT : cellNumberText(value, column),
          })),
        ],
        legend: { live: true },
        cursor: { drag: { x: true, y: false, setScale: onZoom === undefined } },
        hooks: {
          setSelect: [
            ({ select, posToVal }) => {
              if (select.width < 4) return;
              const at = (pixels: number) => Math.round(posToVal(pixels, "x") * 1000);
              onZoom?.({ startMs: at(select.left), stopMs: at(select.left + select.width) });
            },
          ],
        },
      },
      [times.map((time) => time / 1000), ...series.map(({ values }) => values)],
      element,
    );
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: heightOf() }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [of, isUtc, colours]);
  return (
    <div class="chart-lines">
      <div
        ref={place}
        role="img"
        aria-label={visibleText(
          `${series.length} lines over time: ${series.map(({ name }) => name).join(", ")}. The table shows the same numbers.`,
        )}
      />
      {isCut && <p class="hint">Incomplete steps at the edges are only in the table.</p>}
      {of.truncated && (
        <p class="note warning">
          There are more rows than can be drawn: a part of the range is missing. Use a longer step or fewer groups.
          Without a step, as in <code>| timeseries by path</code>, one is chosen that fits.
        </p>
      )}
      {left > 0 && (
        <p class="hint">
          {count(left)} smaller lines are not drawn{of.truncated ? "." : "; the table and an export have their rows."}
        </p>
      )}
    </div>
  );
}

/** The colour in which the pages write a level. */
function levelColour(name: string): string {
  const level = levelOf(name)!;
  return `--${level === "alert" || level === "emergency" ? "critical" : level}`;
}

const levelOf = (name: string) => LEVELS.find((level) => level === name);
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
