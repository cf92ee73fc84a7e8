import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseQuery, printQuery, type Query } from "../../grammar/query/index.ts";
import type { Context } from "../context.ts";
import { byteSize } from "../output/byte-size.ts";
import { placeText, type ServiceAddress, serviceAddress } from "../service/service-address.ts";
import type { ConfiguredService } from "./configured-service.ts";
import {
  aggregateInService,
  countInService,
  discoveredFields,
  followService,
  type ServiceQuestion,
  searchService,
} from "./service-log.ts";
import type { Chosen } from "./source.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** After a restart the service may not know the last event that was read any more, and then tells no number. */
const LOST_PLACE = "entries that came while there was no connection may be left out";

interface ServiceRequest {
  readonly follow: boolean;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  readonly query: Query;
  readonly limit: number;
}

/** The events of the log service that `--service` names. */
export async function serviceSource(
  context: Context,
  request: ServiceRequest & { readonly service: string; readonly project: string },
): Promise<Chosen> {
  const address = await serviceAddress(context, request.service, request.project);
  if (!address.ok) return address;
  return sourceAt(context, request, { address, note: `reading the ${placeText(address)}` });
}

/** The events of the log service that has the app's entries. */
export function configuredSource(
  context: Context,
  request: ServiceRequest,
  { app, address, condition }: ConfiguredService,
): Chosen {
  const { host } = new URL(address.url);
  const hasDevelopmentLog = existsSync(join(context.directory, ".tool/development.ndjson"));
  const note = [
    `reading the log of ${app} in ${host}, project ${address.project}`,
    ...(hasDevelopmentLog ? ["tool logs development reads that of tool start"] : []),
  ].join("\n");
  return sourceAt(context, request, { address, note, ...(condition !== undefined && { condition }) });
}

/** Without a period the events of the last day, or only new ones if the log is followed. */
function sourceAt(
  context: Context,
  request: ServiceRequest,
  {
    address,
    note,
    condition,
  }: { readonly address: ServiceAddress; readonly note: string; readonly condition?: string },
): Chosen {
  const narrowed = (query: Query) => (condition === undefined ? query : both(query, condition));
  const { follow, untilMs } = request;
  const nowMs = context.io.nowMs();
  const withPast = !follow || request.sinceMs !== undefined;
  const sinceMs = request.sinceMs ?? (follow ? undefined : Math.min(untilMs ?? nowMs, nowMs) - DAY_MS);
  let missing: string | undefined;
  const warn = (bytes: number) => {
    if (missing !== undefined) return;
    missing = `${byteSize(bytes)} of this time's events are missing`;
    const which = '"tool service check" on the service\'s machine says which';
    void context.say(`warning: ${missing}: ${which}`);
  };
  const isLimited = request.limit !== Number.POSITIVE_INFINITY;
  const query = narrowed(request.query);
  const wanted: ServiceQuestion = {
    address,
    query: query.expr === undefined ? "" : printQuery(query),
    startMs: sinceMs ?? nowMs,
    // Clocks differ: an event that another machine dates a little ahead has happened, too.
    stopMs: untilMs ?? Math.max(nowMs, sinceMs ?? nowMs) + DAY_MS,
    limit: follow ? Number.POSITIVE_INFINITY : request.limit,
    clock: context.io.clock,
    onDropped: (count) => {
      missing ??= count === null ? LOST_PLACE : "entries that came too fast were left out";
      void context.say(
        count === null
          ? LOST_PLACE
          : count === 1
            ? "1 entry came too fast and was left out"
            : `${count} entries came too fast and were left out`,
      );
    },
    onTrouble: (message) => void context.say(message),
    onMissing: warn,
  };
  return {
    ok: true,
    source: {
      sinceMs,
      note,
      live: follow,
      limitsToNewest: !follow && isLimited,
      evidence: (signal) => discoveredFields(wanted, signal),
      async count(other, signal) {
        const count = await countInService({ ...wanted, query: printQuery(narrowed(other)) }, signal);
        return count === undefined ? undefined : { count, isLeast: false };
      },
      totalBytes: undefined,
      ...(!follow && {
        aggregate: (of) => {
          const pipeline = { ...of.pipeline, query: narrowed(of.pipeline.query) };
          return aggregateInService(wanted, { ...of, pipeline });
        },
      }),
      missing: () => missing,
      async *inputs(signal) {
        yield follow ? followService({ ...wanted, withPast }, signal) : searchService(wanted, signal);
      },
    },
  };
}

/** The events that a query and another condition select. */
function both(query: Query, condition: string): Query {
  const parsed = parseQuery(query.expr === undefined ? condition : `(${printQuery(query)}) and ${condition}`);
  if (!parsed.ok) throw new Error(`${condition} is no condition`);
  return parsed.value;
}
