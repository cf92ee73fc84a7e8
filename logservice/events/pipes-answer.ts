import {
  type Cell,
  factsOf,
  type Pipe,
  type PipesResult,
  type RowColumn,
  type TableNotes,
} from "../../grammar/query/index.ts";
import { PAGE_BYTES } from "./page.ts";
import type { AggregateResult, Event } from "./store.ts";

export type PipesAnswer = Omit<AggregateResult, "stats">;

/** More memory than this is not for events that are held. */
export const BUDGET_BYTES = 48 * 1024 * 1024;

/** Whether each event is in the result, in its place. */
export function keepsEach(pipe: Pipe): boolean {
  const { keeps, reorders } = factsOf(pipe);
  return keeps === "all" && !reorders;
}

/** The first rows of a result. */
export function answerOf(result: PipesResult, limit: number): PipesAnswer {
  if (result.kind === "entries") {
    const rows = result.entries.map((entry) => {
      const { id, timestamp, level, message, fields } = entry as Event;
      return [id, timestamp, level, message, fields];
    });
    return { columns: EVENT_COLUMNS, ...cutTo(rows, limit), notes: NO_NOTES };
  }
  const { columns, rows, stepMs, notes } = result;
  return { columns, ...cutTo(rows, limit), ...(stepMs !== undefined && { stepMs }), notes };
}

/** As many rows as are wanted, and no more than a page of events may hold. */
export function cutTo(rows: readonly (readonly Cell[])[], limit: number) {
  let [count, bytes] = [0, 0];
  while (count < Math.min(limit, rows.length)) {
    for (const cell of rows[count]!) bytes += bytesOfCell(cell);
    if (count > 0 && bytes > PAGE_BYTES) break;
    count++;
  }
  return { rows: rows.slice(0, count), isTruncated: rows.length > count };
}

const bytesOfCell = (cell: Cell): number =>
  typeof cell === "string" ? cell.length : typeof cell === "object" && cell !== null ? JSON.stringify(cell).length : 8;

/** The columns of stages that give events. */
const EVENT_COLUMNS: readonly RowColumn[] = [
  { name: "id", type: "value", isGroup: false },
  { name: "timestamp", type: "time", isGroup: false },
  { name: "level", type: "level", isGroup: false },
  { name: "message", type: "value", isGroup: false },
  { name: "fields", type: "value", isGroup: false },
];

const NO_NOTES: TableNotes = { leftOut: new Map(), withoutTime: 0, estimates: new Set() };
