import { useRef, useState } from "preact/hooks";
import type { Level } from "../../../schema/rpc.generated.ts";
import type { ViewRange } from "../address/view.ts";
import { count, timeParts, timeText, zoneName } from "../kit/format.ts";
import { type Histogram as Counts, STACKED } from "./histogram-data.ts";

export interface HistogramProps {
  readonly of: Counts;
  readonly times: { readonly startMs: number; readonly stopMs: number };
  /** The time of the first row that is visible, as a mark. */
  readonly markMs: number | undefined;
  onZoom(range: ViewRange): void;
  /** Shows the events of a time in the list. */
  onSeek(timeMs: number): void;
}

/** Height of the drawing, in its own units. */
const HEIGHT = 100;

/** Events by time, stacked by level. A drag zooms in, a press seeks; a table says the same to who does not see it. */
export function Histogram({ of: counts, times, markMs, onZoom, onSeek }: HistogramProps) {
  const [over, setOver] = useState<number | undefined>(undefined);
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number } | undefined>(undefined);
  const root = useRef<HTMLDivElement>(null);
  const { steps, stepMs, most } = counts;
  const span = Math.max(1, times.stopMs - times.startMs);
  const share = (ms: number) => Math.max(0, Math.min(1, (ms - times.startMs) / span));
  const shareAt = (event: PointerEvent): number => {
    const box = root.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
  };
  const stepAt = (at: number) => {
    const ms = times.startMs + at * span;
    return steps.findIndex(({ startMs }) => ms >= startMs && ms < startMs + stepMs);
  };
  const finish = (): void => {
    if (drag === undefined) return;
    setDrag(undefined);
    const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    const startMs = Math.round(times.startMs + from * span);
    const stopMs = Math.round(times.startMs + to * span);
    const isDrag = (to - from) * root.current!.clientWidth > 4;
    if (isDrag) onZoom({ startMs, stopMs: Math.max(stopMs, startMs + 1) });
    else {
      const step = steps[stepAt(from)];
      if (step !== undefined && step.total > 0) onSeek(step.startMs + stepMs - 1);
    }
  };
  const shown = over === undefined ? undefined : steps[over];
  return (
    <div class="histogram">
      <div
        class="bars"
        ref={root}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          root.current!.setPointerCapture(event.pointerId);
          const at = shareAt(event);
          setDrag({ from: at, to: at });
        }}
        onPointerMove={(event) => {
          const at = shareAt(event);
          setOver(stepAt(at));
          if (drag !== undefined) setDrag({ from: drag.from, to: at });
        }}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(undefined)}
        onPointerLeave={() => setOver(undefined)}
      >
        <svg viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {steps.map((step, i) => {
            const left = share(step.startMs) * 1000;
            const right = share(step.startMs + stepMs) * 1000;
            const gap = Math.min(1.6, (right - left) * 0.15);
            let below = 0;
            return STACKED.map((level) => {
              const height = most === 0 ? 0 : ((step.byLevel.get(level) ?? 0) / most) * HEIGHT;
              if (height === 0) return null;
              // A single error among thousands of others is still seen.
              const drawn = isBad(level) ? Math.max(height, 2.5) : height;
              below += drawn;
              return (
                <rect
                  key={`${i}${level}`}
                  class={`bar-${level}`}
                  x={left}
                  width={Math.max(0.5, right - left - gap)}
                  y={HEIGHT - below}
                  height={drawn}
                />
              );
            });
          })}
          {markMs !== undefined && (
            <rect class="bar-mark" x={share(markMs) * 1000 - 0.75} width="1.5" y="0" height={HEIGHT} />
          )}
          {drag !== undefined && (
            <rect
              class="bar-drag"
              x={Math.min(drag.from, drag.to) * 1000}
              width={Math.abs(drag.to - drag.from) * 1000}
              y="0"
              height={HEIGHT}
            />
          )}
        </svg>
        {shown !== undefined && drag === undefined && (
          <div class="bar-tip" style={tipPlace(share(shown.startMs + stepMs / 2))}>
            <strong>
              {timeText(shown.startMs)} {zoneName()}
            </strong>
            <span>
              {count(shown.total)} {shown.total === 1 ? "event" : "events"}
            </span>
            {[...STACKED].reverse().map((level) => {
              const found = shown.byLevel.get(level);
              return found ? (
                <span key={level}>
                  <span class={`swatch bar-${level}`} aria-hidden="true" /> {count(found)} {level}
                </span>
              ) : null;
            })}
          </div>
        )}
      </div>
      <div class="axis" aria-hidden="true">
        {ticks(times, stepMs).map(({ at, text }) => (
          <span key={at} style={{ left: `${at * 100}%` }}>
            {text}
          </span>
        ))}
      </div>
      <HistogramTable of={counts} />
    </div>
  );
}

function HistogramTable({ of: { steps, stepMs } }: { readonly of: Counts }) {
  const filled = steps.filter(({ total }) => total > 0);
  return (
    <table class="spoken">
      <caption>Events by time, in steps of {stepMs / 1000} seconds</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Events</th>
          <th scope="col">Errors and worse</th>
        </tr>
      </thead>
      <tbody>
        {filled.map(({ startMs, total, byLevel }) => (
          <tr key={startMs}>
            <th scope="row">{timeText(startMs)}</th>
            <td>{total}</td>
            <td>{[...byLevel].reduce((sum, [level, found]) => sum + (isBad(level) ? found : 0), 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Levels of which a single event must be seen. */
export const isBad = (level: Level) => ["error", "critical", "alert", "emergency"].includes(level);

const tipPlace = (share: number) => (share > 0.5 ? { right: `${(1 - share) * 100}%` } : { left: `${share * 100}%` });

/** Some times of a range to write below it: whole ones, as far apart as their texts need. */
export function ticks({ startMs, stopMs }: { readonly startMs: number; readonly stopMs: number }, stepMs: number) {
  const span = stopMs - startMs;
  if (span <= 0) return [];
  const apart = NICE_MS.find((ms) => span / ms <= 7) ?? Math.ceil(span / 7 / DAY_MS) * DAY_MS;
  const offset =
    apart >= 3_600_000 ? -new Date(startMs).getTimezoneOffset() * 60_000 * Number(zoneName() !== "UTC") : 0;
  const found: { at: number; text: string }[] = [];
  for (let ms = Math.ceil((startMs + offset) / apart) * apart - offset; ms <= stopMs; ms += apart) {
    const at = (ms - startMs) / span;
    if (at < 0.02 || at > 0.97) continue;
    const { day, minute, second } = timeParts(ms);
    const clock = apart < 60_000 || stepMs < 1_000 ? second : minute;
    found.push({ at, text: apart >= DAY_MS ? day : clock === "00:00" ? day : clock });
  }
  return found;
}

const DAY_MS = 86_400_000;
const NICE_MS = [
  ...[1, 2, 5, 10, 15, 30].map((s) => s * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((m) => m * 60_000),
  ...[1, 2, 3, 6, 12].map((h) => h * 3_600_000),
  ...[1, 2, 7, 14, 30].map((d) => d * DAY_MS),
];
