/** Where a list is scrolled to: its first visible row, and how much of that is above the edge, in pixels. */
export interface Place {
  readonly row: number;
  readonly offset: number;
}

/** What is known of the heights of rows. */
export interface RowHeights {
  readonly count: number;
  /** In pixels; a guess for rows that were not drawn yet. */
  heightOf(row: number): number;
}

/** The place so many pixels further down, or up if negative. Never above the first row or below the last. */
export function movedBy(place: Place, pixels: number, { count, heightOf }: RowHeights): Place {
  let { row } = place;
  let offset = place.offset + pixels;
  while (offset < 0 && row > 0) offset += heightOf(--row);
  if (offset < 0) return { row: 0, offset: 0 };
  while (row < count - 1 && offset >= heightOf(row)) offset -= heightOf(row++);
  return { row, offset: Math.min(offset, Math.max(0, heightOf(row) - 1)) };
}

/** The place at which the last row ends at the lower edge of the view. */
export function endPlace(viewHeight: number, { count, heightOf }: RowHeights): Place {
  let height = 0;
  let row = count;
  while (row > 0 && height < viewHeight) height += heightOf(--row);
  return { row, offset: Math.max(0, height - viewHeight) };
}

/** Whether one place is below another. */
export const isBelow = (a: Place, b: Place) => a.row > b.row || (a.row === b.row && a.offset > b.offset);
