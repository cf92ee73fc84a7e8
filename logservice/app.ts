import type { IncomingMessage, ServerResponse } from "node:http";
import polka from "polka";
import { openApi } from "../schema/openapi.ts";
import type { Operations, Scope } from "../schema/rpc.generated.ts";
import { rpcReference } from "../schema/rpc-reference.ts";
import { rpcSchema } from "../schema/rpc-schema.generated.ts";
import { type Grant, grantOf } from "./access/tokens.ts";
import { type InFlight, withBody } from "./http/body.ts";
import { answering, type ServiceLog } from "./http/exchange.ts";
import { parseJson } from "./http/json.ts";
import { Metrics } from "./http/metrics.ts";
import { QuerySlots } from "./http/query-slots.ts";
import { readLines } from "./http/read-lines.ts";
import { RequestRate } from "./http/request-rate.ts";
import { sendError, sendJson, sendNothing, sendText } from "./http/send.ts";
import { sendTail } from "./http/tail.ts";
import { LIMITS, type Limits } from "./limits.ts";
import { getProject } from "./records/projects.ts";
import { RpcError } from "./rpc/error.ts";
import { addScanned } from "./rpc/events.ts";
import { operations } from "./rpc/operations.ts";
import { readInput } from "./rpc/read-input.ts";
import { readQuery } from "./rpc/read-range.ts";
import type { Service } from "./service.ts";

export interface AppOptions {
  readonly limits: Limits;
  readonly version: string;
  readonly log: ServiceLog;
  /** Aborted when the service is about to end: it is no longer ready, and tails end. */
  readonly stopping: AbortSignal;
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Everything that the service answers over HTTP. */
export function createApp(service: Service, { limits, version, log, stopping }: AppOptions): RequestHandler {
  const metrics = new Metrics();
  const rate = new RequestRate(limits);
  const queries = new QuerySlots(limits);
  const inFlight: InFlight = { bytes: 0 };
  const tails = new Map<string, number>();
  const app = polka({ onNoMatch: (_, response) => sendError(response, NOT_FOUND) });

  for (const [name, { scope, limited = false }] of Object.entries(rpcSchema.operations)) {
    const path = `/${name}`;
    const isForBrowsers = BROWSER_ROUTES.has(name);
    app.post(path, exchange(name, rpc(name as keyof Operations, scope as Scope, limited), isForBrowsers));
    if (isForBrowsers) app.options(path, preflight);
    app.all(path, onlyBy("POST"));
  }
  app.post("/ingest/:project", exchange("ingest", ingest, true));
  app.options("/ingest/:project", preflight);
  app.all("/ingest/:project", onlyBy("POST"));
  app.get("/tail", exchange("tail", tail, false));
  app.all("/tail", onlyBy("GET"));

  const document = openApi(rpcSchema, version);
  get("/openapi.json", (response) => sendJson(response, 200, document));
  const page = rpcReference(rpcSchema, version);
  get("/reference", (response) => {
    response.setHeader("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
    sendText(response, 200, "text/html; charset=utf-8", page);
  });
  get("/_health", (response) => sendJson(response, 200, { status: "ok" }));
  get("/_ready", async (response) => {
    if (stopping.aborted) throw new RpcError("unavailable", "the service is about to end");
    await service.records.db.selectFrom("instance").select("key").limit(1).execute();
    sendJson(response, 200, { status: "ready" });
  });
  get("/metrics", (response) => {
    const gauges = { body_bytes_in_flight: inFlight.bytes, tails: [...tails.values()].reduce((sum, n) => sum + n, 0) };
    sendText(response, 200, "text/plain; version=0.0.4", metrics.text({ ...gauges, ...service.events.metrics() }));
  });

  return (request, response) => {
    request.url = pathOf(request.url ?? "/");
    app.handler(request as Parameters<typeof app.handler>[0], response);
  };

  function get(path: string, answer: (response: ServerResponse) => void | Promise<void>): void {
    const handler: RequestHandler = (request, response) =>
      void answering(request, response, log, async () => answer(response));
    app.get(path, handler);
    app.head(path, handler);
    app.all(path, onlyBy("GET, HEAD"));
  }

  /** A route that asks for a token, counted by its name. */
  function exchange(route: string, answer: Answer, isForBrowsers: boolean): RequestHandler {
    return (request, response) => {
      const beginMs = performance.now();
      if (isForBrowsers) allowBrowsers(response);
      response.once("close", () => metrics.answered(route, response.statusCode, performance.now() - beginMs));
      void answering(request, response, log, async (signal) => {
        const grant = await authenticate(service, request);
        await rate.take(grant.id, signal);
        await answer(request, response, grant, signal);
      });
    };
  }

  function rpc<Name extends keyof Operations>(name: Name, scope: Scope, isLimited: boolean): Answer {
    return async (request, response, grant, signal) => {
      allow(grant, scope);
      expectType(request, ["application/json"]);
      const idempotencyKey = keyOf(request);
      const output = await withBody(request, limits, inFlight, async (body) => {
        if (name === "add_events" && (await addScanned(service, body, idempotencyKey))) return undefined;
        const text = body.toString();
        const input = readInput(name, text.trim() === "" ? {} : parseJson(text));
        if (!isLimited) return operations[name](service, input, { grant, signal, idempotencyKey });
        return withinTime(signal, (timed) =>
          queries.run(grant.id, timed, () =>
            operations[name](service, input, { grant, signal: timed, idempotencyKey }),
          ),
        );
      });
      if (output === undefined) sendNothing(response);
      else sendJson(response, 200, output);
    };
  }

  async function ingest(request: IncomingMessage, response: ServerResponse, grant: Grant): Promise<void> {
    allow(grant, "events:write");
    expectType(request, LINE_TYPES);
    const idempotencyKey = keyOf(request);
    const { project } = (request as IncomingMessage & { params: { project: string } }).params;
    await withBody(request, limits, inFlight, async (body) => {
      const batch = readLines(body.toString(), service.nowMs());
      await getProject(service.records.db, project);
      if (batch.length > 0) await service.events.append(project, batch, { idempotencyKey });
    });
    sendNothing(response);
  }

  async function tail(
    request: IncomingMessage,
    response: ServerResponse,
    grant: Grant,
    gone: AbortSignal,
  ): Promise<void> {
    allow(grant, "events:read");
    const asked = new URL(request.url!, "http://localhost").searchParams;
    const project = asked.get("project_id") ?? "";
    if (project === "") throw new RpcError("invalid", "project_id: is required");
    const query = readQuery(asked.get("query") ?? "", "query");
    await getProject(service.records.db, project);
    const open = tails.get(grant.id) ?? 0;
    if (open >= limits.tailsPerToken) {
      const message = `${limits.tailsPerToken} tails of this token are open already: close one`;
      throw new RpcError("rate_limited", message, { retryAfterMs: limits.holdMs });
    }
    tails.set(grant.id, open + 1);
    try {
      const signal = AbortSignal.any([gone, stopping]);
      const last = headerOf(request, "last-event-id") || undefined;
      await sendTail(response, service.events.tail(project, query, last), signal);
    } finally {
      const left = tails.get(grant.id)! - 1;
      if (left === 0) tails.delete(grant.id);
      else tails.set(grant.id, left);
    }
  }

  /** Runs a query with a signal that is aborted when the client leaves or the time is over. */
  async function withinTime<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeout = new AbortController();
    const message = `the query took longer than ${limits.queryMs / 1000} s: ask about less time, or more narrowly`;
    const timer = setTimeout(() => timeout.abort(new RpcError("timeout", message)), limits.queryMs);
    try {
      return await run(AbortSignal.any([signal, timeout.signal]));
    } finally {
      clearTimeout(timer);
    }
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse, grant: Grant, signal: AbortSignal) => Promise<void>;

const NOT_FOUND = new RpcError("not_found", "there is no such operation: /openapi.json lists them");

/** Pages of other origins may add events; nothing else is theirs to ask for. */
const BROWSER_ROUTES: ReadonlySet<string> = new Set(["add_events"]);

const LINE_TYPES = [
  "application/x-ndjson",
  "application/ndjson",
  "application/jsonl",
  "application/json-lines",
  "application/json",
  "text/plain",
];

/** The address without what proxies and clients put before the path: a host, or a second slash. */
function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/^\/*/, "/");
}

async function authenticate({ records, nowMs }: Service, request: IncomingMessage): Promise<Grant> {
  const token = /^Bearer +(\S+) *$/i.exec(headerOf(request, "authorization"))?.[1];
  if (token === undefined) {
    throw new RpcError("unauthorized", "a token is needed: send the header Authorization: Bearer <token>");
  }
  const grant = await grantOf(records.db, token, nowMs());
  if (grant === undefined) throw new RpcError("unauthorized", "this token is not known: it may have been removed");
  return grant;
}

function allow(grant: Grant, scope: Scope): void {
  if (!grant.scopes.has(scope)) throw new RpcError("forbidden", `this token lacks the scope ${scope}`);
}

/** A body without a type is taken for what is expected. */
function expectType(request: IncomingMessage, types: readonly string[]): void {
  const type = headerOf(request, "content-type").split(";")[0]!.trim().toLowerCase();
  if (type === "" || types.includes(type)) return;
  throw new RpcError("unsupported_media_type", `Content-Type: must be ${types[0]}`);
}

function keyOf(request: IncomingMessage): string | undefined {
  const key = headerOf(request, "idempotency-key");
  if (key.length > MAX_KEY_LENGTH) {
    throw new RpcError("invalid", `Idempotency-Key: must have at most ${MAX_KEY_LENGTH} characters`);
  }
  return key || undefined;
}

const MAX_KEY_LENGTH = LIMITS.idempotencyKeyLength;

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : "";
}

function onlyBy(methods: string): RequestHandler {
  return (_, response) => {
    response.setHeader("Allow", methods);
    sendError(response, new RpcError("bad_request", `this is asked by ${methods}`), 405);
  };
}

function allowBrowsers(response: ServerResponse): void {
  response.setHeader("Access-Control-Allow-Origin", "*");
  response.setHeader("Access-Control-Expose-Headers", "Retry-After");
}

/** Browsers keep the permission for so long; more than a day they do not. */
const PREFLIGHT_SECONDS = 86_400;

function preflight(_: IncomingMessage, response: ServerResponse): void {
  allowBrowsers(response);
  response.setHeader("Access-Control-Allow-Methods", "POST");
  response.setHeader("Access-Control-Allow-Headers", "Authorization, Content-Type, Content-Encoding, Idempotency-Key");
  response.setHeader("Access-Control-Max-Age", String(PREFLIGHT_SECONDS));
  sendNothing(response);
}
