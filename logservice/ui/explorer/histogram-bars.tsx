import type { ReadonlySignal } from "@preact/signals";
import { count, longDuration, timeText, zoneName } from "../kit/format.ts";
import { type Bar, levelHeights, STACKED } from "./histogram-data.ts";

/** Height of the drawing in pixels; the bars leave some of it for the scale. */
export const HEIGHT = 72;
const ROOM = 12;

interface BarShapeProps {
  readonly bar: Bar;
  readonly left: number;
  readonly right: number;
  readonly widest: number;
  readonly isOver: boolean;
}

/** A bar, its levels upon each other. */
export function BarShape({ bar, left, right, widest, isOver }: BarShapeProps) {
  const room = right - left;
  const gap = Math.min(3, Math.max(0.6, room * 0.12));
  const wide = Math.min(Math.max(widest, room * 0.8), Math.max(0.6, room - gap));
  const x = left + (room - wide) / 2;
  let below = 0;
  return (
    <g class={isOver ? "bar over" : "bar"}>
      {[...levelHeights(bar, HEIGHT - ROOM)].map(([level, drawn]) => {
        below += drawn;
        // A hair between the levels, so that they are told apart by more than their colours.
        const hair = drawn > 4 && below > drawn ? 1 : 0;
        return <rect key={level} class={`bar-${level}`} x={x} width={wide} y={HEIGHT - below} height={drawn - hair} />;
      })}
    </g>
  );
}

interface MarkProps {
  readonly of: ReadonlySignal<number | undefined>;
  readonly width: number;
  share(ms: number): number;
}

/** Where the list is scrolled to. It moves with every row: nothing else is drawn for it. */
export function Mark({ of, width, share }: MarkProps) {
  if (of.value === undefined) return null;
  return <rect class="bar-mark" x={share(of.value) * width - 0.75} width="1.5" y="0" height={HEIGHT} />;
}

/** The counts of a bar, beside it. */
export function Tip({ bar, at }: { readonly bar: Bar; readonly at: number }) {
  return (
    <div class="bar-tip" style={at > 0.5 ? { right: `${(1 - at) * 100}%` } : { left: `${at * 100}%` }}>
      <strong>
        {timeText(bar.startMs)} {zoneName()}
      </strong>
      <span>
        {count(bar.total)} {bar.total === 1 ? "event" : "events"} in {longDuration(bar.stopMs - bar.startMs)}
      </span>
      {[...STACKED].reverse().map((level) => {
        const eventCount = bar.byLevel.get(level);
        return eventCount ? (
          <span key={level}>
            <span class={`swatch bar-${level}`} aria-hidden="true" /> {count(eventCount)} {level}
          </span>
        ) : null;
      })}
    </div>
  );
}
