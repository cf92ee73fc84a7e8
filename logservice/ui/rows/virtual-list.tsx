import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { endPosition, isScrolledBelow, movedBy, type ScrollPosition } from "./scroll-place.ts";

export interface VirtualListProps {
  readonly count: number;
  /** The usual height of a row, in pixels. */
  readonly rowHeight: number;
  /** Whether rows may be higher than that. */
  readonly isMeasured: boolean;
  /** Whether a row is left out, and how many are as far as that is known. The others keep their numbers. */
  isHidden(index: number): boolean;
  readonly hidden: number;
  readonly label: string;
  /** Above the rows: as wide as they are, and moved sideways with them. */
  readonly head?: ComponentChildren;
  /** The row that is chosen; -1 if none is. */
  readonly chosen: number;
  readonly id: string;
  /** Told of the first visible row when it changes. */
  onMove(first: number): void;
  onKeyDown(event: KeyboardEvent): void;
  row(index: number): ComponentChildren;
  readonly control: ListControl;
}

/** Moves a list from outside. */
export interface ListControl {
  /** Shows a row: at the upper edge, or wherever it becomes visible with the least movement. */
  show?(row: number, where: "top" | "nearest"): void;
  /** How many whole rows are visible. */
  visible?(): number;
  /** The first visible row. */
  first?(): number;
  /** Brings the column that an element of the head is in into view. */
  showColumn?(element: Element): void;
}

/** No element may be higher in every browser. */
const MOST_HEIGHT = 6_000_000;
/** About what a list has of the window: rows drawn by a good guess are laid out together with all else. */
const guessedHeight = () => Math.round(innerHeight * 0.72);
/** After so long without a movement the bar shows the position exactly. */
const STILL_MS = 120;

/**
 * Shows any number of rows and draws those alone that are visible. The position is a row and not a number of pixels: small
 * movements move the rows by their pixels, and large ones, by the scroll bar, go to a part of the whole. So a million rows
 * that no element could hold scroll without a gap or a jump.
 */
export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, isMeasured, isHidden, hidden, label, head, chosen, id, onMove, onKeyDown, row, control } =
    props;
  const scroller = useRef<HTMLDivElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const headLayer = useRef<HTMLDivElement>(null);
  const [viewHeight, setViewHeight] = useState(guessedHeight);
  const [barWidth, setBarWidth] = useState(0);
  const [, redraw] = useState(0);
  const position = useRef<ScrollPosition>({ row: 0, offset: 0 });
  /** Where the bar was put by us or left by the last event. */
  const barTop = useRef(0);
  /** The row that was to be shown, until the list is scrolled: it stays in view when rows turn out higher, or the view lower. */
  const held = useRef(-1);
  /** The rows that were drawn last. */
  const seen = useRef({ first: 0, last: -1 });
  const still = useRef<ReturnType<typeof setTimeout>>(undefined);
  const heights = useMemo(() => new Map<number, number>(), [isMeasured, rowHeight]);
  const shownHeight = (index: number) => (isMeasured ? (heights.get(index) ?? rowHeight) : rowHeight);
  const all = { count, heightOf: (index: number) => (isHidden(index) ? 0 : shownHeight(index)) };
  const height = Math.min((count - hidden) * rowHeight, MOST_HEIGHT);

  const move = (to: ScrollPosition): void => {
    const end = endPosition(viewHeight, all);
    position.current = isScrolledBelow(to, end) ? end : to;
    redraw((n) => n + 1);
    onMove(position.current.row);
  };
  /** Where the bar belongs at the present position. */
  const barOf = (): number => {
    const end = endPosition(viewHeight, all);
    const rows = (at: ScrollPosition) => at.row + at.offset / shownHeight(at.row);
    const whole = rows(end);
    return whole <= 0 ? 0 : Math.round((rows(position.current) / whole) * Math.max(0, height - viewHeight));
  };
  const settle = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const at = barOf();
    // The bar needs no move at the beginning, and every question about its place lays out the page.
    if (at === 0 && barTop.current === 0) return;
    element.scrollTop = at;
    barTop.current = element.scrollTop;
  };
  const followSideways = (): void => {
    if (headLayer.current !== null)
      headLayer.current.style.transform = `translateX(${-scroller.current!.scrollLeft}px)`;
  };
  const onScroll = (): void => {
    followSideways();
    const { scrollTop } = scroller.current!;
    const delta = scrollTop - barTop.current;
    if (delta === 0) return;
    barTop.current = scrollTop;
    held.current = -1;
    const most = Math.max(0, height - viewHeight);
    if (scrollTop <= 0) move({ row: 0, offset: 0 });
    else if (scrollTop >= most) {
      held.current = count - 1;
      move(endPosition(viewHeight, all));
    } else if (Math.abs(delta) < viewHeight * 2) move(movedBy(position.current, delta, all));
    else {
      const end = endPosition(viewHeight, all);
      const exact = (scrollTop / most) * (end.row + end.offset / shownHeight(end.row));
      const first = Math.floor(exact);
      move({ row: first, offset: (exact - first) * all.heightOf(first) });
    }
    clearTimeout(still.current);
    // A long way without a stop must not come to the end of the bar before that of the rows.
    if (Math.abs(scrollTop - barOf()) > most / 4) settle();
    else still.current = setTimeout(settle, STILL_MS);
  };

  /** Moves as little as it takes to have the whole of a row in view, or the beginning of one that is higher than the view. */
  const bringIntoView = (index: number): void => {
    const { row: first, offset } = position.current;
    const own = all.heightOf(index);
    let below = own - offset;
    for (let i = first; i < index && below <= viewHeight; i++) below += all.heightOf(i);
    if (index < first || (index === first && offset > 0) || own > viewHeight) {
      if (index !== first || offset > 0) move({ row: index, offset: 0 });
    } else if (below > viewHeight) move(movedBy({ row: index, offset: 0 }, own - viewHeight, all));
  };
  /** Scrolls to a column: the browser itself does not scroll to one that is cut at the edge of the head. */
  const showColumn = (element: Element): void => {
    const column = element.closest(".rows-head > * > * > *")?.getBoundingClientRect();
    if (column === undefined) return;
    const view = scroller.current!.getBoundingClientRect();
    const beyond = Math.max(0, column.right - view.right + barWidth) || Math.min(0, column.left - view.left);
    if (beyond === 0) return;
    scroller.current!.scrollLeft += beyond;
    // Before it is asked again.
    followSideways();
  };

  control.visible = () => Math.max(1, Math.floor(viewHeight / rowHeight) - 1);
  control.first = () => position.current.row;
  control.showColumn = showColumn;
  control.show = (index, where) => {
    const target = Math.max(0, Math.min(index, count - 1));
    held.current = where === "nearest" ? target : -1;
    if (where === "top") move({ row: target, offset: 0 });
    else bringIntoView(target);
    settle();
  };

  // Before the first painting, which has the rows then.
  useLayoutEffect(() => {
    const element = scroller.current!;
    const measure = (): void => {
      setViewHeight(element.clientHeight);
      setBarWidth(element.offsetWidth - element.clientWidth);
    };
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    measure();
    return () => {
      watch.disconnect();
      clearTimeout(still.current);
    };
  }, []);
  // Fewer rows than before, or a higher view: the position may be below the end.
  useLayoutEffect(() => {
    if (viewHeight === 0) return;
    const end = endPosition(viewHeight, all);
    if (isScrolledBelow(position.current, end)) move(end);
    settle();
  }, [count, hidden, viewHeight, rowHeight, isMeasured]);
  // Other rows have other numbers.
  useLayoutEffect(() => {
    held.current = -1;
  }, [count]);
  // A bar for moving sideways, or a smaller window, must not cover the row that is chosen.
  useLayoutEffect(() => {
    const { first: top, last } = seen.current;
    if (chosen < top || chosen > last || chosen >= count) return;
    bringIntoView(chosen);
    settle();
  }, [viewHeight]);
  // Rows above that turn out to be higher than was guessed must not move what is seen.
  useLayoutEffect(() => {
    if (!isMeasured || layer.current === null) return;
    let isNew = false;
    for (const element of layer.current.children) {
      const index = Number((element as HTMLElement).dataset.row);
      const measured = (element as HTMLElement).offsetHeight;
      if (heights.get(index) === measured) continue;
      heights.set(index, measured);
      isNew = true;
    }
    if (!isNew) return;
    const end = endPosition(viewHeight, all);
    // Rows that are lower than was guessed leave room for more.
    if (isScrolledBelow(position.current, end)) move(end);
    else redraw((n) => n + 1);
    if (held.current < 0 || held.current >= count) return;
    bringIntoView(held.current);
    settle();
  });

  const { row: first, offset } = position.current;
  const drawn: number[] = [];
  for (let index = first, filled = -offset; index < count && filled < viewHeight; index++) {
    if (isHidden(index)) continue;
    drawn.push(index);
    filled += all.heightOf(index);
  }
  const slots = useSlots(drawn);
  useLayoutEffect(() => {
    seen.current = { first, last: drawn.at(-1) ?? -1 };
  });
  return (
    <>
      {head && (
        <div
          class="rows-head"
          style={{ paddingRight: `${barWidth}px` }}
          onFocusIn={({ target }) => showColumn(target as Element)}
        >
          <div ref={headLayer}>{head}</div>
        </div>
      )}
      <div
        class="rows"
        ref={scroller}
        id={id}
        role="grid"
        aria-label={label}
        aria-rowcount={count}
        aria-activedescendant={drawn.includes(chosen) ? `${id}-${chosen}` : undefined}
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div class="rows-space" style={{ height: `${height}px` }}>
          <div class="rows-view" style={{ height: `${viewHeight}px` }}>
            <div class="rows-layer" ref={layer} role="rowgroup" style={{ transform: `translateY(${-offset}px)` }}>
              {drawn.map((index) => (
                <div
                  key={slots.get(index)}
                  class="event"
                  role="row"
                  id={`${id}-${index}`}
                  data-row={index}
                  aria-rowindex={index + 1}
                  aria-selected={index === chosen}
                >
                  {row(index)}
                </div>
              ))}
            </div>
          </div>
        </div>
      </div>
    </>
  );
}

/**
 * The number of an element for each row that is drawn. An element goes on to another row once its own is out of sight:
 * changed texts are laid out faster than new elements. After a jump the elements stay in their order.
 */
function useSlots(drawn: readonly number[]): ReadonlyMap<number, number> {
  const slots = useRef({ ofRows: new Map<number, number>(), made: 0 }).current;
  const free = [...slots.ofRows].filter(([index]) => !drawn.includes(index)).map(([, slot]) => slot);
  slots.ofRows = new Map(drawn.map((index) => [index, slots.ofRows.get(index) ?? free.shift() ?? slots.made++]));
  return slots.ofRows;
}
