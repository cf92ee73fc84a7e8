import type { Clock } from "../grammar/units/clock.ts";
import { parseDuration } from "../grammar/units/duration.ts";
import { AnswerDeadline, Deadlines, TimedOut } from "./deadline.ts";
import type { EntryLog } from "./entries.ts";
import {
  discard,
  type Handler,
  type Header,
  isEndless,
  type ProxyRequest,
  type ProxyResponse,
  withoutHeaders,
} from "./exchange.ts";
import { headersForApp } from "./forwarded.ts";
import type { ExchangeOutcome, IncomingResponse } from "./http1/connection.ts";
import { UNSENDABLE } from "./http1/response-parser.ts";
import { listeningHost } from "./port.ts";
import { endedFromOutside, exitText, type Supervisor, Unavailable, type Upstream } from "./process.ts";
import type { Exit } from "./process-group.ts";
import { proxyError } from "./proxy-error.ts";
import { RequestBody } from "./request-body.ts";
import { sendHandshake } from "./websocket.ts";

export interface HopOptions {
  readonly supervisor: Supervisor;
  readonly entries: EntryLog;
  readonly clock: Clock;
  readonly stage: string;
  /** How long the app may take to begin its answer. The rest of the answer may take any time. */
  readonly timeoutMs: number;
  /** Error answers say why the connection to the app broke, for the developer of the app. */
  readonly tellsReasons?: boolean | undefined;
}

/** RFC 9110, section 9.2.2: requests that have the same effect when they are made twice. */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** After a connection broke: how long the supervisor may take to see that the app exited. Usually 1 to 20 ms. */
const EXIT_GRACE_MS = 100;

/** The same if nothing listens any more: the app is exiting, and wrappers such as npm outlive it for a while. */
const DYING_GRACE_MS = 3_000;

/** For an app that keeps refusing connections although it accepts those that check whether it listens. */
const MAX_ATTEMPTS = 10;

/** The last handler: sends the request to the app and answers with the app's response. */
export function hop(options: HopOptions): Handler {
  const deadlines = new Deadlines(options.clock);
  return async (request) => {
    const timeoutMs = Math.min(requestedTimeoutMs(request) ?? Number.POSITIVE_INFINITY, options.timeoutMs);
    const deadline = new AnswerDeadline(deadlines, timeoutMs, request.answerByMs);
    const body = hasBody(request) ? new RequestBody(request.body, () => deadline.extend()) : undefined;
    try {
      return await answer({ request, body, deadline }, options);
    } catch (error) {
      if (error instanceof Unavailable) return unavailable(request, error, options);
      if (error instanceof TimedOut) return timedOut(request, deadline.timeoutMs, options);
      throw error;
    } finally {
      deadline.end();
    }
  };
}

/** A request with what all attempts to send it share. */
interface Outgoing {
  readonly request: ProxyRequest;
  /** Undefined if the request has no body. */
  readonly body: RequestBody | undefined;
  readonly deadline: AnswerDeadline;
}

/**
 * Waits for the app and sends the request; sends it again if the app cannot have seen it, or if that does no harm.
 * Rejects with Unavailable, TimedOut, or the signal's reason if the client left.
 */
async function answer(outgoing: Outgoing, options: HopOptions): Promise<ProxyResponse> {
  const { request, body, deadline } = outgoing;
  let wasResent = false;
  const mayResend = () => !wasResent && IDEMPOTENT.has(request.method) && body?.isReplayable !== false;

  for (let attempts = 1; ; attempts++) {
    const running = options.supervisor.upstream(request.signal);
    const upstream = running instanceof Promise ? await Promise.race([running, deadline.passed()]) : running;
    const release = upstream.hold();
    request.sent.then(release);
    deadline.start();
    try {
      const response = await send(outgoing, upstream, options.stage);
      deadline.stop();
      // If the app's shell was killed, a process that it left running may have answered before it was killed as well.
      if (wasKilled(upstream) && !response.switched && mayResend()) {
        discard(response.body);
        wasResent = true;
        continue;
      }
      upstream.answered();
      if (response.switched || isEndless(response)) release();
      return response;
    } catch (error) {
      if (!(error instanceof BrokenConnection)) throw error;
      deadline.stop();
      release();
      request.signal.throwIfAborted();
      if (isOutOfFiles(error)) return outOfFiles(error, request, options);
      const app = await stateOf(upstream, options.clock);
      const isSafe = error.wasSent
        ? mayResend() && !error.hasAnswered && app !== "exited"
        : attempts < MAX_ATTEMPTS && (app !== "is running" || (await listeningHost(upstream.port)) !== undefined);
      if (!isSafe || body?.isReplayable === false || request.upgrade !== undefined) {
        return broken(error, { state: app, exit: upstream.exit() }, request, options);
      }
      // A request that never left is not counted: it waits for the next run of the app like any other.
      wasResent ||= error.wasSent;
    }
  }
}

/** Sends the request once and resolves with the app's response. Rejects with BrokenConnection or TimedOut. */
function send({ request, body, deadline }: Outgoing, upstream: Upstream, stage: string): Promise<ProxyResponse> {
  return new Promise((resolve, reject) => {
    const { method, path, query } = request;
    const headers = headersForApp(request, stage);
    const response: ExchangeOutcome["response"] = (incoming) => resolve(forClient(incoming, method));
    const failed: ExchangeOutcome["failed"] = (error, how) => reject(new BrokenConnection(error, how));
    let giveUp: () => void;
    if (request.upgrade === undefined) {
      request.continue?.();
      const stream = body?.open();
      stream?.on("error", () => giveUp());
      giveUp = upstream.pool.send(
        {
          method,
          target: path + query,
          headers: withHost(headers, request, upstream),
          body: stream,
          bodyBytes: bodyBytes(request),
        },
        {
          interim: ({ status, headers }) => {
            if (status === 103) request.earlyHints?.(headers);
          },
          response,
          failed,
        },
      );
    } else {
      const switched = (status: number) => resolve({ status, headers: [], body: undefined, switched: true });
      giveUp = sendHandshake({ request, upstream, headers }, { switched, response, failed });
    }

    if (request.signal.aborted) giveUp();
    request.signal.addEventListener("abort", giveUp);
    request.sent.then(() => request.signal.removeEventListener("abort", giveUp));
    deadline.onPassed = timeOut(reject, giveUp);
  });
}

/**
 * A function of its own, so that the deadline does not share a context with the closures of `send`. If it does, V8 moves
 * four times as many bytes of finished requests to its old generation.
 */
function timeOut(reject: (error: Error) => void, giveUp: () => void): () => void {
  return () => {
    reject(new TimedOut());
    giveUp();
  };
}

/** HTTP/1.1 requires a Host; a client of HTTP/1.0 may send none. */
function withHost(headers: readonly Header[], request: ProxyRequest, { host, port }: Upstream): readonly Header[] {
  return request.headers.host === undefined ? [["Host", `${host}:${port}`], ...headers] : headers;
}

function hasBody(request: ProxyRequest): boolean {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  return coding !== undefined || (length !== undefined && length !== "0");
}

/** Undefined for a body that is sent in chunks. */
function bodyBytes(request: ProxyRequest): number | undefined {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  return coding === undefined && length !== undefined ? Number(length) : undefined;
}

/** RFC 9110, section 8.6: a 204 has none, and clients may wait for the bytes that it announces. */
const LENGTH = new Set(["content-length"]);

function forClient({ status, reason, headers, body, trailers }: IncomingResponse, method: string): ProxyResponse {
  return {
    status,
    statusText: UNSENDABLE.test(reason) ? undefined : reason,
    headers: status === 204 ? withoutHeaders(headers, LENGTH) : headers,
    // The Content-Length of an answer to HEAD is that of another body.
    body: method === "HEAD" ? undefined : body,
    trailers,
  };
}

/** The connection to the app failed before there was a response. */
class BrokenConnection extends Error {
  /** The app may have seen the request. */
  readonly wasSent: boolean;
  /** At least one byte of a response came. */
  readonly hasAnswered: boolean;

  constructor(cause: Error, { wasSent, hasAnswered }: { readonly wasSent: boolean; readonly hasAnswered: boolean }) {
    super(cause.message, { cause });
    this.wasSent = wasSent;
    this.hasAnswered = hasAnswered;
  }
}

/** The process, or the system, has no file left for a connection to the app: that is not a failure of the app. */
function isOutOfFiles({ cause }: BrokenConnection): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === "EMFILE" || code === "ENFILE";
}

/** As it is written to the log. */
type AppState = "is running" | "was killed" | "exited";

/**
 * The state of the app after its connection broke. Whether a request that brought it down runs again depends on this, so
 * it waits for the supervisor, which sees the exit a little later than the other end of the connection does.
 */
async function stateOf(upstream: Upstream, clock: Clock): Promise<AppState> {
  const exit =
    (await within(clock, EXIT_GRACE_MS, upstream.exited)) ??
    ((await listeningHost(upstream.port)) === undefined
      ? await within(clock, DYING_GRACE_MS, upstream.exited)
      : undefined);
  if (exit === undefined) return "is running";
  return endedFromOutside(exit) ? "was killed" : "exited";
}

function wasKilled(upstream: Upstream): boolean {
  const exit = upstream.exit();
  return exit !== undefined && endedFromOutside(exit);
}

function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(undefined));
    promise.then(resolve, reject).finally(() => timer.stop());
  });
}

function unavailable(request: ProxyRequest, { message: reason }: Unavailable, options: HopOptions): ProxyResponse {
  const { entries, tellsReasons } = options;
  entries.write("error", "request not answered, the app is unavailable", { ...about(request), reason });
  return proxyError(request, 503, `the app is not available${tellsReasons ? `: ${reason}` : ""}`);
}

/** Answers for an app that broke a connection. How it ended, if that is known by now, says more than what broke. */
function broken(
  { wasSent, message: what }: BrokenConnection,
  { state: app, exit }: { readonly state: AppState; readonly exit: Exit | undefined },
  request: ProxyRequest,
  options: HopOptions,
): ProxyResponse {
  const { entries, tellsReasons } = options;
  const reason = exit === undefined ? what : `the app exited (${exitText(exit)})`;
  const message = wasSent ? "app broke the connection" : "app refused the connection";
  entries.write("error", message, { ...about(request), reason, app });
  const why = tellsReasons ? `: ${reason}` : "";
  return wasSent
    ? proxyError(request, 502, `the app broke the connection${why}`)
    : proxyError(request, 503, `the app does not accept connections${why}`);
}

/**
 * Clients hold the files that connections to the app need. This one gives its own back: if all were answered on connections
 * that stay open, none would ever be free.
 */
function outOfFiles({ message: reason }: BrokenConnection, request: ProxyRequest, options: HopOptions): ProxyResponse {
  const advice = "too many connections are open: raise the limit (ulimit -n), or have fewer clients";
  options.entries.write("error", "request not answered, no file is left for a connection to the app", {
    ...about(request),
    ...{ reason, advice },
  });
  const message = options.tellsReasons ? advice : "too many connections are open";
  return proxyError(request, 503, message, [["Connection", "close"]]);
}

function timedOut(request: ProxyRequest, timeoutMs: number, options: HopOptions): ProxyResponse {
  const { entries } = options;
  // Any client can ask for a short time: that is not a failure of the app, and must not look like one.
  if (timeoutMs < options.timeoutMs && timeoutMs === requestedTimeoutMs(request)) {
    entries.write("warn", "request timed out", { ...about(request), timeout: timeoutMs, asked_by: "X-Tool-Timeout" });
    const message = "the app took longer to answer than X-Tool-Timeout allows";
    return { ...proxyError(request, 504, message), level: "warn" };
  }
  entries.write("error", "request timed out", { ...about(request), timeout: timeoutMs });
  return proxyError(request, 504, "the app took too long to answer");
}

/** Anything shorter would end requests that the app answers in time. */
const MIN_REQUESTED_MS = 1_000;

/** `X-Tool-Timeout`: seconds, or a duration such as 1500ms. It can shorten the configured time, never extend it. */
function requestedTimeoutMs(request: ProxyRequest): number | undefined {
  const header = request.headers["x-tool-timeout"];
  if (typeof header !== "string") return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.max(MIN_REQUESTED_MS, Number(text) * 1000);
  const parsed = parseDuration(text);
  return parsed.ok ? Math.max(MIN_REQUESTED_MS, parsed.value) : undefined;
}

function about(request: ProxyRequest): Record<string, unknown> {
  return { id: request.id, method: request.method, path: request.clientPath };
}
