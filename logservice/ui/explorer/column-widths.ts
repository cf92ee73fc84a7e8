import type { Event } from "../../../schema/rpc.generated.ts";
import { textOfValue, valueAt } from "./field-values.ts";

/** A character of a row, and one of the head, whose letters are bold and of different widths, in pixels. */
const CHARACTER = 7.3;
const HEAD_CHARACTER = 7.5;
/** What is beside the name: the sign of its menu. */
const HEAD_REST = 18;
/** An id of 36 characters is whole; what is longer is whole in the event. */
const MOST = 270;
const LEAST = 48;
/** Where there is no room for all, none is narrower. */
const NARROWED = 90;

/** The tracks of a grid for these columns of the list: as wide as the values of these events, up to some hundreds, are. */
export function columnTracks(columns: readonly string[], events: readonly Event[]): string {
  return columns
    .map((name) => {
      const named = name.length * HEAD_CHARACTER + HEAD_REST;
      const most = Math.max(0, ...events.map((event) => textOfValue(valueAt(event, name)).length));
      const width = Math.round(Math.min(MOST, Math.max(LEAST, named, most * CHARACTER)));
      return `minmax(${Math.min(NARROWED, width)}px, ${width}px)`;
    })
    .join(" ");
}
