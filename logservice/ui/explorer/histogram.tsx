import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ViewRange } from "../../address/view.ts";
import { count, perText, timeText } from "../kit/format.ts";
import type { RowRange } from "../rows/rows.ts";
import { BarShape, HEIGHT, Mark, Tip } from "./histogram-bars.tsx";
import { type Bar, barsOf, type Histogram as Counts } from "./histogram-data.ts";
import { HistogramTable } from "./histogram-table.tsx";
import { ticksOf } from "./histogram-ticks.ts";

export interface HistogramProps {
  readonly of: Counts;
  readonly times: { readonly startMs: number; readonly stopMs: number };
  /** The time of the first row that is visible, as a mark. */
  readonly mark: ReadonlySignal<number | undefined>;
  onZoom(range: ViewRange): void;
  /** Shows the events of a time in the list. */
  onSeek(range: RowRange): void;
}

/** The part of its step that a bar takes at most. */
const WIDEST = 0.85;
/** After this the table for who does not see the bars is made. */
const TABLE_MS = 250;
/** A shorter movement is a press. */
const DRAG_PX = 4;

/**
 * Events by time, stacked by level. A drag zooms in, a press seeks. By keys: the arrows go from bar to bar, with Shift they
 * mark a range, Enter zooms into it, the space bar seeks. A table says the same to who does not see it.
 */
export function Histogram({ of: counts, times, mark, onZoom, onSeek }: HistogramProps) {
  const [over, setOver] = useState<number | undefined>(undefined);
  /** Two shares of the width. */
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | undefined>(undefined);
  /** Two bars that the keys have marked. */
  const [marked, setMarked] = useState<{ readonly from: number; readonly to: number } | undefined>(undefined);
  const [width, setWidth] = useState(0);
  /** The table is made once the page is there: nobody sees it, and it has as many cells as all the rest. */
  const [isPainted, setPainted] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const bars = useMemo(() => barsOf(counts, times), [counts, times.startMs, times.stopMs]);
  const span = Math.max(1, times.stopMs - times.startMs);
  const share = (ms: number) => Math.max(0, Math.min(1, (ms - times.startMs) / span));
  useLayoutEffect(() => {
    const element = root.current!;
    const look = () => setWidth(element.clientWidth);
    const watch = new ResizeObserver(look);
    watch.observe(element);
    look();
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => setPainted(true), TABLE_MS);
    return () => clearTimeout(timer);
  }, []);
  const shareAt = (event: PointerEvent): number => {
    const box = root.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
  };
  const barAt = (at: number): number | undefined => {
    const ms = times.startMs + at * span;
    const index = bars.findIndex((bar) => ms >= bar.startMs && ms < bar.stopMs);
    return index < 0 ? undefined : index;
  };
  const zoom = (startMs: number, stopMs: number): void => {
    setMarked(undefined);
    onZoom({ startMs: Math.round(startMs), stopMs: Math.round(Math.max(stopMs, startMs + 1)) });
  };
  const finish = (): void => {
    if (drag === undefined) return;
    setDrag(undefined);
    const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    const bar = bars[barAt(from) ?? -1];
    if ((to - from) * width > DRAG_PX) zoom(times.startMs + from * span, times.startMs + to * span);
    else if (bar !== undefined && bar.total > 0) onSeek({ startMs: bar.startMs, stopMs: bar.stopMs - 1 });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = bars.length - 1;
    const at = over ?? last;
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (next !== undefined) {
      const to = Math.max(0, Math.min(last, over === undefined ? last : next));
      setOver(to);
      setMarked(event.shiftKey ? { from: marked?.from ?? at, to } : undefined);
    } else if (event.key === "Enter" && over !== undefined) {
      const [a, b] = [bars[Math.min(marked?.from ?? at, at)], bars[Math.max(marked?.from ?? at, at)]];
      if (a && b) zoom(a.startMs, b.stopMs - 1);
    } else if (event.key === " " && over !== undefined) {
      const bar = bars[at];
      if (bar !== undefined && bar.total > 0) onSeek({ startMs: bar.startMs, stopMs: bar.stopMs - 1 });
    } else if (event.key === "Escape" && marked !== undefined) setMarked(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const activeBar = over === undefined ? undefined : bars[over];
  const brush = drag ?? (marked && brushOf(bars, marked, share));
  const most = bars.reduce((max, bar) => (bar.height > max.height ? bar : max), { height: 0, total: 0 });
  return (
    <div class="histogram">
      {most.total > 0 && (
        <span class="scale" aria-hidden="true">
          max {count(most.total)} {perText(counts.stepMs)}
        </span>
      )}
      <div
        class="bars"
        ref={root}
        role="slider"
        tabIndex={0}
        aria-label="Events by time"
        aria-description="The arrows go from bar to bar, with Shift they mark a range. Enter shows the range alone, Space goes to its events."
        aria-valuemin={0}
        aria-valuemax={Math.max(0, bars.length - 1)}
        aria-valuenow={over ?? Math.max(0, bars.length - 1)}
        aria-valuetext={spoken(activeBar ?? bars.at(-1))}
        onKeyDown={onKeyDown}
        onBlur={() => {
          setOver(undefined);
          setMarked(undefined);
        }}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          root.current!.setPointerCapture(event.pointerId);
          const at = shareAt(event);
          setDrag({ from: at, to: at });
        }}
        onPointerMove={(event) => {
          const at = shareAt(event);
          setOver(barAt(at));
          if (drag !== undefined) setDrag({ from: drag.from, to: at });
        }}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(undefined)}
        onPointerLeave={() => setOver(undefined)}
      >
        <svg width={width} height={HEIGHT} aria-hidden="true">
          {bars.map((bar, i) => (
            <BarShape
              key={bar.startMs}
              bar={bar}
              left={share(bar.startMs) * width}
              right={share(bar.stopMs) * width}
              widest={WIDEST * (share(bar.stopMs) - share(bar.startMs)) * width}
              isOver={i === over}
            />
          ))}
          <Mark of={mark} share={share} width={width} />
          {brush !== undefined && (
            <rect
              class="bar-drag"
              x={Math.min(brush.from, brush.to) * width}
              width={Math.abs(brush.to - brush.from) * width}
              y="0"
              height={HEIGHT}
            />
          )}
        </svg>
        {activeBar !== undefined && drag === undefined && (
          <Tip bar={activeBar} at={(share(activeBar.startMs) + share(activeBar.stopMs)) / 2} />
        )}
      </div>
      <div class="axis" aria-hidden="true">
        {ticksOf(times, counts.stepMs, width).map(({ at, text }) => (
          <span key={at} style={{ left: `${at * 100}%` }}>
            {text}
          </span>
        ))}
      </div>
      {isPainted && <HistogramTable bars={bars} stepMs={counts.stepMs} />}
    </div>
  );
}

function spoken(bar: Bar | undefined): string {
  if (bar === undefined) return "no events";
  const levels = [...bar.byLevel].map(([level, eventCount]) => `${count(eventCount)} ${level}`).join(", ");
  return `${timeText(bar.startMs)}: ${count(bar.total)} ${bar.total === 1 ? "event" : "events"}${levels && `, ${levels}`}`;
}

function brushOf(
  bars: readonly Bar[],
  { from, to }: { readonly from: number; readonly to: number },
  share: (ms: number) => number,
) {
  const [a, b] = [bars[Math.min(from, to)], bars[Math.max(from, to)]];
  return a && b ? { from: share(a.startMs), to: share(b.stopMs) } : undefined;
}
