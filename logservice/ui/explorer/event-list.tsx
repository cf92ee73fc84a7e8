import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import { wrap } from "../data/preferences.ts";
import { timeParts } from "../kit/format.ts";
import { isNarrow } from "../kit/narrow.ts";
import { VirtualList } from "../rows/virtual-list.tsx";
import { columnLayout } from "./column-widths.ts";
import { EventHead } from "./event-head.tsx";
import { EventRow } from "./event-row.tsx";
import { ListNote } from "./list-note.tsx";
import { commonFields, isCommon, LEAST_EVENTS, settledFields } from "./row-line.ts";
import type { ListView } from "./use-list.ts";

export interface EventListProps {
  readonly list: ListView;
  readonly isOldestFirst: boolean;
  readonly times: { readonly startMs: number; readonly stopMs: number };
  readonly columns: readonly string[];
  /** Events whose values say how wide the columns are. */
  readonly newest: readonly Event[] | undefined;
  onChoose(row: number): void;
  onOpen(row: number, event: Event): void;
  onClose(): void;
  onMove(first: number): void;
  onColumns(columns: readonly string[]): void;
}

const ROW_HEIGHT = 24;
/** With the columns in a second line. */
const TWO_LINES_HEIGHT = 44;

/** The events that were found, the newest or the oldest first; those that have just arrived are above the newest. */
export function EventList(props: EventListProps) {
  const { list, isOldestFirst, times, columns, newest, onChoose, onOpen, onClose, onMove, onColumns } = props;
  const { rows, live, control, isHidden } = list;
  const chosen = list.chosen.value;
  const [, redraw] = useState(0);
  // Drawn again when events were read: with the next frame, as a page that changes amid a scroll is laid out twice.
  useEffect(() => {
    if (rows === undefined) return;
    let frame = 0;
    const end = rows.version.subscribe(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => redraw((n) => n + 1));
    });
    return () => {
      end();
      cancelAnimationFrame(frame);
    };
  }, [rows]);
  const arrived = live?.shownEvents.value ?? [];
  const total = arrived.length + (rows?.total ?? 0);
  const at = (row: number): Event | undefined => (row < arrived.length ? arrived[row] : rows?.at(row - arrived.length));
  // If the list was empty at first, the events that have arrived say the widths, once.
  const sample = newest?.length ? newest : undefined;
  const isEmpty = total === 0;
  const isWrapped = wrap.value === "wrapped";
  const hasDay = timeParts(times.startMs).date !== timeParts(times.stopMs).date;
  const layout = useMemo(() => {
    const { tracks, least } = columnLayout(columns, sample ?? arrived.slice(0, 100), hasDay);
    return { "--event-columns": tracks, "--list-width": `${least}px` };
  }, [hasDay, columns.join("\n"), sample, isEmpty]);
  const [common, fieldsOf] = useCommon(sample, arrived, () => redraw((n) => n + 1));
  const fold = list.fold();
  // Keys may come faster than the list is drawn.
  const latest = useRef(chosen);
  latest.current = chosen;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = control.visible?.() ?? 10;
    const steps: Readonly<Record<string, number>> = {
      ...{ j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page },
      ...{ Home: -total, End: total },
    };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      // Where nothing is chosen, a step begins at what is seen.
      const from = latest.current >= 0 || Math.abs(step) === total ? latest.current + step : (control.first?.() ?? 0);
      const bounded = Math.max(0, Math.min(total - 1, from));
      const next = shownNear(list, bounded, Math.sign(step));
      latest.current = next;
      onChoose(next);
      control.show?.(next, "nearest");
    } else if (event.key === "Enter" || event.key === "o") {
      event.preventDefault();
      const it = at(latest.current);
      if (it !== undefined) onOpen(latest.current, it);
    } else if (event.key === "x" || event.key === "Escape") onClose();
    else return;
    event.stopPropagation();
  };
  return (
    <div
      class={`event-list${isWrapped ? " wrapped" : ""}`}
      data-day={hasDay}
      style={layout}
      onClick={(event) => {
        const element = (event.target as Element).closest<HTMLElement>("[data-row]");
        if (element === null || String(getSelection()) !== "") return;
        const row = Number(element.dataset.row);
        const it = at(row);
        if (it !== undefined) onOpen(row, it);
      }}
    >
      <ListNote common={columns.length === 0 ? common : NO_COMMON} pairs={list.pairs()} />
      <VirtualList
        id="events"
        head={columns.length > 0 && <EventHead control={control} columns={columns} onColumns={onColumns} />}
        label={isOldestFirst ? "Events, oldest first" : "Events, newest first"}
        count={total}
        rowHeight={isNarrow.value && columns.length > 0 ? TWO_LINES_HEIGHT : ROW_HEIGHT}
        isMeasured={isWrapped}
        isHidden={isHidden}
        hidden={fold.count}
        chosen={chosen}
        control={control}
        onMove={onMove}
        onKeyDown={onKeyDown}
        row={(index) => {
          const event = at(index);
          return (
            <EventRow
              event={event}
              request={event && fold.requestOf(event)}
              columns={columns}
              {...fieldsOf(event)}
              hasDay={hasDay}
              isNarrow={isNarrow.value}
              isWrapped={isWrapped}
            />
          );
        }}
      />
    </div>
  );
}

/** A row if it is shown, or the next one that way; if nothing is shown there, the last one before it. */
function shownNear({ isHidden, shownFrom }: ListView, row: number, by: number): number {
  const shown = isHidden(row) ? shownFrom(row, by) : row;
  return isHidden(shown) ? shownFrom(shown, -by) : shown;
}

const NO_COMMON: ReadonlyMap<string, string> = new Map();

interface SharedFields {
  readonly common: ReadonlyMap<string, string>;
  readonly settled: ReadonlyMap<string, string> | undefined;
}

/**
 * The fields that all rows have in common, by those that were read first or else have arrived, and a function for each event
 * that is drawn: one that lacks such a field, or has another value, ends that. It gives the fields that others share with it.
 */
function useCommon(
  sample: readonly Event[] | undefined,
  arrived: readonly Event[],
  changed: () => void,
): readonly [ReadonlyMap<string, string>, (event: Event | undefined) => SharedFields] {
  const isEnough = arrived.length >= LEAST_EVENTS;
  const common = useMemo(() => new Map(commonFields(sample ?? arrived)), [sample, isEnough]);
  const settledOf = useMemo(() => settledFields(sample ?? arrived), [sample, isEnough]);
  const awaited = useRef(0);
  const fieldsOf = (event: Event | undefined): SharedFields => {
    if (event === undefined) return { common, settled: undefined };
    for (const [name, text] of common) {
      if (isCommon(event, name, text)) continue;
      common.delete(name);
      // Rows above it were drawn without the field.
      cancelAnimationFrame(awaited.current);
      awaited.current = requestAnimationFrame(changed);
    }
    return { common, settled: settledOf(event) };
  };
  return [common, fieldsOf];
}
