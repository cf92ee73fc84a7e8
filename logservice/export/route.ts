import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../grammar/units/clock.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import type { Grant } from "../access/grant.ts";
import { unlessBusy } from "../access/tokens.ts";
import { RpcError } from "../error.ts";
import { writeAudit } from "../records/audit.ts";
import { eventsKeyOf } from "../records/projects.ts";
import { type Call, projectOf, type Service } from "../rpc/call.ts";
import { type ExportOrder, teamOfTicket } from "../rpc/export-tickets.ts";
import { operations } from "../rpc/operations.ts";
import { sendExport } from "./send.ts";

/** Runs a query of whoever asks, within its time and in its turn. */
export type InTurn = <T>(grant: Grant, signal: AbortSignal, query: (signal: AbortSignal) => Promise<T>) => Promise<T>;

export interface ExportRouteOptions {
  readonly service: Service;
  /** Aborted when the service begins to stop. */
  readonly stopping: AbortSignal;
  readonly inTurn: InTurn;
  /** How long a client may read nothing. */
  readonly stalledMs: number;
  addressOf(request: IncomingMessage): string;
}

/**
 * Makes the handler of `GET /export`. Each page of an export takes a slot as any query does, and gives it back before
 * the page is sent: an export of an hour holds up no search for longer than a page takes, and a client that reads
 * slowly holds nobody up.
 */
export function exportAnswer({ service, stopping, inTurn, stalledMs, addressOf }: ExportRouteOptions) {
  return async (request: IncomingMessage, response: ServerResponse, grant: Grant, over: AbortSignal): Promise<void> => {
    if (request.httpVersion !== "1.1")
      throw new RpcError(
        "bad_request",
        "an export needs HTTP/1.1 (nginx: proxy_http_version 1.1): by 1.0, a file that is broken off looks whole",
      );
    const ticket = ticketOf(request);
    const leave = service.openExports.enter(ticket, grant);
    try {
      const order = await service.exportTickets.take(ticket, grant, service.nowMs());
      if (order === undefined)
        throw new RpcError("not_found", "this ticket was used, has ended or is not yours: add_export makes another");
      const signal = AbortSignal.any([over, stopping]);
      const call: Call = { grant, signal, batchKey: undefined, address: addressOf(request), device: "" };
      await noteExport(service, call, order);
      const project = projectOf(call, order.range.project_id);
      await sendExport(response, {
        order,
        signal,
        stalledMs,
        clock: service.clock,
        ask: (name, input) =>
          patiently({ clock: service.clock, signal }, () =>
            inTurn(grant, signal, (timed) => ask(service, name, input, { ...call, signal: timed })),
          ),
        // As an append: what is read while a project is being removed is only a part.
        requireProject: () =>
          service.appends.run(project, async () => {
            if ((await eventsKeyOf(service.records.db, project)) === order.eventsKey) return;
            throw new RpcError("not_found", "the project was removed meanwhile");
          }),
        sent: (rows, bytes) => service.openExports.sent(rows, bytes),
      });
    } catch (error) {
      if (stopping.aborted && !over.aborted) throw new RpcError("unavailable", "the service is shutting down");
      throw error;
    } finally {
      leave();
    }
  };
}

/** The answer of an operation whose members are values, none of them text that is JSON already. */
function ask<Name extends "search" | "aggregate">(
  service: Service,
  name: Name,
  input: Operations[Name]["input"],
  call: Call,
): Promise<Operations[Name]["output"]> {
  return operations[name](service, input, call) as Promise<Operations[Name]["output"]>;
}

/** The team that the ticket of a request names. */
export function teamOfExport(request: IncomingMessage): string | undefined {
  return teamOfTicket(ticketOf(request));
}

const ticketOf = (request: IncomingMessage) =>
  new URL(request.url!, "http://localhost").searchParams.get("ticket") ?? "";

/** Tries again what found no slot in time: an export can wait, and its client cannot ask for a single page again. */
async function patiently<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RpcError) || error.type !== "rate_limited") throw error;
      await clock.sleep(error.retryAfterMs ?? 0, signal);
    }
  }
}

/** Writes down who takes which events away before they are sent. On a full disk, reading goes on without that. */
async function noteExport({ records, nowMs }: Service, { grant, address }: Call, order: ExportOrder): Promise<void> {
  const { project_id, start, stop, query } = order.range;
  const who = { at: new Date(nowMs()).toISOString(), team_id: grant.team, actor: grant.actor, address };
  const detail = `${order.format} from ${start} to ${stop}${query === "" ? "" : `: ${query}`}`;
  const what = { operation: "export", project_id, target_id: "", result: "done", detail } as const;
  await unlessBusy(writeAudit(records.db, { ...who, ...what }));
}
