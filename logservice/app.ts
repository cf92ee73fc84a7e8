import type { IncomingMessage, ServerResponse } from "node:http";
import { crc32 } from "node:zlib";
import polka from "polka";
import type { Network } from "../grammar/address/network.ts";
import { openApi } from "../schema/openapi.ts";
import type { Operations } from "../schema/rpc.generated.ts";
import { rpcReference } from "../schema/rpc-reference.ts";
import { rpcSchema } from "../schema/rpc-schema.generated.ts";
import { PUBLIC_SCOPE } from "../schema/rpc-schema.ts";
import { clientAddressOf, networkOf } from "./access/client-address.ts";
import type { Grant } from "./access/grant.ts";
import type { OpenExchange } from "./access/open-exchanges.ts";
import { Refusals } from "./access/refusals.ts";
import { deviceOf } from "./account/pages/device.ts";
import { authenticate, type Needed, requireGranted } from "./authenticate.ts";
import { RpcError } from "./error.ts";
import type { Loss } from "./events/store.ts";
import { exportAnswer, type InTurn, teamOfExport } from "./export/route.ts";
import { FAVICON_PATH } from "./html/head.ts";
import { INLINE_STYLE_POLICY } from "./html/headers.ts";
import { RequestBodies } from "./http/body.ts";
import { runExchange, runHandler, type ServiceLog } from "./http/exchange.ts";
import { RequestMetrics } from "./http/metrics.ts";
import { QuerySlots } from "./http/query-slots.ts";
import { readLines, readPlainLines } from "./http/read-lines.ts";
import { RequestRate } from "./http/request-rate.ts";
import { sendError, sendJson, sendNothing, sendText } from "./http/send.ts";
import { SqlSlots } from "./http/sql-slots.ts";
import { sendTail } from "./http/tail.ts";
import { LIMITS, type Limits } from "./limits.ts";
import { addPages } from "./pages/routes.ts";
import { eventsKeyOf, type ProjectMode } from "./records/projects.ts";
import { append, type BatchKey, reportOf } from "./rpc/append.ts";
import type { Service } from "./rpc/call.ts";
import { operations } from "./rpc/operations.ts";
import { bodyText, readBody } from "./rpc/read-body.ts";
import { readQuery } from "./rpc/read-range.ts";
import { Repeats } from "./rpc/repeats.ts";
import { addUi, isForPerson } from "./web/routes.ts";

export interface AppOptions {
  readonly limits: Limits;
  readonly version: string;
  readonly log: ServiceLog;
  /** Aborted when the service begins to stop: it is no longer ready, and tails end. */
  readonly stopping: AbortSignal;
  /** Proxies whose X-Forwarded-For counts. */
  readonly trusted?: readonly Network[] | undefined;
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Makes the handler of all HTTP requests. */
export function createApp(service: Service, { limits, version, log, stopping, trusted }: AppOptions): RequestHandler {
  const metrics = new RequestMetrics();
  const { clock } = service;
  const rate = new RequestRate(limits, clock);
  const queries = new QuerySlots(limits, clock);
  const statements = new SqlSlots(limits, clock);
  const bodies = new RequestBodies(limits);
  const { publicBodyBytes } = limits;
  const smallBodies = new RequestBodies({ ...limits, bodyBytes: publicBodyBytes, inflatedBytes: publicBodyBytes });
  const addressOf = (request: IncomingMessage) => clientAddressOf(request, trusted);
  const inTurn: InTurn = (grant, signal, query) =>
    withinTime(signal, (timed) => queries.run(grant.id, timed, () => query(timed)));
  const repeats = new Repeats(service.nowMs);
  const tails = new Map<string, number>();
  const answerExport = exportAnswer({ service, stopping, inTurn, addressOf, stalledMs: limits.stalledMs });
  const refusals = new Refusals(service.records.db, clock, (error) =>
    log.error("a refusal could not be written into the audit", error),
  );
  const app = polka({
    onNoMatch: (request, response) => {
      if (isForPerson(request)) showNoPage(request, response);
      else sendError(response, NOT_FOUND);
    },
  });

  for (const [name, { scope, limited = false }] of Object.entries(rpcSchema.operations)) {
    const path = `/${name}`;
    const isForBrowsers = BROWSER_ROUTES.has(name);
    app.post(
      path,
      exchange(name, scope as Needed, rpc(name as keyof Operations, limited, scope === PUBLIC_SCOPE), {
        isForBrowsers,
      }),
    );
    if (isForBrowsers) app.options(path, preflight);
    app.all(path, onlyBy("POST"));
  }
  app.post("/ingest/:project", exchange("ingest", "events:write", ingest, { isForBrowsers: true }));
  app.options("/ingest/:project", preflight);
  app.all("/ingest/:project", onlyBy("POST"));
  app.get("/tail", exchange("tail", "events:read", tail));
  app.all("/tail", onlyBy("GET"));
  app.get("/export", exchange("export", "events:read", answerExport, { teamOf: teamOfExport }));
  app.all("/export", onlyBy("GET"));

  const ofPages = {
    ...{ service, version, log, addressOf, onlyBy },
    limit: (request: IncomingMessage, signal: AbortSignal) => rate.take(networkOf(addressOf(request)), signal),
  };
  addPages(app, { ...ofPages, bodies: smallBodies });
  const showNoPage = addUi(app, {
    ...ofPages,
    run: inTurn,
  });

  const document = openApi(rpcSchema, version);
  get("/openapi.json", (response) => sendJson(response, 200, document));
  const page = rpcReference(rpcSchema, version, { path: "/", icon: FAVICON_PATH });
  get("/reference", (response) => {
    response.setHeader("Content-Security-Policy", INLINE_STYLE_POLICY);
    sendText(response, 200, "text/html; charset=utf-8", page);
  });
  get("/_health", (response) => sendJson(response, 200, { status: "ok" }));
  get("/_ready", async (response) => {
    if (stopping.aborted) throw new RpcError("unavailable", "the service is shutting down");
    await service.records.db.selectFrom("instance").select("key").limit(1).execute();
    sendJson(response, 200, { status: "ready", ...missingOf(service.events.losses()) });
  });
  get("/metrics", (response) => {
    const gauges = {
      body_bytes_in_flight: bodies.heldBytes,
      tails: [...tails.values()].reduce((sum, n) => sum + n, 0),
    };
    const { events, evaluator, deliveries } = service;
    const all = {
      ...gauges,
      ...service.openExports.metrics(),
      ...events.metrics(),
      ...evaluator.metrics(),
      ...deliveries.metrics(),
    };
    sendText(response, 200, "text/plain; version=0.0.4", metrics.text(all));
  });

  return (request, response) =>
    runHandler({ request, response, log, clock }, () => {
      request.url = pathOf(request.url ?? "/");
      app.handler(request as Parameters<typeof app.handler>[0], response);
    });

  function get(path: string, answer: (response: ServerResponse) => void | Promise<void>): void {
    const handler: RequestHandler = (request, response) =>
      void runExchange({ request, response, log, clock }, async () => answer(response));
    app.get(path, handler);
    app.head(path, handler);
    app.all(path, onlyBy("GET, HEAD"));
  }

  /** The handler of a route that needs something. Requests are counted under the name of the route. */
  function exchange(
    route: string,
    needed: Needed,
    answer: Answer,
    { isForBrowsers = false, teamOf = teamNamedBy }: ExchangeOptions = {},
  ): RequestHandler {
    return (request, response) => {
      const beginMs = clock.monotonicMs();
      if (isForBrowsers) allowBrowsers(response);
      response.once("close", () => metrics.answered(route, response.statusCode, clock.monotonicMs() - beginMs));
      void runExchange({ request, response, log, clock }, async (signal, end) => {
        let exchange: OpenExchange | undefined;
        let who = { team_id: "", actor: "" };
        try {
          const asked = { needed, team: teamOf(request) };
          const grant = await authenticate({
            service,
            request,
            ...asked,
            register(hash) {
              exchange = service.exchanges.open(hash, end);
              return exchange;
            },
            granted({ team, actor }) {
              who = { team_id: team, actor };
            },
          });
          await rate.take(grant.id === "" ? networkOf(addressOf(request)) : grant.id, signal);
          requireGranted(grant, asked);
          await answer(request, response, grant, signal);
        } catch (error) {
          if (error instanceof RpcError) {
            await refusals.note({ ...who, address: addressOf(request), operation: route }, error.type);
          }
          throw error;
        } finally {
          exchange?.close();
        }
      });
    };
  }

  function rpc<Name extends keyof Operations>(name: Name, isLimited: boolean, isPublic: boolean): Answer {
    return async (request, response, grant, signal) => {
      expectType(request, ["application/json"], { isNeeded: grant.kind === "session" });
      const idempotencyKey = keyOf(request);
      const caller = { address: addressOf(request), device: deviceOf(request.headers["user-agent"]) };
      const output = await (isPublic ? smallBodies : bodies).receive(request, signal, async (body) => {
        signal.throwIfAborted();
        const batchKey = batchKeyOf(idempotencyKey, body);
        const input = readBody(name, body, service.nowMs());
        if (!isLimited) {
          const run = async () => operations[name](service, input, { grant, signal, batchKey, ...caller });
          if (batchKey === undefined || grant.kind !== "session") return run();
          return repeats.once([grant.id, grant.team, name, batchKey.idempotencyKey, batchKey.digest].join(), run);
        }
        return withinTime(signal, (timed) => {
          const run = () => operations[name](service, input, { grant, signal: timed, batchKey, ...caller });
          return queries.run(grant.id, timed, () => (name === "query" ? statements.run(grant.id, timed, run) : run()));
        });
      });
      if (output === undefined) sendNothing(response);
      else sendJson(response, 200, output);
    };
  }

  async function ingest(
    request: IncomingMessage,
    response: ServerResponse,
    grant: Grant,
    signal: AbortSignal,
  ): Promise<void> {
    expectType(request, LINE_TYPES);
    const idempotencyKey = keyOf(request);
    const { project } = (request as IncomingMessage & { params: { project: string } }).params;
    const report = await bodies.receive(request, signal, async (body) => {
      signal.throwIfAborted();
      const text = bodyText(body);
      const nowMs = service.nowMs();
      const read = (mode: ProjectMode) => (mode === "plain_text" ? readPlainLines : readLines)(text, nowMs);
      return reportOf(
        await append(service, { team_id: grant.team, id: project }, read, batchKeyOf(idempotencyKey, body)),
      );
    });
    sendJson(response, 200, report);
  }

  async function tail(
    request: IncomingMessage,
    response: ServerResponse,
    grant: Grant,
    over: AbortSignal,
  ): Promise<void> {
    const asked = new URL(request.url!, "http://localhost").searchParams;
    const project = asked.get("project_id") ?? "";
    if (project === "") throw new RpcError("invalid", "project_id: is required");
    const query = readQuery(asked.get("query") ?? "", "query");
    const key = await eventsKeyOf(service.records.db, { team_id: grant.team, id: project });
    const open = tails.get(grant.id) ?? 0;
    if (open >= limits.tailsPerToken) {
      const message = `${limits.tailsPerToken} tails of this token are open already: close one`;
      throw new RpcError("rate_limited", message, { retryAfterMs: limits.holdMs });
    }
    tails.set(grant.id, open + 1);
    try {
      const signal = AbortSignal.any([over, stopping]);
      const last = headerOf(request, "last-event-id") || undefined;
      await sendTail(response, service.events.tail(key, query, last), signal, clock);
    } finally {
      const left = tails.get(grant.id)! - 1;
      if (left === 0) tails.delete(grant.id);
      else tails.set(grant.id, left);
    }
  }

  /**
   * Runs a query with a signal that is aborted when the exchange ends or the time is up. Rejects at that moment: the query
   * may need a while to end, since its process has to be killed, and keeps its slot until then.
   */
  async function withinTime<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = new AbortController();
    const message = `the query took longer than ${limits.queryMs / 1000} s: narrow the time range or the query`;
    const timer = clock.after(limits.queryMs, () => timeout.abort(new RpcError("timeout", message)));
    const timed = AbortSignal.any([signal, timeout.signal]);
    let stop = () => {};
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(timed.reason);
      timed.addEventListener("abort", stop, { once: true });
    });
    try {
      timed.throwIfAborted();
      return await Promise.race([run(timed), stopped]);
    } finally {
      timer.stop();
      timed.removeEventListener("abort", stop);
    }
  }
}

interface ExchangeOptions {
  /** Whether pages of other origins may use it. */
  readonly isForBrowsers?: boolean;
  /** The team that a request names. */
  readonly teamOf?: (request: IncomingMessage) => string | undefined;
}

type Answer = (request: IncomingMessage, response: ServerResponse, grant: Grant, signal: AbortSignal) => Promise<void>;

const NOT_FOUND = new RpcError("not_found", "there is no such operation: /openapi.json lists them");

/** The only operation that pages of other origins may call. */
const BROWSER_ROUTES: ReadonlySet<string> = new Set(["add_events"]);

const LINE_TYPES = [
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/json-lines",
  "application/json",
  "text/plain",
];

/** The path and query of a URL, without what some proxies and clients put before them: a host, or a second slash. */
function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/^\/*/, "/");
}

/** The team that a request names: a stream of events, which browsers send without headers of ours, in its address. */
function teamNamedBy(request: IncomingMessage): string | undefined {
  const inPath = request.method === "GET" ? new URL(request.url!, "http://localhost").searchParams.get("team") : null;
  return headerOf(request, "x-team") || inPath || undefined;
}

/** How much is missing, without names since the route needs no token. Empty if all losses are accepted. */
function missingOf(losses: readonly Loss[]): { missing?: Record<"losses" | "bytes" | "projects", number> } {
  const open = losses.filter(({ isAccepted }) => !isAccepted);
  if (open.length === 0) return {};
  const bytes = open.reduce((sum, loss) => sum + loss.bytes, 0);
  return { missing: { losses: open.length, bytes, projects: new Set(open.map(({ project }) => project)).size } };
}

/** Refuses other types of bodies. A body without a type is taken for the expected one, without a charset for UTF-8. */
function expectType(request: IncomingMessage, types: readonly string[], { isNeeded = false } = {}): void {
  const header = headerOf(request, "content-type");
  const type = header.split(";")[0]!.trim().toLowerCase();
  if ((type !== "" || isNeeded) && !types.includes(type)) {
    throw new RpcError("unsupported_media_type", `Content-Type: must be ${types[0]}`);
  }
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(header)?.[1]?.toLowerCase();
  if (charset === undefined || CHARSETS.has(charset)) return;
  throw new RpcError("unsupported_media_type", "Content-Type: the charset must be utf-8");
}

/** Names of UTF-8 and of its subset ASCII. */
const CHARSETS: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii", "ascii"]);

function keyOf(request: IncomingMessage): string | undefined {
  const key = headerOf(request, "idempotency-key");
  if (key.length > MAX_KEY_LENGTH) {
    throw new RpcError("invalid", `Idempotency-Key: must have at most ${MAX_KEY_LENGTH} characters`);
  }
  return key || undefined;
}

function batchKeyOf(idempotencyKey: string | undefined, body: Buffer): BatchKey | undefined {
  if (idempotencyKey === undefined) return undefined;
  // Only has to tell apart batches that one client sent with the same key by mistake. A cryptographic hash takes three times
  // as long.
  const digest = `${crc32(body).toString(36)}.${body.length.toString(36)}`;
  return { idempotencyKey, digest };
}

const MAX_KEY_LENGTH = LIMITS.idempotencyKeyLength;

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : "";
}

function onlyBy(methods: string): RequestHandler {
  return (_, response) => {
    response.setHeader("Allow", methods);
    sendError(response, new RpcError("bad_request", `use ${methods}`), 405);
  };
}

function allowBrowsers(response: ServerResponse): void {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Expose-Headers", "Retry-After");
}

/** How long browsers may cache the permission. They cap it at a day. */
const PREFLIGHT_SECONDS = 86_400;

function preflight(_: IncomingMessage, response: ServerResponse): void {
  allowBrowsers(response);
  response.setHeader("Access-Control-Allow-Methods", "POST");
  response.setHeader(
    "Access-Control-Allow-Headers",
    "Authorization, Content-Type, Content-Encoding, Idempotency-Key, X-Team",
  );
  response.setHeader("Access-Control-Max-Age", String(PREFLIGHT_SECONDS));
  sendNothing(response);
}
