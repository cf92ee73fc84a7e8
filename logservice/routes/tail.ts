import { RpcError } from "../error.ts";
import { sendTail } from "../http/tail.ts";
import { eventsKeyOf } from "../records/projects.ts";
import { askerOf } from "../rpc/call.ts";
import { readQuery } from "../rpc/read-range.ts";
import type { GrantedAnswer } from "./exchange.ts";
import { requestHeader } from "./headers.ts";
import type { RouteState } from "./state.ts";

/** Answers `GET /tail`, which streams the events of a project as they come. */
export function tailAnswer({ service, tails, stopping }: RouteState): GrantedAnswer {
  return async (request, response, grant, over) => {
    const { searchParams } = new URL(request.url!, "http://localhost");
    const project = searchParams.get("project_id") ?? "";
    if (project === "") throw new RpcError("invalid", "project_id: is required");
    const query = readQuery(searchParams.get("query") ?? "", "query");
    const key = await eventsKeyOf(service.records.db, { team_id: grant.team, id: project });
    const leave = tails.enter(grant.id);
    try {
      const signal = AbortSignal.any([over, stopping]);
      const last = requestHeader(request, "last-event-id") || undefined;
      await sendTail(response, service.events.tail(key, query, last, askerOf({ grant })), signal, service.clock);
    } finally {
      leave();
    }
  };
}
