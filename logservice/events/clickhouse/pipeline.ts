import { type Pipe, PipesRun } from "../../../grammar/query/index.ts";
import { Yielder } from "../event-loop.ts";
import { PAGE_BYTES } from "../page.ts";
import { answerOf, BUDGET_BYTES, keepsEach, type PipesAnswer } from "../pipes-answer.ts";
import { candidates, type Reading, select } from "./reading.ts";
import { EVENT_COLUMNS, eventOfColumns } from "./rows.ts";
import { EVENTS_TABLE } from "./schema.ts";

interface PipesQuestion {
  readonly pipes: readonly Pipe[];
  /** Rows of the answer. */
  readonly limit: number;
}

/** Computes the result of the stages of a query over the selected events in their order. */
export async function runStages(reading: Reading, { pipes, limit }: PipesQuestion): Promise<PipesAnswer> {
  const { nowMs, range, signal } = reading;
  // One more tells whether there are more.
  const span = { start: 0, end: 0 };
  const cut: Pipe = { kind: "limit", count: { value: limit + 1, span }, span, word: span };
  const run = new PipesRun(
    { pipes: [...pipes, cut] },
    { nowMs, range: { fromMs: range.startMs, toMs: range.stopMs }, budgetBytes: BUDGET_BYTES },
  );
  const isEach = pipes.every(keepsEach);
  const yielder = new Yielder();
  let bytes = 0;
  let isCut = false;
  await select(
    reading,
    `SELECT ${EVENT_COLUMNS}, bytes FROM ${EVENTS_TABLE} WHERE ${candidates(reading)} ORDER BY timestamp, id`,
    async (rows) => {
      for (const row of rows) {
        const event = eventOfColumns(row);
        if (!reading.selects(event)) continue;
        if (isEach && bytes > PAGE_BYTES) isCut = true;
        if (isCut || run.isDone) return false;
        run.push(event);
        bytes += row.at(-1) as number;
        if (yielder.isDue()) await yielder.rest(signal);
      }
      return true;
    },
  );
  const answer = answerOf(run.result(), limit);
  return isCut ? { ...answer, isTruncated: true } : answer;
}
