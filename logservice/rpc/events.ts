import type { Level } from "../../grammar/query/index.ts";
import type { LevelPoint, Stats as WireStats } from "../../schema/rpc.generated.ts";
import type { Stats } from "../events/store.ts";
import { getProject } from "../records/projects.ts";
import type { Service } from "../service.ts";
import type { Handlers } from "./call.ts";
import { readEvents } from "./read-events.ts";
import { readField, readRange } from "./read-range.ts";
import { scanEvents } from "./scan-events.ts";

/**
 * Does what `add_events` does, several times as fast. False where the body does not let it: then nothing has happened, and
 * the operation knows what is to be done or said.
 */
export async function addScanned(
  { records, events, nowMs }: Service,
  body: Buffer,
  idempotencyKey: string | undefined,
): Promise<boolean> {
  const batch = scanEvents(body, nowMs());
  if (batch === undefined) return false;
  await getProject(records.db, batch.project);
  await events.append(batch.project, batch.events, { idempotencyKey });
  return true;
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
  async add_events({ records, events, nowMs }, { project_id, events: values }, { idempotencyKey }) {
    const batch = readEvents(values, nowMs());
    await getProject(records.db, project_id);
    if (batch.length > 0) await events.append(project_id, batch, { idempotencyKey });
    return undefined;
  },

  async search(service, input, { signal }) {
    const range = await rangeOf(service, input);
    const { limit = 100, order = "descending", cursor } = input;
    const page = { limit, order, cursor: cursor || undefined };
    const { events, cursor: next, stats } = await service.events.search(range, page, signal);
    const found = events.map(({ id, timestamp, level, message, fields }) => ({
      id,
      timestamp,
      level,
      message,
      fields,
    }));
    return { events: found, ...(next !== undefined && { cursor: next }), stats: statsOf(stats) };
  },

  async get_count(service, input, { signal }) {
    const { count, stats } = await service.events.count(await rangeOf(service, input), signal);
    return { count, stats: statsOf(stats) };
  },

  async get_timeseries(service, input, { signal }) {
    const range = await rangeOf(service, input);
    const { points, stats } = await service.events.timeseries(range, input.max_points, signal);
    return { points: points.map(({ timestamp, count }) => ({ timestamp, count })), stats: statsOf(stats) };
  },

  async get_level_timeseries(service, input, { signal }) {
    const range = await rangeOf(service, input);
    const { points, stats } = await service.events.levelTimeseries(range, input.max_points, signal);
    const flat = points.flatMap(({ timestamp, counts }) =>
      Object.entries(counts).map(([level, count]) => ({ timestamp, level: levelName(level as Level), count })),
    );
    return { points: flat, stats: statsOf(stats) };
  },

  async query({ records, events }, { project_id, query }, { signal }) {
    await getProject(records.db, project_id);
    const { results, stats } = await events.sql(project_id, query, signal);
    return { results: [...results], stats: statsOf(stats) };
  },

  async get_discovered_fields(service, input, { signal }) {
    const { fields, stats } = await service.events.discoveredFields(await rangeOf(service, input), signal);
    return { fields: [...fields], stats: statsOf(stats) };
  },

  async get_string_field_stats(service, input, { signal }) {
    const field = readField(input.field);
    const range = await rangeOf(service, input);
    const { values, stats } = await service.events.stringFieldStats(range, field, input.limit ?? 10, signal);
    return { values: [...values], stats: statsOf(stats) };
  },

  async get_boolean_field_stats(service, input, { signal }) {
    const field = readField(input.field);
    const { values, stats } = await service.events.booleanFieldStats(await rangeOf(service, input), field, signal);
    return { values: [...values], stats: statsOf(stats) };
  },

  async get_numeric_field_stats(service, input, { signal }) {
    const field = readField(input.field);
    const range = await rangeOf(service, input);
    const { min, avg, max, stats } = await service.events.numericFieldStats(range, field, signal);
    return { min, avg, max, stats: statsOf(stats) };
  },
};

/** The range of an input, once it is known that its project is there. */
async function rangeOf({ records }: Service, input: Parameters<typeof readRange>[0]) {
  const range = readRange(input);
  await getProject(records.db, range.project);
  return range;
}

function statsOf({ durationMs, bytesProcessed, cacheHit }: Stats): WireStats {
  return {
    cache_hit: cacheHit,
    duration: Math.round(durationMs),
    total_bytes_processed: Math.round(bytesProcessed),
    total_bytes_billed: 0,
  };
}

/** The language says `warn`; the interface has the long name. */
function levelName(level: Level): LevelPoint["level"] {
  return level === "warn" ? "warning" : level;
}
