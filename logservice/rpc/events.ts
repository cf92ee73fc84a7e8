import { levelOf, type RowColumn, type TableNotes, target } from "../../grammar/query/index.ts";
import type { AggregateColumn, Stats as WireStats } from "../../schema/rpc.generated.ts";
import { unlessBusy } from "../access/tokens.ts";
import { RpcError } from "../error.ts";
import { levelName } from "../events/level-names.ts";
import type { EventRange, Stats } from "../events/store.ts";
import { writeAudit } from "../records/audit.ts";
import { eventsKeyOf } from "../records/projects.ts";
import { append, inMode, reportOf } from "./append.ts";
import { askerOf, type Call, type Handlers, type OperationInput, projectOf, type Service } from "./call.ts";
import { JsonText } from "./json-text.ts";
import { type ReadBatch, readNewEvents } from "./read-events.ts";
import { readField, readPipes, readRange } from "./read-range.ts";
import { wireEvent } from "./wire-event.ts";

export const events: Handlers<
  | "add_events"
  | "search"
  | "get_count"
  | "get_timeseries"
  | "get_level_timeseries"
  | "aggregate"
  | "query"
  | "get_discovered_fields"
  | "get_string_field_stats"
  | "get_boolean_field_stats"
  | "get_numeric_field_stats"
> = {
  async add_events(service, input, call) {
    if (call.grant.app !== undefined) {
      throw new RpcError("forbidden", "the token of a deployed app sends its events to /ingest alone");
    }
    const { project, batch, isPartial } = readBatch(input, service.nowMs());
    await append(service, { grant: call.grant, project }, (mode) => inMode(batch, mode), call.batchKey);
    return isPartial ? reportOf(batch) : undefined;
  },

  async search(service, input, call) {
    const range = await rangeOf(service, input, call);
    const { limit = 100, order = "descending", cursor } = input;
    const page = { limit, order, cursor: cursor || undefined };
    const { events, cursor: next, stats } = await service.events.search({ ...range, ...page });
    return { events: events.map(wireEvent), ...(next !== undefined && { cursor: next }), stats: statsOf(stats) };
  },

  async get_count(service, input, call) {
    const { count, stats } = await service.events.count(await rangeOf(service, input, call));
    return { count, stats: statsOf(stats) };
  },

  async get_timeseries(service, input, call) {
    const range = await rangeOf(service, input, call);
    const { points, stats } = await service.events.timeseries({ ...range, maxPoints: input.max_points });
    return { points: points.map(({ timestamp, count }) => ({ timestamp, count })), stats: statsOf(stats) };
  },

  async get_level_timeseries(service, input, call) {
    const range = await rangeOf(service, input, call);
    const { points, stats } = await service.events.levelTimeseries({ ...range, maxPoints: input.max_points });
    const flat = points.flatMap(({ timestamp, counts }) =>
      Object.entries(counts).map(([level, count]) => ({ timestamp, level: levelName(level), count })),
    );
    return { points: flat, stats: statsOf(stats) };
  },

  async aggregate(service, input, call) {
    const { limit = 10_000, project_id } = input;
    const question = readPipes(input);
    const project = await eventsKeyOf(service.records.db, projectOf(call, project_id));
    const answer = await service.events.aggregate({ ...question, project, limit, ...askedBy(call) });
    const { columns, rows, isTruncated, stepMs, notes, stats } = answer;
    const levels = columns.flatMap(({ type }, at) => (type === "level" ? [at] : []));
    return {
      columns: columns.map((column) => wireColumn(column, notes)),
      rows: rows.map((row) => (levels.length === 0 ? [...row] : withLevelNames(row, levels))),
      ...(stepMs !== undefined && { step: stepMs }),
      truncated: isTruncated,
      stats: statsOf(stats),
    };
  },

  async query(service, { project_id, query }, call) {
    const { records, events } = service;
    const project = await eventsKeyOf(records.db, projectOf(call, project_id));
    await noteStatement(service, call, project_id, query);
    const { resultsJson, stats } = await events.sql({
      project,
      text: query,
      signal: call.signal,
    });
    return { results: new JsonText(resultsJson), stats: statsOf(stats) };
  },

  async get_discovered_fields(service, input, call) {
    const { fields, stats } = await service.events.discoveredFields(await rangeOf(service, input, call));
    return { fields: [...fields], stats: statsOf(stats) };
  },

  async get_string_field_stats(service, input, call) {
    const field = target(readField(input.field));
    const range = await rangeOf(service, input, call);
    const { values, stats } = await service.events.stringFieldStats({
      ...range,
      field,
      limit: input.limit ?? 10,
    });
    const isLevel = field.at === "entry" && field.name === "level";
    return { values: isLevel ? values.map(namedLevel) : [...values], stats: statsOf(stats) };
  },

  async get_boolean_field_stats(service, input, call) {
    const field = target(readField(input.field));
    const { values, stats } = await service.events.booleanFieldStats({
      ...(await rangeOf(service, input, call)),
      field,
    });
    return { values: [...values], stats: statsOf(stats) };
  },

  async get_numeric_field_stats(service, input, call) {
    const field = target(readField(input.field));
    const range = await rangeOf(service, input, call);
    const { min, avg, max, stats } = await service.events.numericFieldStats({ ...range, field });
    return { min, avg, max, stats: statsOf(stats) };
  },
};

/** The batch of `add_events`, whichever way its body was read. */
function readBatch(
  input: OperationInput<"add_events">,
  nowMs: number,
): { readonly project: string; readonly batch: ReadBatch; readonly isPartial: boolean } {
  // A body that was parsed has the members of the schema alone.
  if ("isPartial" in input) {
    const { project, events, isPartial } = input;
    return { project, batch: { events, errors: [] }, isPartial };
  }
  const { project_id, events, strict: isStrict = false, partial: isPartial = false } = input;
  return { project: project_id, batch: readNewEvents(events, nowMs, { isStrict, isPartial }), isPartial };
}

const namedLevel = <One extends { readonly value: string }>(one: One): One => ({ ...one, value: levelName(one.value) });

function wireColumn({ name, type, unit }: RowColumn, { leftOut, estimates }: TableNotes): AggregateColumn {
  const left = leftOut.get(name);
  return {
    name,
    type,
    unit: unit ?? "",
    ...(left !== undefined && { left_out: left }),
    ...(estimates.has(name) && { is_estimate: true }),
  };
}

function withLevelNames(row: readonly unknown[], levels: readonly number[]): unknown[] {
  const named = [...row];
  for (const at of levels) {
    const level = row[at];
    if (typeof level === "string" && levelOf(level) !== undefined) named[at] = levelName(level);
  }
  return named;
}

/** Writes down who ran a statement before it runs. On a full disk, reading goes on without that. */
async function noteStatement(
  { records, nowMs }: Service,
  { grant, address }: Call,
  project_id: string,
  detail: string,
): Promise<void> {
  const who = { at: new Date(nowMs()).toISOString(), team_id: grant.team, actor: grant.actor, address };
  await unlessBusy(
    writeAudit(records.db, { ...who, operation: "query", project_id, target_id: "", result: "done", detail }),
  );
}

/** The range of an input, with the key of the project's events. Rejects with `not_found`. */
async function rangeOf(
  { records }: Service,
  input: Parameters<typeof readRange>[0] & { readonly project_id: string },
  call: Call,
): Promise<EventRange & Pick<Call, "signal">> {
  const range = readRange(input);
  return { ...range, ...askedBy(call), project: await eventsKeyOf(records.db, projectOf(call, input.project_id)) };
}

const askedBy = (call: Call) => ({ signal: call.signal, asker: askerOf(call) });

function statsOf({ durationMs, bytesProcessed, answeredFromSummaries, missingBytes }: Stats): WireStats {
  return {
    cache_hit: answeredFromSummaries,
    duration: Math.round(durationMs),
    total_bytes_processed: Math.round(bytesProcessed),
    total_bytes_billed: 0,
    ...missing(missingBytes),
  };
}

/**
 * Returns the part of an answer that says that events are missing. An estimate that rounds to 0 would look like a
 * complete answer.
 */
export function missing(bytes: number): { missing_bytes?: number } {
  return bytes > 0 ? { missing_bytes: Math.max(1, Math.round(bytes)) } : {};
}
