import { printQuery, type Query } from "../../grammar/query/index.ts";
import type { Context } from "../context.ts";
import { byteSize } from "../output/byte-size.ts";
import { placeText, serviceAddress } from "../service/service-address.ts";
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

/** The events of a log service. Without a period those of the last day, or only new ones if it is followed. */
export async function serviceSource(
  context: Context,
  request: {
    readonly service: string;
    readonly project: string;
    readonly follow: boolean;
    readonly sinceMs: number | undefined;
    readonly untilMs: number | undefined;
    readonly query: Query;
    readonly limit: number;
  },
): Promise<Chosen> {
  const address = await serviceAddress(context, request.service, request.project);
  if (!address.ok) return address;
  const { follow, untilMs } = request;
  const nowMs = context.io.nowMs();
  const withPast = !follow || request.sinceMs !== undefined;
  const sinceMs = request.sinceMs ?? (follow ? undefined : nowMs - DAY_MS);
  let missing: string | undefined;
  const warn = (bytes: number) => {
    if (missing !== undefined) return;
    missing = `${byteSize(bytes)} of this time's events are missing`;
    const which = '"tool service check" on the service\'s machine says which';
    void context.say(`warning: ${missing}: ${which}`);
  };
  const isLimited = request.limit !== Number.POSITIVE_INFINITY;
  const wanted: ServiceQuestion = {
    address,
    query: request.query.expr === undefined ? "" : printQuery(request.query),
    startMs: sinceMs ?? nowMs,
    // Clocks differ: an event that another machine dates a little ahead has happened, too.
    stopMs: untilMs ?? nowMs + DAY_MS,
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
      note: `reading the ${placeText(address)}`,
      live: follow,
      limitsToNewest: !follow && isLimited,
      evidence: (signal) => discoveredFields(wanted, signal),
      count: (query, signal) => countInService({ ...wanted, query: printQuery(query) }, signal),
      totalBytes: undefined,
      ...(!follow && { aggregate: (of) => aggregateInService(wanted, of) }),
      missing: () => missing,
      async *inputs(signal) {
        yield follow ? followService({ ...wanted, withPast }, signal) : searchService(wanted, signal);
      },
    },
  };
}
