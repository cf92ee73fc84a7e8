import { EventEmitter } from "node:events";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import httpProxy from "http-proxy";
import { parseDuration } from "../grammar/units/duration.ts";
import { Deadline } from "./deadline.ts";
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
import { endToEnd, headersByName, headersForApp } from "./forwarded.ts";
import { UNSENDABLE } from "./http1/field-value.ts";
import { listeningHost } from "./port.ts";
import { endedFromOutside, type Supervisor, Unavailable, type Upstream } from "./process.ts";
import { proxyError } from "./proxy-error.ts";
import { RequestBody } from "./request-body.ts";

export interface HopOptions {
  readonly supervisor: Supervisor;
  readonly entries: EntryLog;
  readonly stage: string;
  /** Until the app's answer begins. A streamed answer may take any time. */
  readonly timeoutMs: number;
  /** Answers say why the connection to the app broke: for the one who develops it. */
  readonly tellsReasons?: boolean | undefined;
  /** Sends as http-proxy does: what ours is compared with. */
  readonly isStock?: boolean | undefined;
}

/** RFC 9110, section 9.2.2: doing it twice is doing it once. */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** A connection broke: so long a dying app may take until the supervisor sees its end. It mostly takes 1 to 20 ms. */
const EXIT_GRACE_MS = 100;

/** Nobody listens any more, so the app is ending: wrappers such as npm take some time after their child. */
const DYING_GRACE_MS = 3_000;

/** An app that keeps refusing connections, though it accepts those that ask whether it listens. */
const MAX_ATTEMPTS = 10;

/** The last handler: hands the request to the app and answers with what the app answers. */
export function hop(options: HopOptions): Handler {
  const proxy = httpProxy.createProxyServer({ selfHandleResponse: true });
  proxy.on("proxyReq", (proxyReq, req) => (req as unknown as Attempt).onRequest(proxyReq));
  proxy.on("proxyReqWs", (proxyReq, req) => (req as unknown as Attempt).onRequest(proxyReq));
  proxy.on("proxyRes", (proxyRes, req) => (req as unknown as Attempt).onResponse(proxyRes));
  if (!options.isStock) {
    const toPool = (req: unknown) => (req as Attempt).toPool();
    // Its types leave this method out: our way of sending comes before all of its own.
    (proxy as unknown as { before(type: string, pass: string, own: (req: unknown) => true): void }).before(
      "web",
      "deleteLength",
      toPool,
    );
  }
  // Each call brings a callback of its own; http-proxy throws where nobody listens to the event either.
  proxy.on("error", () => {});

  return async (request) => {
    const asked = askedTimeoutMs(request);
    const deadline = new Deadline(Math.min(asked ?? Number.POSITIVE_INFINITY, options.timeoutMs), request.answerByMs);
    const body = hasBody(request) ? new RequestBody(request.body, () => deadline.extend()) : undefined;
    try {
      return await answer(request, body, deadline, proxy, options);
    } finally {
      deadline.end();
    }
  };
}

async function answer(
  request: ProxyRequest,
  body: RequestBody | undefined,
  deadline: Deadline,
  proxy: httpProxy,
  options: HopOptions,
): Promise<ProxyResponse> {
  const { supervisor, entries } = options;
  let resent = false;
  for (let attempts = 1; ; attempts++) {
    let upstream: Upstream | "timeout";
    try {
      const running = supervisor.upstream(request.signal);
      upstream = running instanceof Promise ? await Promise.race([running, deadline.passed()]) : running;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      entries.write("error", "request not answered, the app is unavailable", {
        ...about(request),
        reason: error.message,
      });
      const reason = options.tellsReasons ? `: ${error.message}` : "";
      return proxyError(request, 503, `the app is not available${reason}`);
    }
    if (upstream === "timeout") return timedOut(request, deadline, options);

    deadline.start();
    const attempt = new Attempt(request, upstream, options.stage);
    const release = upstream.hold();
    deadline.onPassed = () => attempt.timeOut();
    request.sent.then(() => {
      release();
      attempt.end();
    });
    const outcome = await attempt.send(proxy, body, options.isStock === true);
    if (outcome === "timeout") {
      return timedOut(request, deadline, options);
    }
    deadline.stop();
    if (!(outcome instanceof Broken)) {
      const isOrphans = wasKilled(upstream) && !outcome.switched;
      if (!isOrphans || resent || !IDEMPOTENT.has(request.method) || body?.isReplayable === false) {
        upstream.answered();
        if (outcome.switched || isEndless(outcome)) release();
        return outcome;
      }
      // Somebody killed the app's shell, and a process that it left behind answered before it was killed as well.
      discard(outcome.body);
      resent = true;
      continue;
    }
    release();
    request.signal.throwIfAborted();

    const end = await endOf(upstream);
    const mayResend = outcome.wasSent
      ? !resent && IDEMPOTENT.has(request.method) && !outcome.hasAnswered && (end === "alive" || end === "outside")
      : attempts < MAX_ATTEMPTS && (end !== "alive" || (await listeningHost(upstream.port)) !== undefined);
    if (mayResend && body?.isReplayable !== false && request.upgrade === undefined) {
      // A request that never left is not counted: it waits for the next run of the app like any other.
      resent ||= outcome.wasSent;
      continue;
    }
    entries.write("error", outcome.wasSent ? "app broke the connection" : "app refused the connection", {
      ...about(request),
      reason: outcome.error.message,
      app: { alive: "is running", outside: "was killed", itself: "exited" }[end],
    });
    const reason = options.tellsReasons ? `: ${outcome.error.message}` : "";
    return outcome.wasSent
      ? proxyError(request, 502, `the app broke the connection${reason}`)
      : proxyError(request, 503, `the app does not accept connections${reason}`);
  }
}

function timedOut(request: ProxyRequest, { timeoutMs }: Deadline, options: HopOptions): ProxyResponse {
  const { entries } = options;
  // Anybody can ask for a short time: that is no failure of the app, and must not look like one.
  if (timeoutMs < options.timeoutMs && timeoutMs === askedTimeoutMs(request)) {
    entries.write("warn", "request timed out", { ...about(request), timeout: timeoutMs, asked_by: "X-Tool-Timeout" });
    const message = "the app took longer to answer than X-Tool-Timeout allows";
    return { ...proxyError(request, 504, message), level: "warn" };
  }
  entries.write("error", "request timed out", { ...about(request), timeout: timeoutMs });
  return proxyError(request, 504, "the app took too long to answer");
}

/**
 * What became of the app whose connection broke. Whether a request that brought it down runs again depends on the
 * answer, so this waits for the supervisor, which sees the exit a little later than the connection's other end does.
 */
async function endOf(upstream: Upstream): Promise<"alive" | "outside" | "itself"> {
  const exit =
    (await within(EXIT_GRACE_MS, upstream.exited)) ??
    ((await listeningHost(upstream.port)) === undefined ? await within(DYING_GRACE_MS, upstream.exited) : undefined);
  if (exit === undefined) return "alive";
  return endedFromOutside(exit) ? "outside" : "itself";
}

function wasKilled(upstream: Upstream): boolean {
  const exit = upstream.exit();
  return exit !== undefined && endedFromOutside(exit);
}

function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The connection to the app failed. */
class Broken {
  readonly error: Error;
  /** The connection stood, so that the app may have seen the request. */
  readonly wasSent: boolean;
  /** At least one byte of an answer came. */
  readonly hasAnswered: boolean;

  constructor(error: Error, wasSent: boolean, hasAnswered: boolean) {
    this.error = error;
    this.wasSent = wasSent;
    this.hasAnswered = hasAnswered;
  }
}

/** One sending of a request, in the shape of the IncomingMessage that http-proxy reads. */
class Attempt extends EventEmitter {
  readonly method: string;
  readonly url: string;
  readonly httpVersion = "1.1";
  /** Read by http-proxy where it sends by itself. */
  headers: Record<string, string | string[]> = {};
  /** http-proxy looks whether the client is gone; `signal` says that here. */
  readonly socket = { destroyed: false };
  readonly connection = this.socket;

  readonly #request: ProxyRequest;
  readonly #upstream: Upstream;
  readonly #rawHeaders: Header[];
  readonly #settled: Promise<ProxyResponse | Broken | "timeout">;
  #settle!: (outcome: ProxyResponse | Broken | "timeout") => void;
  readonly #onAbort = () => this.abort();
  #body: Readable | undefined;
  #giveUp: (() => void) | undefined;
  #proxyReq: ClientRequest | undefined;
  #bytesReadBefore = 0;
  #connected = false;

  constructor(request: ProxyRequest, upstream: Upstream, stage: string) {
    super();
    this.#request = request;
    this.#upstream = upstream;
    this.#rawHeaders = headersForApp(request, stage);
    // http-proxy sets Content-Length: 0 on DELETE and OPTIONS without one, also where a chunked body follows: it is
    // told another method, and the real one stands in the options.
    this.method = request.upgrade === undefined ? "POST" : "GET";
    this.url = request.path + request.query;
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  send(proxy: httpProxy, body: RequestBody | undefined, isStock: boolean): Promise<ProxyResponse | Broken | "timeout"> {
    const { upgrade, signal, method } = this.#request;
    const { host, port, agent } = this.#upstream;
    signal.addEventListener("abort", this.#onAbort);

    // Without toProxy, the path would go through url.parse, which changes some and throws on others.
    const target = { protocol: "http:", host, port: String(port) };
    const onError = (error: Error) => this.onError(error);
    if (upgrade !== undefined) {
      this.headers = { ...headersByName(this.#rawHeaders), connection: "Upgrade", upgrade: "websocket" };
      proxy.ws(this as never, upgrade.socket as Socket, upgrade.head, { target, toProxy: true }, onError);
      this.#keepHandshakeAnswer();
      return this.#settled;
    }
    this.#request.continue?.();
    if (body !== undefined) {
      this.#body = body.open();
      this.#body.on("error", () => this.abort());
    }
    if (isStock) {
      this.headers = headersByName(this.#rawHeaders);
      if (this.#request.headers["transfer-encoding"] !== undefined) this.headers["transfer-encoding"] = "chunked";
    }
    const buffer = this.#body ?? (isStock ? Readable.from([]) : undefined);
    const common = { target, toProxy: true, agent, method };
    proxy.web(this as never, NO_RESPONSE, buffer === undefined ? common : { ...common, buffer }, onError);
    return this.#settled;
  }

  /** Our way of sending, in place of all that http-proxy does for a request. */
  toPool(): true {
    const { method, headers, earlyHints } = this.#request;
    const length = headers["content-length"];
    const bodyBytes = headers["transfer-encoding"] === undefined && length !== undefined ? Number(length) : undefined;
    const { host, port, pool } = this.#upstream;
    const own = this.#rawHeaders;
    // A client of HTTP/1.0 names none, and 1.1 must.
    const rawHeaders: Header[] = headers.host === undefined ? [["Host", `${host}:${port}`], ...own] : own;
    this.#giveUp = pool.send(
      { method, target: this.url, headers: rawHeaders, body: this.#body, bodyBytes },
      {
        interim: ({ status, headers }) => {
          if (status === 103) earlyHints?.(headers);
        },
        response: ({ status, reason, headers: own, body, trailers }) => {
          const statusText = UNSENDABLE.test(reason) ? undefined : reason;
          const headers = status === 204 ? withoutHeaders(own, LENGTH) : own;
          // The answer to a HEAD has the length of another body.
          this.#settle({ status, statusText, headers, body: method === "HEAD" ? undefined : body, trailers });
        },
        failed: (error, { wasSent, hasAnswered }) => this.#settle(new Broken(error, wasSent, hasAnswered)),
      },
    );
    if (this.#request.signal.aborted) this.abort();
    return true;
  }

  /** The client has the answer, or will not get one. */
  end(): void {
    this.#request.signal.removeEventListener("abort", this.#onAbort);
  }

  timeOut(): void {
    this.#settle("timeout");
    this.abort();
  }

  abort(): void {
    this.#giveUp?.();
    this.#proxyReq?.destroy();
  }

  /** Called before the head is sent. http-proxy would collapse `//` in the path; the app gets what the client sent. */
  onRequest(proxyReq: ClientRequest): void {
    this.#proxyReq = proxyReq;
    proxyReq.path = this.url;
    if (this.#request.signal.aborted) proxyReq.destroy();
    const onSocket = (socket: Socket) => {
      this.#bytesReadBefore = socket.bytesRead;
      if (!socket.connecting) this.#connected = true;
      else
        socket.once("connect", () => {
          this.#connected = true;
        });
    };
    if (proxyReq.socket) onSocket(proxyReq.socket);
    else proxyReq.once("socket", onSocket);
  }

  onResponse(proxyRes: IncomingMessage): void {
    const status = proxyRes.statusCode!;
    const headers = endToEnd(proxyRes.rawHeaders);
    // node:http reads some answers that it refuses to write.
    if (status < 200 || headers.some(([, value]) => UNSENDABLE.test(value))) {
      proxyRes.destroy();
      this.#settle(new Broken(new Error(`the answer is not HTTP (status ${status})`), true, true));
      return;
    }
    const reason = proxyRes.statusMessage;
    const statusText = reason !== undefined && !UNSENDABLE.test(reason) ? reason : undefined;
    this.#settle({
      status,
      statusText,
      headers: status === 204 ? withoutHeaders(headers, LENGTH) : headers,
      body: proxyRes,
    });
  }

  onError(error: Error): void {
    const bytesRead = this.#proxyReq?.socket?.bytesRead ?? 0;
    this.#settle(new Broken(error, this.#connected, bytesRead > this.#bytesReadBefore));
  }

  /**
   * A handshake that the app refuses is an ordinary answer, for the handlers further out to see; http-proxy would write
   * it to the socket itself, and close the socket where the connection fails. The switch itself stays its own.
   */
  #keepHandshakeAnswer(): void {
    const { socket } = this.#request.upgrade!;
    const proxyReq = this.#proxyReq!;
    proxyReq.removeAllListeners("error").removeAllListeners("response");
    proxyReq.on("error", (error) => this.onError(error));
    proxyReq.on("response", (response) => this.onResponse(response));
    proxyReq.on("upgrade", (response, upstreamSocket) => {
      this.#request.sent.catch(() => {});
      socket.once("close", () => upstreamSocket.destroy());
      upstreamSocket.once("close", () => (socket as Socket).destroySoon());
      // Either end may keep its half open for ever: http-proxy hands on that the other is done, and no more.
      socket.once("end", () => upstreamSocket.destroySoon());
      upstreamSocket.once("end", () => (socket as Socket).destroySoon());
      this.#settle({
        status: response.statusCode!,
        headers: [],
        body: undefined,
        switched: true,
      });
    });
  }
}

/** RFC 9110, section 8.6: a 204 has none, and clients may wait for the bytes that it announces. */
const LENGTH = new Set(["content-length"]);

/** http-proxy writes no response here; it asks whether one was written. */
const NO_RESPONSE = { headersSent: false, finished: false } as unknown as ServerResponse;

function hasBody(request: ProxyRequest): boolean {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  return coding !== undefined || (length !== undefined && length !== "0");
}

/** Less would end requests that the app answers in time. */
const MIN_ASKED_MS = 1_000;

/** `X-Tool-Timeout`: seconds, or a duration such as 1500ms. It may shorten the configured time, never prolong it. */
function askedTimeoutMs(request: ProxyRequest): number | undefined {
  const header = request.headers["x-tool-timeout"];
  if (typeof header !== "string") return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.max(MIN_ASKED_MS, Number(text) * 1000);
  const parsed = parseDuration(text);
  return parsed.ok ? Math.max(MIN_ASKED_MS, parsed.value) : undefined;
}

function about(request: ProxyRequest): Record<string, unknown> {
  return { id: request.id, method: request.method, path: request.clientPath };
}
