import { discard, type ProxyResponse, type Sent } from "../exchange.ts";
import type { Application } from "../index.ts";
import { Unavailable, type Upstream } from "../process.ts";
import type { HttpEvent } from "./event.ts";
import { requestOfEvent } from "./request.ts";

/** The result of the check that a deploy makes of a version before it activates it: `{"check": {...}}` in JSON. */
export type CheckResult =
  /** The app listens. `status` is that of its answer to `GET /`; absent if there was none, and `reason` says why. */
  | { readonly available: true; readonly status?: number; readonly reason?: string }
  /** No request would reach the app. `output` has the last lines that it wrote. */
  | { readonly available: false; readonly reason: string; readonly output: readonly string[] };

/** From listen_timeout to the end of the check: an app that listened at the last moment has so long to answer. */
const ANSWER_MS = 2_000;

/** An app that ends instead of answering, so often in a row, does not run. */
const MAX_ENDS = 3;

const REQUEST: HttpEvent = {
  kind: "http",
  format: "rest",
  canStream: false,
  method: "GET",
  path: "/",
  stagePrefix: "",
  query: "",
  headers: [
    ["Host", "localhost"],
    ["User-Agent", "tool-deploy-check"],
    ["Accept", "*/*"],
  ],
  host: "localhost",
  body: Buffer.alloc(0),
  ip: "127.0.0.1",
  requestId: undefined,
  context: {},
};

/**
 * Waits until the app listens and asks it for `/`, without rules and pages of the proxy. The app's own answer is never a
 * failure, whatever its status. Ends at `byMs`, in milliseconds since 1970. Writes one entry, "deploy check".
 */
export async function checkApp(application: Application, id: string, byMs: number): Promise<CheckResult> {
  const { entries, clock, listenTimeoutMs } = application;
  const beganMs = clock.monotonicMs();
  const limitMs = Math.min(byMs, clock.nowMs() + listenTimeoutMs + ANSWER_MS);
  const abort = new AbortController();
  const timer = clock.after(Math.max(0, limitMs - clock.nowMs()), () => abort.abort());
  const result = await checked(application, { id, limitMs, signal: abort.signal });
  timer.stop();
  const { reason } = result;
  const level = !result.available ? "error" : reason === undefined ? "info" : "warn";
  entries.write(level, "deploy check", {
    request: "GET /",
    ...(result.available && result.status !== undefined && { answer: result.status }),
    ...(reason !== undefined && { reason }),
    duration: Math.round(clock.monotonicMs() - beganMs),
  });
  return result;
}

interface Limits {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly limitMs: number;
  /** Aborted at that time. */
  readonly signal: AbortSignal;
}

async function checked(application: Application, limits: Limits): Promise<CheckResult> {
  const { supervisor, listenTimeoutMs } = application;
  for (let ends = 1; ; ends += 1) {
    let upstream: Upstream | undefined;
    try {
      limits.signal.throwIfAborted();
      upstream = await supervisor?.firstUpstream(limits.signal);
    } catch (error) {
      if (error instanceof Unavailable) return unavailable(application, error.message);
      return unavailable(application, `the app did not listen within ${listenTimeoutMs} ms`);
    }
    const { status, message } = await answerOf(application, limits);
    // The proxy's own answers have a message, others do not.
    if (message === undefined || supervisor === undefined) return { available: true, status };
    const hasEnded = upstream?.exit() !== undefined;
    if (hasEnded && ends >= MAX_ENDS) {
      const { reason = "the app exited", output = [] } = supervisor.lastEnd ?? {};
      return { available: false, reason: `${reason} and did not answer GET /`, output };
    }
    if (!hasEnded) return status === 503 ? unavailable(application, message) : { available: true, reason: message };
  }
}

function unavailable({ supervisor }: Application, reason: string): CheckResult {
  const failed = supervisor?.failedStart;
  return { available: false, reason: failed?.reason ?? reason, output: failed?.output ?? [] };
}

async function answerOf(
  { bare }: Application,
  { id, limitMs: answerByMs }: Limits,
): Promise<Pick<ProxyResponse, "status" | "message">> {
  let settleSent!: (sent: Sent) => void;
  const sent = new Promise<Sent>((resolve) => {
    settleSent = resolve;
  });
  // At its end the proxy answers, so no signal has to.
  const { signal } = new AbortController();
  const request = requestOfEvent({ ...REQUEST, requestId: id }, { answerByMs, signal, sent });
  const response = await bare(request);
  discard(response.body);
  settleSent({ status: response.status, bytes: 0 });
  return response;
}
