// An events store that is nothing but the predicate over an array. What it answers is right by definition.
import {
  addToSum,
  compilePredicate,
  type ExactSum,
  type Level,
  levelOf,
  PipesRun,
  type RowColumn,
  type Target,
  valueOfSum,
} from "../../../grammar/query/index.ts";
import { parseTimestamp } from "../../../grammar/query/timestamp.ts";
import { fieldName } from "../../../logservice/events/field-paths.ts";
import { histogramSteps, stepTime } from "../../../logservice/events/histogram-steps.ts";
import { cutTimestamp, nanosecondsOf } from "../../../logservice/events/instant.ts";
import {
  comparePositions,
  compareText,
  type PositionedEvent,
  printCursor,
  readPosition,
} from "../../../logservice/events/order.ts";
import { pageFits } from "../../../logservice/events/page.ts";
import {
  type DayUsage,
  type Event,
  type EventsQuery,
  type EventsStore,
  MAX_DISCOVERED_FIELDS,
  type NewEvent,
  StoreError,
  type TailItem,
} from "../../../logservice/events/store.ts";

export function openOracle(nowMs: () => number): EventsStore {
  const projects = new Map<string, Project>();
  const project = (name: string): Project => {
    const entry = projects.get(name) ?? { events: [], ids: new Set(), keys: new Set(), readers: new Set() };
    projects.set(name, entry);
    return entry;
  };
  let made = 0;

  const within = ({ project: name, startMs, stopMs, query, signal }: EventsQuery): PositionedEvent[] => {
    signal.throwIfAborted();
    const selects = query === undefined ? () => true : compilePredicate(query, { nowMs: nowMs() });
    return project(name).events.filter(({ event }) => {
      const ms = parseTimestamp(event.timestamp)!;
      return ms >= startMs && ms <= stopMs && selects(event);
    });
  };

  return {
    async append(name, batch, { idempotencyKey } = {}) {
      const { events, ids, keys, readers } = project(name);
      if (idempotencyKey !== undefined) {
        if (keys.has(idempotencyKey)) return;
        keys.add(idempotencyKey);
      }
      for (const one of batch) {
        if (one.id !== undefined && ids.has(one.id)) continue;
        if (one.id !== undefined) ids.add(one.id);
        const event = stored(one, one.id ?? `oracle-${String(made++).padStart(12, "0")}`);
        events.push({ event, nanoseconds: BigInt(nanosecondsOf(event.timestamp)), id: event.id });
        for (const reader of readers) reader(event);
      }
    },

    async search(request) {
      const { limit, order, cursor } = request;
      const sign = order === "ascending" ? 1 : -1;
      const after = cursor === undefined ? undefined : readPosition(cursor);
      const sorted = within(request).sort((a, b) => sign * comparePositions(a, b));
      const rest = sorted.filter((one) => after === undefined || sign * comparePositions(one, after) > 0);
      const page: PositionedEvent[] = [];
      let held = 0;
      for (const one of rest.slice(0, limit)) {
        const bytes = Buffer.byteLength(JSON.stringify(one.event));
        if (!pageFits(held, bytes)) break;
        page.push(one);
        held += bytes;
      }
      const isLast = rest.length === page.length || page.length === 0;
      return { events: page.map(({ event }) => event), cursor: isLast ? undefined : printCursor(page.at(-1)!), stats };
    },

    async count(request) {
      return { count: within(request).length, stats };
    },

    async timeseries(request) {
      const { stepMs, starts } = histogramSteps(request.startMs, request.stopMs, request.maxPoints);
      const times = within(request).map(({ event }) => parseTimestamp(event.timestamp)!);
      const points = starts.map((start) => ({
        timestamp: stepTime(start),
        count: times.filter((ms) => ms >= start && ms < start + stepMs).length,
      }));
      return { stepMs, points, stats };
    },

    async levelTimeseries(request) {
      const { stepMs, starts } = histogramSteps(request.startMs, request.stopMs, request.maxPoints);
      const matches = within(request);
      const levels = [...new Set(matches.map(({ event }) => levelOf(event.level)!))];
      const points = starts.map((start) => {
        const here = matches.filter(({ event }) => {
          const ms = parseTimestamp(event.timestamp)!;
          return ms >= start && ms < start + stepMs;
        });
        const countOf = (level: string) => here.filter(({ event }) => levelOf(event.level) === level).length;
        return {
          timestamp: stepTime(start),
          counts: Object.fromEntries(levels.map((level) => [level, countOf(level)])),
        };
      });
      return { stepMs, points, stats };
    },

    async discoveredFields(request) {
      const matches = within(request);
      const counts = new Map<string, { name: string; type: "string" | "number" | "boolean"; count: number }>();
      for (const { event } of matches) {
        const here = new Set<string>();
        const visit = (value: unknown, path: string[]): void => {
          if (Array.isArray(value)) {
            // An object in a list has no name; a list in a list is of the list's name.
            for (const one of value) if (typeof one !== "object" || Array.isArray(one)) visit(one, path);
          } else if (typeof value === "object" && value !== null) {
            for (const [key, one] of Object.entries(value)) visit(one, [...path, key]);
          } else if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
            const key = JSON.stringify([path, typeof value]);
            if (here.has(key)) return;
            here.add(key);
            const type = typeof value as "string" | "number" | "boolean";
            const field = counts.get(key) ?? { name: fieldName(path), type, count: 0 };
            counts.set(key, { ...field, count: field.count + 1 });
          }
        };
        visit(event.fields, []);
      }
      const fields = [...counts.values()]
        .sort((a, b) => b.count - a.count || compareText(a.name, b.name) || compareText(a.type, b.type))
        .slice(0, MAX_DISCOVERED_FIELDS)
        .map((field) => ({ ...field, percent: field.count / matches.length }));
      return { fields, stats };
    },

    async stringFieldStats(request) {
      const { field, limit } = request;
      const isLevel = field.at === "entry" && field.name === "level";
      const texts = within(request).map((one) =>
        elements(one.event, field)
          .filter((value) => typeof value === "string")
          .map((text) => (isLevel ? levelOf(text)! : text)),
      );
      return { values: top(texts, (a, b) => compareText(a, b)).slice(0, limit), stats };
    },

    async booleanFieldStats(request) {
      const values = within(request).map((one) =>
        elements(one.event, request.field).filter((value) => typeof value === "boolean"),
      );
      return { values: top(values, (a, b) => Number(a) - Number(b)), stats };
    },

    async numericFieldStats(request) {
      const numbers = within(request)
        .flatMap((one) => elements(one.event, request.field))
        .filter((value) => typeof value === "number");
      if (numbers.length === 0) return { min: null, avg: null, max: null, stats };
      const sum: ExactSum = { sum: 0, lost: 0 };
      for (const number of numbers) addToSum(sum, number);
      const [min, max] = [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b))];
      return { min, avg: valueOfSum(sum) / numbers.length, max, stats };
    },

    async aggregate(request) {
      const { startMs, stopMs, pipes, limit } = request;
      const run = new PipesRun({ pipes: pipes }, { nowMs: nowMs(), range: { fromMs: startMs, toMs: stopMs } });
      for (const { event } of within(request).sort(comparePositions)) run.push(event);
      const result = run.result();
      const rows =
        result.kind === "table"
          ? result.rows
          : result.entries.map(({ id, timestamp, level, message, fields }) => [id, timestamp, level, message, fields]);
      const columns = result.kind === "table" ? result.columns : EVENT_COLUMNS;
      const notes = result.kind === "table" ? result.notes : NO_NOTES;
      return { columns, rows: rows.slice(0, limit), isTruncated: rows.length > limit, notes, stats };
    },

    sql: () => Promise.reject(new StoreError("bad_request", "the oracle speaks no SQL")),

    async projectStats(name) {
      const { events } = project(name);
      const bytesTotal = events.reduce((bytes, { event }) => bytes + Buffer.byteLength(JSON.stringify(event)), 0);
      return { bytesTotal, eventsTotal: events.length, missingBytes: 0 };
    },

    async usage({ project: name, startMs, stopMs }) {
      const dayOf = ({ timestamp }: { readonly timestamp: string }) =>
        new Date(parseTimestamp(timestamp)!).toISOString().slice(0, 10);
      const [first, last] = [startMs, stopMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
      const all = project(name).events;
      const days = [...new Set(all.map(({ event }) => dayOf(event)))].sort();
      return days.flatMap((day): DayUsage[] => {
        if (day < first! || day > last!) return [];
        const events = all.filter(({ event }) => dayOf(event) === day);
        const bytes = events.reduce((sum, { event }) => sum + Buffer.byteLength(JSON.stringify(event)), 0);
        const levels: Partial<Record<Level, number>> = {};
        for (const { event } of events) levels[levelOf(event.level)!] = (levels[levelOf(event.level)!] ?? 0) + 1;
        return [{ day, events: events.length, bytes, storedBytes: bytes, levels }];
      });
    },

    position: () => 0,
    isReplaced: () => false,
    disk: async () => ({ freeBytes: 250, totalBytes: 1000, isFull: false }),

    expire: async () => {},

    tail(name, query) {
      const selects = query === undefined ? () => true : compilePredicate(query, { nowMs: nowMs() });
      const waiting: TailItem[] = [];
      let wake = () => {};
      let isOver = false;
      const reader = (event: Event) => {
        if (!selects(event)) return;
        waiting.push({ event });
        wake();
      };
      project(name).readers.add(reader);
      const iterator: AsyncIterableIterator<TailItem> = {
        [Symbol.asyncIterator]: () => iterator,
        async next() {
          while (waiting.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve));
          const value = waiting.shift();
          return value === undefined ? { value: undefined, done: true } : { value, done: false };
        },
        async return() {
          isOver = true;
          project(name).readers.delete(reader);
          wake();
          return { value: undefined, done: true };
        },
      };
      return iterator;
    },

    async deleteProject(name) {
      projects.delete(name);
    },
    setRetention() {},
    metrics: () => ({}),
    heldProjects: () => new Set([...projects].filter(([, { events }]) => events.length > 0).map(([name]) => name)),
    losses: () => [],

    acceptLosses() {},

    async close() {},
  };
}

const EVENT_COLUMNS: readonly RowColumn[] = [
  { name: "id", type: "value", isGroup: false },
  { name: "timestamp", type: "time", isGroup: false },
  { name: "level", type: "level", isGroup: false },
  { name: "message", type: "value", isGroup: false },
  { name: "fields", type: "value", isGroup: false },
];
const NO_NOTES = { leftOut: new Map(), withoutTime: 0, estimates: new Set<string>() };

interface Project {
  readonly events: PositionedEvent[];
  readonly ids: Set<string>;
  readonly keys: Set<string>;
  readonly readers: Set<(event: Event) => void>;
}

const stats = { durationMs: 0, bytesProcessed: 0, answeredFromSummaries: false, missingBytes: 0 };

/** The caller's objects stay the caller's. */
const stored = ({ timestamp, level, message, truncated, fields }: NewEvent, id: string): Event => ({
  id,
  timestamp: cutTimestamp(timestamp),
  level,
  message,
  fields: JSON.parse(JSON.stringify(fields)),
  ...(truncated === true && { truncated }),
});

/** The value that a field addresses, the elements of lists one by one. */
function elements(event: Event, field: Target): unknown[] {
  let value: unknown = field.at === "entry" ? event[field.name] : event.fields;
  for (const key of field.at === "entry" ? [] : field.path) {
    if (typeof value !== "object" || value === null || Array.isArray(value) !== (typeof key === "number")) return [];
    value = Object.hasOwn(value, key) ? (value as Record<string | number, unknown>)[key] : undefined;
  }
  return Array.isArray(value) ? (value.flat(Number.POSITIVE_INFINITY) as unknown[]) : [value];
}

/** How many events hold each value, as a share of those that hold any. */
function top<Value>(values: readonly (readonly Value[])[], compare: (a: Value, b: Value) => number) {
  const holding = values.filter((list) => list.length > 0);
  const counts = new Map<Value, number>();
  for (const list of holding) for (const value of new Set(list)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || compare(a, b))
    .map(([value, count]) => ({ value, count, percent: count / holding.length }));
}
