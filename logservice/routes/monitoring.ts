import { RpcError } from "../error.ts";
import { folderReplaced, type Loss } from "../events/store.ts";
import { sendJson, sendText } from "../http/send.ts";
import { RecordsReplaced } from "../records/replaced.ts";
import type { PublicAnswer } from "./public.ts";
import type { RouteState } from "./state.ts";

/** Answers as long as the process does. */
export const answerHealth: PublicAnswer = (response) => sendJson(response, 200, { status: "ok" });

/**
 * Answers if the records can be read and changed and the service does not stop, with how many events are missing, and whether the disk
 * is so full that nothing is stored.
 */
export function readyAnswer({ service, stopping }: RouteState): PublicAnswer {
  return async (response) => {
    if (stopping.aborted) throw new RpcError("unavailable", "the service is shutting down");
    await service.records.db.selectFrom("instance").select("key").limit(1).execute();
    if (service.records.isReplaced()) throw new RecordsReplaced();
    if (service.events.isReplaced()) throw folderReplaced();
    const disk = await service.events.disk().catch(() => undefined);
    const missing = missingOf(service.events.losses());
    sendJson(response, 200, { status: "ready", ...missing, ...(disk?.isFull && { disk: "full" }) });
  };
}

/** Answers with the metrics for Prometheus. */
export function metricsAnswer({ service, metrics, bodies, tails }: RouteState): PublicAnswer {
  return (response) => {
    const { events, evaluator, deliveries, openExports } = service;
    const all = {
      body_bytes_in_flight: bodies.heldBytes,
      tails: tails.count,
      ...openExports.metrics(),
      ...events.metrics(),
      ...evaluator.metrics(),
      ...deliveries.metrics(),
    };
    sendText(response, 200, "text/plain; version=0.0.4", metrics.text(all));
  };
}

/** How much is missing, without names since the route needs no token. Empty if all losses are accepted. */
function missingOf(losses: readonly Loss[]): { missing?: Record<"losses" | "bytes" | "projects", number> } {
  const open = losses.filter(({ isAccepted }) => !isAccepted);
  if (open.length === 0) return {};
  const bytes = open.reduce((sum, loss) => sum + loss.bytes, 0);
  return { missing: { losses: open.length, bytes, projects: new Set(open.map(({ project }) => project)).size } };
}
