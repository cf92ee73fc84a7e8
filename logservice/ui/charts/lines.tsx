import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { AggregateResponse } from "../../../schema/rpc.generated.ts";
import { theme, zone } from "../data/preferences.ts";
import { count, timeParts, timeText } from "../kit/format.ts";
import { numberText } from "./cell.tsx";
import { numberColumns, seriesOf } from "./drawing.ts";

const HEIGHT = 320;

export interface LinesProps {
  readonly of: AggregateResponse;
  /** Shows the same for a part of the time; without it a drag only looks closer. */
  onZoom?(range: { readonly startMs: number; readonly stopMs: number }): void;
}

/** A result as lines over time. A drag zooms in. */
export function Lines({ of, onZoom }: LinesProps) {
  const place = useRef<HTMLDivElement>(null);
  const { times, series, left } = seriesOf(of);
  const column = of.columns[numberColumns(of)[0]!]!;
  const isUtc = zone.value === "utc";
  const colours = theme.value;
  useEffect(() => {
    const element = place.current!;
    const style = getComputedStyle(element);
    const of = (name: string) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: of("--soft"),
      grid: { stroke: of("--line"), width: 1 },
      ticks: { stroke: of("--line"), width: 1 },
    };
    const chart = new uPlot(
      {
        ...{ width: element.clientWidth, height: HEIGHT },
        // One zone for the whole page.
        tzDate: (seconds) => (isUtc ? uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC") : new Date(seconds * 1e3)),
        axes: [
          { ...axis, values: (_, at) => at.map((seconds, i) => tickText(seconds, (at[1] ?? 0) - (at[0] ?? 0), i)) },
          {
            ...axis,
            size: 72,
            values: (_, values) => values.map((value) => numberText(value, { ...column, is_estimate: false })),
          },
        ],
        series: [
          { value: (_, seconds) => (seconds === null ? "" : timeText(seconds * 1e3)) },
          ...series.map(({ name }, i) => ({
            label: name,
            stroke: of(`--line-${(i % 12) + 1}`),
            width: 1.75,
            points: { show: times.length < 60, size: 5 },
            value: (_: uPlot, value: number | null, __: number, at: number | null) =>
              at === null ? "" : value === null ? "none" : numberText(value, column),
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
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
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
        aria-label={`${series.length} lines over time: ${series.map(({ name }) => name).join(", ")}. The table shows the same numbers.`}
      />
      {left > 0 && <p class="hint">{count(left)} smaller lines are not drawn; the table has all rows.</p>}
    </div>
  );
}

/** A time below the lines, as everywhere: 24 hours, and the day where one begins. */
function tickText(seconds: number, apartSeconds: number, at: number): string {
  const { day, minute, second } = timeParts(seconds * 1e3);
  const clock = apartSeconds < 60 ? second : minute;
  if (apartSeconds >= 86_400 || /^00:00(?::00)?$/.test(clock)) return day;
  return at === 0 ? `${clock}\n${day}` : clock;
}
