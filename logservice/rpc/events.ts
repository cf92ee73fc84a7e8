import type { BatchReport, Stats as WireStats } from "../../schema/rpc.generated.ts";
import { levelName } from "../events/level-names.ts";
import type { Range, Stats } from "../events/store.ts";
import { eventsKeyOf, eventsPlaceOf, type ProjectMode } from "../records/projects.ts";
import type { Service } from "../service.ts";
import type { BatchKey, Handlers } from "./call.ts";
import { JsonText } from "./json-text.ts";
import { type ReadBatch, readEvents } from "./read-events.ts";
import { readField, readRange } from "./read-range.ts";
import { scanEvents } from "./scan-events.ts";
import { wireEvent } from "./wire-event.ts";

/**
 * Does what `add_events` does, several times as fast. Undefined where the body does not let it: then nothing has happened,
 * and the operation knows what is to be done or said.
 */
export async function addScanned(
  service: Service,
  body: Buffer,
  batchKey: BatchKey | undefined,
): Promise<{ readonly output: BatchReport | undefined } | undefined> {
  const batch = scanEvents(body, service.nowMs());
  if (batch === undefined) return undefined;
  const whole = { events: batch.events, errors: [] };
  await append(service, batch.project, (mode) => inMode(whole, mode), batchKey);
  return { output: batch.isPartial ? reportOf(whole) : undefined };
}

/** What a partial batch is answered. Events that the project had already count as accepted. */
export function reportOf({ events, errors }: ReadBatch): BatchReport {
  return { accepted: events.length, errors };
}

/** Stores the batch that `read` gives for the project's mode, and gives it back. Rejects with `not_found`. */
export function append(
  { records, events, appends }: Service,
  projectId: string,
  read: (mode: ProjectMode) => ReadBatch,
  batchKey: BatchKey | undefined,
): Promise<ReadBatch> {
  return appends.run(projectId, async () => {
    const { key, mode } = await eventsPlaceOf(records.db, projectId);
    const batch = read(mode);
    if (batch.events.length > 0) await events.append(key, batch.events, batchKey);
    return batch;
  });
}

/** In a project of plain text an event is its message. */
function inMode(batch: ReadBatch, mode: ProjectMode): ReadBatch {
  if (mode !== "plain_text") return batch;
  const events = batch.events.map(({ id, timestamp, level, message, truncated }) => {
    return { id, timestamp, level, message, truncated, fields: {} };
  });
  return { ...batch, events };
}

export const events: Handlers<
  | "add_events"
  | "search"
  | "get_count"
  | "get_timeseries"
  | "get_level_timeseries"
  | "query"
  | "get_discovered_fields"
  | "get_string_field_stats"
  | "get_boolean_field_stats"
  | "get_numeric_field_stats"
> = {
  async add_events(service, { project_id, events: values, strict = false, partial = false }, { batchKey }) {
    const batch = readEvents(values, service.nowMs(), { isStrict: strict, isPartial: partial });
    await append(service, project_id, (mode) => inMode(batch, mode), batchKey);
    return partial ? reportOf(batch) : undefined;
  },

  async search(service, input, { signal }) {
    const range = await rangeOf(service, input);
    const { limit = 100, order = "descending", cursor } = input;
    const page = { limit, order, cursor: cursor || undefined };
    const { events, cursor: next, stats } = await service.events.search({ ...range, ...page, signal });
    return { events: events.map(wireEvent), ...(next !== undefined && { cursor: next }), stats: statsOf(stats) };
  },

  async get_count(service, input, { signal }) {
    const { count, stats } = await service.events.count({ ...(await rangeOf(service, input)), signal });
    return { count, stats: statsOf(stats) };
  },

  async get_timeseries(service, input, { signal }) {
    const range = await rangeOf(service, input);
    const { points, stats } = await service.events.timeseries({ ...range, maxPoints: input.max_points, signal });
    return { points: points.map(({ timestamp, count }) => ({ timestamp, count })), stats: statsOf(stats) };
  },

  async get_level_timeseries(service, input, { signal }) {
    const range = await rangeOf(service, input);
    const { points, stats } = await service.events.levelTimeseries({ ...range, maxPoints: input.max_points, signal });
    const flat = points.flatMap(({ timestamp, counts }) =>
      Object.entries(counts).map(([level, count]) => ({ timestamp, level: levelName(level), count })),
    );
    return { points: flat, stats: statsOf(stats) };
  },

  async query({ records, events }, { project_id, query }, { signal }) {
    const { resultsJson, stats } = await events.sql({
      project: await eventsKeyOf(records.db, project_id),
      text: query,
      signal,
    });
    return { results: new JsonText(resultsJson), stats: statsOf(stats) };
  },

  async get_discovered_fields(service, input, { signal }) {
    const { fields, stats } = await service.events.discoveredFields({ ...(await rangeOf(service, input)), signal });
    return { fields: [...fields], stats: statsOf(stats) };
  },

  async get_string_field_stats(service, input, { signal }) {
    const field = readField(input.field);
    const range = await rangeOf(service, input);
    const { values, stats } = await service.events.stringFieldStats({
      ...range,
      field,
      limit: input.limit ?? 10,
      signal,
    });
    const isLevel = field.at === "entry" && field.name === "level";
    return { values: isLevel ? values.map(namedLevel) : [...values], stats: statsOf(stats) };
  },

  async get_boolean_field_stats(service, input, { signal }) {
    const field = readField(input.field);
    const { values, stats } = await service.events.booleanFieldStats({
      ...(await rangeOf(service, input)),
      field,
      signal,
    });
    return { values: [...values], stats: statsOf(stats) };
  },

  async get_numeric_field_stats(service, input, { signal }) {
    const field = readField(input.field);
    const range = await rangeOf(service, input);
    const { min, avg, max, stats } = await service.events.numericFieldStats({ ...range, field, signal });
    return { min, avg, max, stats: statsOf(stats) };
  },
};

const namedLevel = <One extends { readonly value: string }>(one: One): One => ({ ...one, value: levelName(one.value) });

/** The range of an input, under the store's name of its project, which is there. */
async function rangeOf(
  { records }: Service,
  input: Parameters<typeof readRange>[0] & { readonly project_id: string },
): Promise<Range> {
  const range = readRange(input);
  return { ...range, project: await eventsKeyOf(records.db, input.project_id) };
}

function statsOf({ durationMs, bytesProcessed, cacheHit, missingBytes }: Stats): WireStats {
  return {
    cache_hit: cacheHit,
    duration: Math.round(durationMs),
    total_bytes_processed: Math.round(bytesProcessed),
    total_bytes_billed: 0,
    ...missing(missingBytes),
  };
}

/** What answers over missing events say. Estimates may round to 0, which would be a whole answer. */
export function missing(bytes: number): { missing_bytes?: number } {
  return bytes > 0 ? { missing_bytes: Math.max(1, Math.round(bytes)) } : {};
}
