import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { AggregateResponse, DiscoveredField, Event, LevelPoint } from "../../../schema/rpc.generated.ts";
import { FIRST_EVENTS, type FirstEvents, HISTOGRAM_STEPS, LINE_ROWS, TABLE_ROWS } from "../../address/first-data.ts";
import { isSameRange, rangeTexts, searchOf, timesOf, type View, viewOf } from "../../address/view.ts";
import { histogramSteps } from "../../events/histogram-steps.ts";
import { drawingsOf } from "../charts/drawing.ts";
import { call, isAborted, isSignedOut, isUnreachable, onceSignedIn } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { go, here } from "../data/location.ts";
import { firstEvents } from "../data/session.ts";
import { notedProblems, noteProblems, problemsBeforeRun } from "../language/checked.ts";
import { kindOfQuery } from "../language/query.ts";
import { type RowRange, type RowReader, Rows } from "../rows/rows.ts";
import { type Histogram, histogramOf } from "./histogram-data.ts";
import { type Arrived, withoutArrived } from "./without-arrived.ts";

/** The results of one run of a query, as far as they are there. */
export interface QueryResult {
  readonly times: RowRange;
  readonly query: string;
  /** When the query was sent, by performance.now(). */
  readonly sentMs: number;
  readonly histogram: Signal<Histogram | undefined>;
  readonly rows: Signal<Rows | undefined>;
  /** The first events, newest first, before their rows can be numbered. */
  readonly newest: Signal<readonly Event[] | undefined>;
  readonly table: Signal<AggregateResponse | undefined>;
  readonly fields: Signal<readonly DiscoveredField[] | undefined>;
  /** Bytes of events that are lost, of which the answer lacks some. */
  readonly missingBytes: Signal<number>;
  readonly stats: Signal<{ readonly durationMs: number; readonly bytes: number } | undefined>;
  readonly error: Signal<unknown>;
  readonly isRunning: Signal<boolean>;
  /** Whether the query is not valid: the query box says why. Undefined while it is being checked. */
  readonly isWrong: Signal<boolean | undefined>;
}

/** The explorer of a project: the view that the address asks for, and its result. */
export interface ExplorerState {
  readonly projectId: string;
  readonly view: ReadonlySignal<View>;
  /** The result that is shown. It stays until the next run has one, so that nothing flickers. */
  readonly result: ReadonlySignal<QueryResult | undefined>;
  /** The result of the latest run: the same as `result` once its first answers are there. */
  readonly latest: ReadonlySignal<QueryResult | undefined>;
  /** Shows another view; `replaces` keeps it from being a step of its own. */
  change(part: Partial<View>, options?: { readonly replaces?: boolean }): void;
  /** Runs the query of the address, over a range that ends now if it ends now. */
  run(): void;
  /** Leaves events out of the list that are shown above it: they arrived before their rows were read. */
  follow(arrivals: Arrived): void;
  /** Gives up the run that is going on. */
  cancel(): void;
  close(): void;
}

/** How long to wait before a service that did not answer is asked again. */
const RETRY_MS = 3_000;

export function explorerState(projectId: string): ExplorerState {
  const view = computed(() => viewOf(here.value.search));
  const result = signal<QueryResult | undefined>(undefined);
  const latest = signal<QueryResult | undefined>(undefined);
  let running: AbortController | undefined;
  let followed: Arrived | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let unwait = (): void => {};

  const cancel = (): void => {
    clearTimeout(retry);
    unwait();
    running?.abort();
    running = undefined;
    if (latest.value) latest.value.isRunning.value = false;
  };
  const run = (): void => {
    cancel();
    const own = new AbortController();
    running = own;
    const { query, range } = view.peek();
    const { path, search } = here.peek();
    const came = firstEvents.peek();
    firstEvents.value = undefined;
    const first = came?.href === path + search ? came : undefined;
    if (first) noteProblems(query, first.problems ?? []);
    const times = first ?? timesOf(range, serviceNow());
    const next = emptyResult({ startMs: times.startMs, stopMs: times.stopMs }, query);
    latest.value = next;
    const show = (): void => {
      if (own.signal.aborted || result.value === next) return;
      result.value?.rows.value?.close();
      result.value = next;
      if (!view.peek().isLive) followed = undefined;
    };
    void find({ projectId, result: next, first, signal: own.signal, show, followed: () => followed }).then(() => {
      if (own.signal.aborted) return;
      if (isUnreachable(next.error.peek())) retry = setTimeout(run, RETRY_MS);
      else if (next.error.peek() !== undefined && isSignedOut.peek()) unwait = onceSignedIn(run);
    });
  };
  return {
    ...{ projectId, view, result, latest, run, cancel },
    follow(arrivals) {
      followed = arrivals;
    },
    change(part, options) {
      const next = { ...view.peek(), ...part };
      const isSame = next.query === view.peek().query && isSameRange(next.range, view.peek().range);
      go(here.peek().path + searchOf(next), options);
      // The same query again: a range that ends now has moved on.
      if (isSame && ("query" in part || "range" in part)) run();
    },
    close() {
      cancel();
      result.value?.rows.value?.close();
    },
  };
}

function emptyResult(times: RowRange, query: string): QueryResult {
  return {
    ...{ times, query },
    sentMs: performance.now(),
    histogram: signal<Histogram | undefined>(undefined),
    rows: signal<Rows | undefined>(undefined),
    newest: signal<readonly Event[] | undefined>(undefined),
    table: signal<AggregateResponse | undefined>(undefined),
    fields: signal<readonly DiscoveredField[] | undefined>(undefined),
    missingBytes: signal(0),
    stats: signal<{ durationMs: number; bytes: number } | undefined>(undefined),
    error: signal<unknown>(undefined),
    isRunning: signal(true),
    isWrong: signal<boolean | undefined>(undefined),
  };
}

interface Run {
  readonly projectId: string;
  readonly result: QueryResult;
  readonly first: FirstEvents | undefined;
  readonly signal: AbortSignal;
  /** Shows the result in the place of the one before. */
  show(): void;
  followed(): Arrived | undefined;
}

/** Asks for everything that a view shows. It is shown as soon as the list and the histogram are there. */
async function find({ projectId, result, first, signal, show, followed }: Run): Promise<void> {
  const range = (times: RowRange) => ({
    project_id: projectId,
    query: result.query,
    ...rangeTexts(times),
  });
  const input = range(result.times);
  let bytes = 0;
  const note = (stats: { total_bytes_processed: number; missing_bytes?: number }): void => {
    bytes += stats.total_bytes_processed;
    result.stats.value = { durationMs: performance.now() - result.sentMs, bytes };
    result.missingBytes.value = Math.max(result.missingBytes.value, stats.missing_bytes ?? 0);
  };
  try {
    const kind = kindOfQuery(result.query);
    // The grammar takes texts that the service refuses. Without a wait for what is known.
    const problems =
      kind === "wrong" ? undefined : (notedProblems(result.query) ?? (await problemsBeforeRun(result.query)));
    if (signal.aborted) return;
    result.isWrong.value = problems?.length !== 0;
    if (result.isWrong.value) return;
    if (kind === "stages") {
      const ask = (limit: number) => call("aggregate", { ...input, limit }, { signal });
      let table = first?.table ?? (await ask(TABLE_ROWS));
      if (table.truncated && drawingsOf(table).has("lines")) table = await ask(LINE_ROWS);
      result.table.value = table;
      note(table.stats);
      show();
      return;
    }
    // Without a wait for what is there: it is drawn at once.
    const [searched, levels] =
      first?.search && first.levels
        ? [first.search, first.levels]
        : await Promise.all([
            first?.search ?? call("search", { ...input, limit: FIRST_EVENTS }, { signal }),
            first?.levels ?? call("get_level_timeseries", { ...input, max_points: HISTOGRAM_STEPS }, { signal }),
          ]);
    note(searched.stats);
    note(levels.stats);
    result.histogram.value = histogramOf(levels.points, result.times, HISTOGRAM_STEPS);
    result.rows.value = rowsOf({
      result,
      levels: levels.points,
      newest: searched.events,
      isAll: !searched.cursor,
      range,
      followed,
    });
    result.newest.value = searched.events;
    result.isRunning.value = false;
    show();
    if (result.rows.value.total > 0) {
      const answer = await call("get_discovered_fields", input, { signal });
      result.fields.value = answer.fields;
    } else result.fields.value = [];
  } catch (error) {
    if (!isAborted(error)) result.error.value = error;
  } finally {
    if (!signal.aborted) result.isRunning.value = false;
  }
}

interface RowsInput {
  readonly result: QueryResult;
  readonly levels: readonly LevelPoint[];
  readonly newest: readonly Event[];
  readonly isAll: boolean;
  range(times: RowRange): { project_id: string; query: string; start: string; stop: string };
  followed(): Arrived | undefined;
}

function rowsOf({ result, newest, isAll, range, followed }: RowsInput): Rows {
  const { steps, stepMs } = result.histogram.value!;
  const counted = steps.map(({ startMs, total }) => ({ startMs, count: total }));
  const reader: RowReader = {
    async events(times, { limit, cursor }, signal) {
      const answer = await call("search", { ...range(times), limit, ...(cursor && { cursor }) }, { signal });
      return { events: answer.events, cursor: answer.cursor || undefined };
    },
    async steps(times, most, signal) {
      const { points } = await call("get_timeseries", { ...range(times), max_points: most }, { signal });
      const steps = points.map(({ timestamp, count }) => ({ startMs: Date.parse(timestamp), count }));
      return { steps, stepMs: histogramSteps(times.startMs, times.stopMs, most).stepMs };
    },
    failed: (error) => {
      result.error.value = error;
    },
  };
  const rows = new Rows(result.times, counted, stepMs, withoutArrived(reader, followed));
  rows.seed(newest, isAll);
  return rows;
}
