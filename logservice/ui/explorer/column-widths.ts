import type { Event } from "../../../schema/rpc.generated.ts";
import { textOfValue, valueAt } from "./field-values.ts";

/** A character of a row, and one of the head, whose letters are bold and of different widths, in pixels. */
const CHARACTER = 7.3;
const HEAD_CHARACTER = 7.5;
/** The width of the menu sign beside the name. */
const HEAD_REST = 18;
/** An id of 36 characters is whole; what is longer is whole in the event. */
const MOST = 270;
const LEAST = 48;
/** Where there is no room for all, none is narrower. */
const NARROWED = 90;

/** The message is no narrower. */
const MESSAGE = 200;
const LEVEL = 66;
/** Between two columns, and what is beside the first and the last, as in list.css. */
const GAP = 10;
const SIDES = 28;

/** The narrowest and the usual width of each column, in pixels: as wide as the values of these events are, up to some hundreds. */
function widthsOf(
  columns: readonly string[],
  events: readonly Event[],
): readonly (readonly [least: number, width: number])[] {
  return columns.map((name) => {
    const named = name.length * HEAD_CHARACTER + HEAD_REST;
    const most = Math.max(0, ...events.map((event) => textOfValue(valueAt(event, name)).length));
    const width = Math.round(Math.min(MOST, Math.max(LEAST, named, most * CHARACTER)));
    return [Math.min(NARROWED, width), width];
  });
}

export interface ColumnLayout {
  /** The tracks of a grid: time, level, these columns, message. */
  readonly tracks: string;
  /** How wide a row is at least, in pixels: a list that has less scrolls sideways. 0 without columns, when all fits. */
  readonly least: number;
}

/** How the columns of the list are laid out, by the values of some of its events. */
export function columnLayout(columns: readonly string[], events: readonly Event[], hasDay: boolean): ColumnLayout {
  const time = hasDay ? 150 : 102;
  const widths = widthsOf(columns, events);
  const tracks = widths.map(([least, width]) => `minmax(${least}px, ${width}px)`);
  const whole = widths.reduce((sum, [least]) => sum + least + GAP, time + GAP + LEVEL + GAP + MESSAGE + SIDES);
  return {
    tracks: [`${time}px`, `${LEVEL}px`, ...tracks, `minmax(${MESSAGE}px, 1fr)`].join(" "),
    least: columns.length === 0 ? 0 : whole,
  };
}
