/** Where a list is scrolled to: its first visible row, and how much of that is above the edge, in pixels. */
export interface ScrollPosition {
  readonly row: number;
  readonly offset: number;
}

/** The heights of rows, as far as they are known. */
export interface RowHeights {
  readonly count: number;
  /** In pixels; a guess for rows that were not drawn yet. */
  heightOf(row: number): number;
}

/** The position so many pixels further down, or up if negative. Never above the first row or below the last. */
export function movedBy(position: ScrollPosition, pixels: number, { count, heightOf }: RowHeights): ScrollPosition {
  let { row } = position;
  let offset = position.offset + pixels;
  while (offset < 0 && row > 0) offset += heightOf(--row);
  if (offset < 0) return { row: 0, offset: 0 };
  while (row < count - 1 && offset >= heightOf(row)) offset -= heightOf(row++);
  return { row, offset: Math.min(offset, Math.max(0, heightOf(row) - 1)) };
}

/** The position at which the last row ends at the lower edge of the view. */
export function endPosition(viewHeight: number, { count, heightOf }: RowHeights): ScrollPosition {
  let height = 0;
  let row = count;
  while (row > 0 && height < viewHeight) height += heightOf(--row);
  return { row, offset: Math.max(0, height - viewHeight) };
}

/** Whether one position is below another. */
export const isScrolledBelow = (a: ScrollPosition, b: ScrollPosition) =>
  a.row > b.row || (a.row === b.row && a.offset > b.offset);
