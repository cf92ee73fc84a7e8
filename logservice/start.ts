import { OpenExchanges } from "./access/open-exchanges.ts";
import { createApp } from "./app.ts";
import type { EventsStore } from "./events/store.ts";
import type { ServiceLog } from "./http/exchange.ts";
import { type ListenOptions, listen } from "./http/server.ts";
import { LIMITS, type Limits } from "./limits.ts";
import { listAcceptedLosses } from "./records/accepted-losses.ts";
import type { Records } from "./records/open.ts";
import { listRetentions } from "./records/projects.ts";
import { watchRecords } from "./records/watch.ts";
import { OpenAppends } from "./rpc/append.ts";

export interface StartOptions {
  readonly records: Records;
  readonly events: EventsStore;
  readonly version: string;
  readonly host: string;
  readonly port: number;
  readonly tls?: ListenOptions["tls"];
  readonly region?: string;
  readonly log: ServiceLog;
  readonly limits?: Partial<Limits>;
  readonly nowMs?: () => number;
}

export interface RunningService {
  readonly url: string;
  readonly port: number;
  /** Answers what is under way, then closes the events and the records. */
  close(): Promise<void>;
}

/** Longer than any query; whoever asked gets the answer. */
const GRACE_MS = 10_000;

/** The service over its two stores, which it closes in the end. */
export async function startService(options: StartOptions): Promise<RunningService> {
  const { records, events, version, host, port, tls, log, region = "local", nowMs = Date.now } = options;
  const limits = { ...LIMITS, ...options.limits };
  for (const { events_key, retention } of await listRetentions(records.db)) events.setRetention(events_key, retention);
  // A manifest that was lost does not know what was deleted before.
  await events.expire();
  // Others accept them while the service runs: the watch looks again.
  const acceptLosses = async () => events.acceptLosses(await listAcceptedLosses(records.db));
  await acceptLosses();
  const exchanges = new OpenExchanges();
  const unwatch = watchRecords(
    records,
    async () => {
      await exchanges.endRemoved(records.db);
      await acceptLosses();
    },
    (error) => log.error("a change of the records by another process could not be read; trying again", error),
  );
  const stopping = new AbortController();
  const service = { records, events, exchanges, appends: new OpenAppends(), region, nowMs };
  const app = createApp(service, { limits, version, log, stopping: stopping.signal });
  const http = await listen(app, { host, port, tls, limits });
  return {
    url: http.url,
    port: http.port,
    async close() {
      unwatch();
      stopping.abort();
      await http.close(GRACE_MS);
      await events.close();
      await records.close();
    },
  };
}
