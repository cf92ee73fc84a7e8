import { createApp } from "./app.ts";
import type { EventsStore } from "./events/store.ts";
import type { ServiceLog } from "./http/exchange.ts";
import { type ListenOptions, listen } from "./http/server.ts";
import { LIMITS, type Limits } from "./limits.ts";
import type { Records } from "./records/open.ts";
import { listProjects } from "./records/projects.ts";

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
  for (const { id, retention } of await listProjects(records.db)) events.setRetention(id, retention);
  const stopping = new AbortController();
  const app = createApp({ records, events, region, nowMs }, { limits, version, log, stopping: stopping.signal });
  const http = await listen(app, { host, port, tls, limits });
  return {
    url: http.url,
    port: http.port,
    async close() {
      stopping.abort();
      await http.close(GRACE_MS);
      await events.close();
      await records.close();
    },
  };
}
