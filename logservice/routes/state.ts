import type { IncomingMessage } from "node:http";
import type { Network } from "../../grammar/address/network.ts";
import { clientAddressOf } from "../access/client-address.ts";
import { Refusals } from "../access/refusals.ts";
import type { InTurn } from "../export/route.ts";
import { RequestBodies } from "../http/body.ts";
import type { ServiceLog } from "../http/exchange.ts";
import { RequestMetrics } from "../http/metrics.ts";
import { OpenTails } from "../http/open-tails.ts";
import { RequestRate } from "../http/request-rate.ts";
import { SqlSlots } from "../http/sql-slots.ts";
import type { Limits } from "../limits.ts";
import type { Service } from "../rpc/call.ts";
import { Repeats } from "../rpc/repeats.ts";
import { queriesInTurn } from "./in-turn.ts";

export interface AppOptions {
  readonly limits: Limits;
  readonly version: string;
  readonly log: ServiceLog;
  /** Aborted when the service begins to stop: it is no longer ready, and tails end. */
  readonly stopping: AbortSignal;
  /** Proxies whose X-Forwarded-For counts. */
  readonly trusted?: readonly Network[] | undefined;
}

/** The state that the routes share: the requests under way, their limits and counts. */
export interface RouteState extends Pick<AppOptions, "limits" | "version" | "log" | "stopping"> {
  readonly service: Service;
  readonly metrics: RequestMetrics;
  readonly rate: RequestRate;
  readonly inTurn: InTurn;
  /** The slots of SQL statements, which are queries, too. */
  readonly statements: SqlSlots;
  readonly bodies: RequestBodies;
  /** For operations that need no credential, and for the forms of pages. */
  readonly smallBodies: RequestBodies;
  readonly repeats: Repeats;
  readonly tails: OpenTails;
  readonly refusals: Refusals;
  /** The network address of the client. */
  addressOf(request: IncomingMessage): string;
}

/** Makes the state of an app that has answered nothing yet. */
export function routeState(service: Service, options: AppOptions): RouteState {
  const { limits, version, log, stopping, trusted } = options;
  const { clock } = service;
  const { publicBodyBytes } = limits;
  return {
    ...{ service, limits, version, log, stopping },
    metrics: new RequestMetrics(),
    rate: new RequestRate(limits, clock),
    inTurn: queriesInTurn(limits, clock),
    statements: new SqlSlots(limits, clock),
    bodies: new RequestBodies(limits),
    smallBodies: new RequestBodies({ ...limits, bodyBytes: publicBodyBytes, inflatedBytes: publicBodyBytes }),
    repeats: new Repeats(service.records, clock),
    tails: new OpenTails(limits),
    refusals: new Refusals(service.records.db, clock, (error) =>
      log.error("a refusal could not be written into the audit", error),
    ),
    addressOf: (request) => clientAddressOf(request, trusted),
  };
}
