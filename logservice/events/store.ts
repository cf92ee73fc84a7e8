import type { Cell, Level, Pipe, Query, RowColumn, TableNotes, Target } from "../../grammar/query/index.ts";
import type { TurnTaker } from "../turns/turns.ts";

/**
 * Stores the events of all projects. Every answer includes each event whose append was acknowledged before the call.
 * Two engines pass test/logservice/events/events-store.test.ts row for row: logservice/events/duckdb and the in-memory one of test/support,
 * which is nothing but the predicate over an array and therefore says what is right.
 *
 * Projects are names that the caller has checked: up to 64 letters, digits, `_` and `-`. An unknown one is empty. A method
 * with a signal rejects with the signal's reason once that is aborted. Any other rejection is a StoreError or a bug.
 */
export interface EventsStore {
  /**
   * Resolves when the batch is durable: whole or not at all, and visible to every later call. Events whose id the project
   * has already (as far back as RECENT_IDS), and batches whose key was seen within RECENT_KEYS_MS, count once: the call
   * then resolves without storing them again. Rejects with `unavailable` where the disk is full or too much waits, before
   * anything is accepted.
   */
  append(project: string, batch: readonly NewEvent[], options?: AppendOptions): Promise<void>;

  /**
   * By (instant of the timestamp, id), ids in the order of their UTF-8 bytes. A page ends early if it would hold more
   * than PAGE_BYTES. `cursor` is absent on the last page.
   */
  search(query: SearchQuery): Promise<SearchResult>;
  count(query: EventsQuery): Promise<{ readonly count: number; readonly stats: Stats }>;
  /**
   * Zero-filled, UTC-aligned, with the narrowest step of histogram-steps.ts that gives at most `maxPoints` points (at least
   * one).
   */
  timeseries(query: TimeseriesQuery): Promise<TimeseriesResult>;
  /** The same points, each with its count by level; levels without an event in the whole range are left out. */
  levelTimeseries(query: TimeseriesQuery): Promise<LevelTimeseriesResult>;
  /** Most frequent first, then by name and type; at most MAX_DISCOVERED_FIELDS. */
  discoveredFields(query: EventsQuery): Promise<DiscoveredFieldsResult>;
  /**
   * The most frequent texts first, then by their UTF-8 bytes. An event counts once for each different text that it holds
   * there (in lists too); `percent` is of the events that hold any. Spellings of a level count as its name.
   */
  stringFieldStats(query: TopValuesQuery): Promise<ValuesResult<string>>;
  booleanFieldStats(query: FieldQuery): Promise<ValuesResult<boolean>>;
  /** Over each JSON number there, in lists too. Null where there is none. */
  numericFieldStats(query: FieldQuery): Promise<NumericResult>;

  /**
   * Runs the stages of a query on the events that it selects, in the order of (instant of the timestamp, id). Stages
   * that give events give rows of the columns id, timestamp, level, message and fields. Rejects with `bad_request` if
   * that takes more groups or memory than a query may have.
   */
  aggregate(query: AggregateQuery): Promise<AggregateResult>;

  /**
   * One SELECT over the view `events` (id, timestamp, level, severity, message, fields, truncated) of one project. Rejects
   * with `bad_request` if the text is refused, fails or takes too much memory, `timeout` if it takes too long.
   */
  sql(query: SqlQuery): Promise<SqlResult>;

  projectStats(project: string): Promise<ProjectStats>;
  /** The days (UTC, of the events' own time) that have events, the earliest first. Reads no event that is in a file. */
  usage(query: UsageQuery): Promise<readonly DayUsage[]>;
  /**
   * How far the events have come: a number that only grows, and that is still reached after a crash at any moment. Kept
   * elsewhere, it shows that an older copy of the events was put in their place.
   */
  position(): number;
  /**
   * Whether another folder has the name of the store's, or none. Then batches and deletions are refused with `unavailable`. Once
   * another process has locked such a folder, nothing is written to it any more, and that stays so.
   */
  isReplaced(): boolean;
  /** The room of the disk that events are stored on. */
  disk(): Promise<DiskRoom>;

  /**
   * Events as they are acknowledged, in that order, from now on, or after the event `afterId` if that one is still in
   * memory (otherwise all events in memory come first, after a `dropped` of unknown number: null). A reader
   * that falls behind is told how many events it missed. Ends when the iterator is returned, the project deleted or the
   * store closed. `asker` is as in EventRange.
   */
  tail(project: string, query: Query | undefined, afterId?: string, asker?: TurnTaker): AsyncIterableIterator<TailItem>;

  /** Deletes all events of a project, for good. */
  deleteProject(project: string): Promise<void>;
  /** Whole days; 0 keeps for ever. Counted from the event's own timestamp; applied when segments are all older. */
  setRetention(project: string, days: number): void;
  /** Resolves when segments that have expired are deleted. */
  expire(): Promise<void>;
  /** Projects that have events. */
  heldProjects(): ReadonlySet<string>;
  /** The events that are known to be missing, accepted losses included. */
  losses(): readonly Loss[];
  /** Marks these losses, and no others, as accepted. Ids of unknown losses are kept: the losses may be found later. */
  acceptLosses(ids: ReadonlySet<string>): void;
  /** The values that `/metrics` prints: counters and gauges by name. */
  metrics(): Readonly<Record<string, number>>;
  /** Waits for accepted batches to be durable, then releases the directory's lock. */
  close(): Promise<void>;
}

/** A new event. The caller has checked its limits; the store gives an id where there is none. */
export interface NewEvent {
  /** Not empty. Makes a retried event count once. */
  readonly id?: string | undefined;
  /** RFC 3339, `isStorableTimestamp`. Kept as written, but for digits beyond nanoseconds. */
  readonly timestamp: string;
  /** Any spelling of a level (LEVEL_SPELLINGS). Kept as written. */
  readonly level: string;
  readonly message: string;
  /** JSON values only: finite numbers, no lone halves of surrogate pairs. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The text of JSON.stringify(fields), if the caller has it already. */
  readonly fieldsJson?: string | undefined;
  /** The message was too long and is cut. */
  readonly truncated?: boolean | undefined;
}

export interface AppendOptions {
  /** A retried batch with the same key counts once. */
  readonly idempotencyKey?: string | undefined;
  /** A hash of what was sent: the same key with another one is a `conflict`. */
  readonly digest?: string | undefined;
}

export interface Event {
  readonly id: string;
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The message was too long and is cut; absent otherwise. */
  readonly truncated?: true;
}

/** The events of a project from `startMs` to `stopMs`, both included, in milliseconds since 1970 with their fraction. */
export interface EventRange {
  readonly project: string;
  readonly startMs: number;
  readonly stopMs: number;
  /** Undefined selects everything. */
  readonly query: Query | undefined;
  /** Whether it is asked for the evaluation of an alert, which the queries of people must not hold up. */
  readonly isEvaluation?: boolean;
  /** Who asks: teams take turns at what queries share, and so do the tokens of a team. The service itself unless told. */
  readonly asker?: TurnTaker;
}

/** The events that a query reads. */
export interface EventsQuery extends EventRange {
  /** Cancels the query. */
  readonly signal: AbortSignal;
}

export interface SearchQuery extends EventsQuery {
  readonly limit: number;
  readonly order: "ascending" | "descending";
  /** Cursor of the previous page. A text that is not a cursor is `bad_request`. */
  readonly cursor?: string | undefined;
}

export interface TimeseriesQuery extends EventsQuery {
  readonly maxPoints: number;
}

export interface FieldQuery extends EventsQuery {
  readonly field: Target;
}

export interface TopValuesQuery extends FieldQuery {
  readonly limit: number;
}

/** The range is what steps of time cover and what rates divide by. */
export interface AggregateQuery extends EventsQuery {
  readonly pipes: readonly Pipe[];
  /** Rows of the answer. */
  readonly limit: number;
}

export interface SqlQuery {
  readonly project: string;
  readonly text: string;
  readonly signal: AbortSignal;
}

/** How an answer was computed. `bytesProcessed` counts the files that were opened and the newest events in memory. */
export interface Stats {
  readonly durationMs: number;
  readonly bytesProcessed: number;
  /** Answered without looking at a single event. */
  readonly answeredFromSummaries: boolean;
  /** Bytes of events of the asked range that are lost or cannot be read just now; 0 if the answer is whole. */
  readonly missingBytes: number;
}

export interface Loss {
  readonly id: string;
  readonly project: string;
  /** Path of the file, or folder, below the folder of all projects or that of the journal. */
  readonly file: string;
  /** The problem, to be read after the file: "is missing". */
  readonly reason: string;
  /** Size of the file, as far as it is known. */
  readonly bytes: number;
  readonly events: number | undefined;
  /** When its events were; undefined if that is unknown: then any query of the project may concern them. */
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
  /** Whether events only may be missing: nothing tells whether all are there. */
  readonly isPossible: boolean;
  readonly isAccepted: boolean;
}

export interface SearchResult {
  readonly events: readonly Event[];
  readonly cursor?: string | undefined;
  readonly stats: Stats;
}

export interface TimeseriesResult {
  readonly stepMs: number;
  readonly points: readonly { readonly timestamp: string; readonly count: number }[];
  readonly stats: Stats;
}

export interface LevelTimeseriesResult {
  readonly stepMs: number;
  readonly points: readonly { readonly timestamp: string; readonly counts: Readonly<Partial<Record<Level, number>>> }[];
  readonly stats: Stats;
}

export type DiscoveredType = "string" | "number" | "boolean";

export interface DiscoveredField {
  /** As a query names it: `user.email`, `fields["odd key"]`, `fields.level`. */
  readonly name: string;
  readonly type: DiscoveredType;
  /** Events that hold a value of the type there, in a list too. `percent` is their share of all, 0 to 1. */
  readonly count: number;
  readonly percent: number;
}

export interface DiscoveredFieldsResult {
  readonly fields: readonly DiscoveredField[];
  readonly stats: Stats;
}

export interface ValuesResult<Value> {
  readonly values: readonly { readonly value: Value; readonly count: number; readonly percent: number }[];
  readonly stats: Stats;
}

export interface NumericResult {
  readonly min: number | null;
  readonly avg: number | null;
  readonly max: number | null;
  readonly stats: Stats;
}

export interface AggregateResult {
  readonly columns: readonly RowColumn[];
  readonly rows: readonly (readonly Cell[])[];
  /** There are more rows than were asked for. */
  readonly isTruncated: boolean;
  /** For the rows of `timeseries`: the length of a step. */
  readonly stepMs?: number;
  readonly notes: TableNotes;
  readonly stats: Stats;
}

export interface SqlResult {
  /**
   * The array of rows as JSON text, unparsed, since parsing would round long numbers in values of type JSON.
   * `sql/json-rows.ts` says how values are printed.
   */
  readonly resultsJson: string;
  readonly stats: Stats;
}

export interface ProjectStats {
  /** Size of the events as JSON, uncompressed. */
  readonly bytesTotal: number;
  readonly eventsTotal: number;
  /** As in Stats. */
  readonly missingBytes: number;
}

/** All of a project from the day of `startMs` to that of `stopMs`, in milliseconds since 1970. */
export interface UsageQuery {
  readonly project: string;
  readonly startMs: number;
  readonly stopMs: number;
  readonly signal: AbortSignal;
}

export interface DayUsage {
  /** Such as 2026-11-27. */
  readonly day: string;
  /** Events of that day that are still stored. */
  readonly events: number;
  /** Size of the events as JSON, uncompressed. */
  readonly bytes: number;
  /** Bytes that they take on the disk: their share of each file. */
  readonly storedBytes: number;
  /** Levels without an event are left out. */
  readonly levels: Readonly<Partial<Record<Level, number>>>;
}

export interface DiskRoom {
  /** Bytes that the service may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Whether so little is free that no events are accepted. */
  readonly isFull: boolean;
}

export type TailItem = { readonly event: Event } | { readonly dropped: number | null };

/**
 * `unavailable`: try again after `retryAfterMs`. `bad_request`: the caller's text is wrong, and the message says how.
 * `conflict`: see AppendOptions.
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly type: "unavailable" | "bad_request" | "timeout" | "conflict";
  readonly retryAfterMs: number | undefined;

  constructor(type: StoreError["type"], message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options);
    this.type = type;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The error of calls to a store that is closing. */
export const storeClosed = () =>
  new StoreError("unavailable", "the service is shutting down; try again", { retryAfterMs: 1000 });

/** The error of changes to a store whose folder another has the name of, or none. */
export const folderReplaced = () =>
  new StoreError(
    "unavailable",
    "the folder of the events was replaced or removed under the running service: stop the service, put the folder back and start it again; nothing was changed",
    { retryAfterMs: 30_000 },
  );

/** The error of a query that needs more memory than it may have. */
export const tooMuch = (cause?: unknown) =>
  new StoreError("bad_request", "this takes more memory than a query may have: narrow its time range or its query", {
    cause,
  });

/** The ids of this many newest events are remembered: a client that retries does so within seconds. */
export const RECENT_IDS = 200_000;
/** Idempotency keys are remembered for a day, the longest that clients wait before they retry. */
export const RECENT_KEYS_MS = 24 * 3_600_000;

/** With more paths than this, the names are data and not fields. */
export const MAX_DISCOVERED_FIELDS = 1000;
