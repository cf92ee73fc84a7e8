import type { Entry } from "../entry.ts";
import { type FieldMember, type FieldMembers, isMembers, memberAt } from "./field-path.ts";
import { type EntrySummary, measuredParts, plain, quiet, type SummaryPart } from "./part.ts";

/** Fields that the proxy writes with every request and response. */
const OF_PROXY: ReadonlySet<string> = new Set("id ip method path query duration size status".split(" "));
const WITH_RULE: ReadonlySet<string> = new Set([...OF_PROXY, "rule"]);

/** `GET /orders/42 301 12ms 1.2 KB redirect /orders/*`, of the entries that the proxy writes; undefined for all others. */
export function proxyExchange({ message, fields }: Pick<Entry, "message" | "fields">): EntrySummary | undefined {
  if (message !== "request" && message !== "response") return undefined;
  const { method, path, query, status, duration, size } = fields;
  // Others write such entries too. Ours have a query, if only an empty one.
  if (typeof method !== "string" || typeof path !== "string" || typeof query !== "string") return undefined;
  const target = `${method} ${path}${queryText(query)}`;
  const numberIn = (value: unknown) => (typeof value === "number" ? value : undefined);
  const rule = message === "response" ? ruleText(fields.rule) : undefined;
  return {
    kind: "proxy",
    parts:
      message === "request"
        ? [quiet(target)]
        : [
            plain(target),
            ...measuredParts({
              status: numberIn(status),
              durationMs: numberIn(duration),
              sizeBytes: numberIn(size),
            }),
            ...(rule ? [quiet(rule)] : []),
          ],
    used: rule === undefined ? OF_PROXY : WITH_RULE,
    isOfFields: true,
  };
}

/** The rule that answered; empty for a file, as a site is made of those. Undefined if the field is not the proxy's. */
function ruleText(rule: unknown): string | undefined {
  if (!isMembers(rule) || typeof rule.kind !== "string") return undefined;
  const { kind, pattern, loop, ...others } = rule;
  if (Object.keys(others).length > 0 || (loop !== undefined && loop !== true)) return undefined;
  const end = loop ? " (loop)" : "";
  if (pattern === undefined) return kind === "static" ? end : kind + end;
  return typeof pattern === "string" ? `${kind} ${pattern}${end}` : undefined;
}

const queryText = (query: unknown) => (typeof query === "string" && query !== "" ? `?${query.replace(/^\?/, "")}` : "");

/** Names of fields, the first that there is counts. With dots as one key or as keys of objects in each other. */
type Names = readonly string[];

/** The names that a family of loggers has for what is known of a request and its response. */
interface Shape {
  /** The field that all of it is in; empty if they are fields of the entry. */
  readonly within: string;
  readonly method: Names;
  readonly target: Names;
  readonly query: Names;
  readonly status: Names;
  /** With the milliseconds of one of it. */
  readonly duration: readonly (readonly [name: string, ms: number])[];
  readonly size: Names;
  /** Other fields that say nothing in a line, or the same again. */
  readonly besides: Names;
}

const MS = 1;
const SECOND_MS = 1_000;
const NANOSECOND_MS = 1e-6;

/** Express, Koa, zerolog, slog, logrus, winston and nginx's JSON, as most people name the fields. */
const FLAT: Shape = {
  within: "",
  method: ["method", "request_method", "requestMethod", "http_method", "verb"],
  target: ["path", "url", "uri", "request_uri", "requestUrl", "request_path", "originalUrl"],
  query: ["query", "query_string", "args"],
  status: ["status", "statusCode", "status_code", "http_status"],
  duration: [
    // A bare duration is in milliseconds, as queries compare it.
    ...(["duration", "duration_ms", "durationMs", "responseTime", "response_time_ms"] as const).map(
      (name) => [name, MS] as const,
    ),
    ...(["latency_ms", "latencyMs", "elapsed_ms", "elapsedMs", "took_ms"] as const).map((name) => [name, MS] as const),
    // nginx: https://nginx.org/en/docs/http/ngx_http_log_module.html
    ["request_time", SECOND_MS],
    ["duration_seconds", SECOND_MS],
    ["duration_s", SECOND_MS],
    ["duration_ns", NANOSECOND_MS],
    ["latency_ns", NANOSECOND_MS],
    // A text with a unit: slog writes these.
    ["latency", Number.NaN],
    ["elapsed", Number.NaN],
  ],
  size: [
    ...["size", "body_bytes_sent", "bytes_sent", "bytes_written", "bytes"],
    ...["response_size", "responseSize", "content_length", "contentLength"],
  ],
  besides: ["request", "server_protocol"],
};

/** pino-http, Fastify, express-winston and bunyan: the request and the response, as far as their serializers have them. */
const REQ_RES: Shape = {
  within: "",
  method: ["req.method", "meta.req.method"],
  target: ["req.originalUrl", "req.url", "req.path", "meta.req.originalUrl", "meta.req.url"],
  query: [],
  status: ["res.statusCode", "res.status", "meta.res.statusCode"],
  duration: [
    ["responseTime", MS],
    ["meta.responseTime", MS],
    ["res.responseTime", MS],
  ],
  size: ["res.contentLength", "res.headers.content-length"],
  besides: ["req", "res", "meta.req", "meta.res"],
};

/** The handlers of slog that group by request and response (samber/slog-http): durations of slog are nanoseconds. */
const REQUEST_RESPONSE: Shape = {
  within: "",
  method: ["request.method"],
  target: ["request.path", "request.url", "request.uri"],
  query: ["request.query"],
  status: ["response.status", "response.statusCode", "response.status_code"],
  duration: [["response.latency", NANOSECOND_MS]],
  size: ["response.length", "response.size", "response.bytes"],
  besides: ["request", "response"],
};

/** Google Cloud: https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#HttpRequest */
const HTTP_REQUEST: Shape = {
  within: "",
  method: ["httpRequest.requestMethod"],
  target: ["httpRequest.requestUrl"],
  query: [],
  status: ["httpRequest.status"],
  duration: [["httpRequest.latency", Number.NaN]],
  size: ["httpRequest.responseSize"],
  besides: ["httpRequest"],
};

/**
 * Attributes of OpenTelemetry, as they are and as they were before they were stable, and those of ECS
 * (https://opentelemetry.io/docs/specs/semconv/registry/attributes/http/).
 */
const ATTRIBUTES: Shape = {
  within: "",
  method: ["http.request.method", "http.method"],
  target: ["url.path", "http.target", "url.full", "url.original", "http.url", "http.route"],
  query: ["url.query"],
  status: ["http.response.status_code", "http.status_code"],
  duration: [
    ["http.server.request.duration", SECOND_MS],
    ["http.server.duration", MS],
    ["event.duration", NANOSECOND_MS],
    ["duration", MS],
    ["duration_ms", MS],
  ],
  size: ["http.response.body.size", "http.response_content_length", "http.response.body.bytes"],
  besides: [
    ...["http.route", "http.target", "http.url", "http.scheme", "http.flavor", "http.host", "http.user_agent"],
    ...["url.full", "url.original", "url.path", "url.scheme", "network.protocol.name", "network.protocol.version"],
  ],
};

const IN_ATTRIBUTES: Shape = { ...ATTRIBUTES, within: "attributes" };

/** The shapes that a key of an entry hints at. */
const SHAPES: ReadonlyMap<string, readonly Shape[]> = new Map<string, readonly Shape[]>([
  ...FLAT.method.map((key): [string, readonly Shape[]] => [key, [FLAT]]),
  ["req", [REQ_RES]],
  ["res", [REQ_RES]],
  ["meta", [REQ_RES]],
  ["request", [REQUEST_RESPONSE, FLAT]],
  ["httpRequest", [HTTP_REQUEST]],
  ["http", [ATTRIBUTES]],
  ["http.request.method", [ATTRIBUTES]],
  ["http.method", [ATTRIBUTES]],
  ["attributes", [IN_ATTRIBUTES]],
]);

/** A request with its response, of the fields that other programs write; undefined if they are of none. */
export function loggedExchange({ message, fields }: Pick<Entry, "message" | "fields">): EntrySummary | undefined {
  for (const key in fields) {
    for (const shape of SHAPES.get(key) ?? []) {
      const summary = exchangeIn(shape, message, fields);
      if (summary !== undefined) return summary;
    }
  }
  return undefined;
}

function exchangeIn(shape: Shape, message: string, fields: FieldMembers): EntrySummary | undefined {
  const { within } = shape;
  const members = within === "" ? fields : fields[within];
  if (!isMembers(members)) return undefined;
  const used = new Set<string>();
  const take = <T>(names: Names, read: (value: unknown) => T | undefined): T | undefined => {
    for (const name of names) {
      const member = memberAt(members, within, name);
      const value = member && read(member.value);
      if (value === undefined) continue;
      used.add((member as FieldMember).path);
      return value;
    }
    return undefined;
  };
  // nginx has the line of the request whole.
  const line = shape === FLAT ? REQUEST_LINE.exec(textIn(fields.request) ?? "") : null;
  const method = take(shape.method, methodIn) ?? line?.[1];
  const target = take(shape.target, targetIn) ?? line?.[2];
  const status = take(shape.status, statusIn);
  // The end of a request whose beginning was logged before it.
  const isRest = shape === REQ_RES && method === undefined && status !== undefined;
  if (!isRest && (method === undefined || target === undefined)) return undefined;
  const query = target === undefined || target.includes("?") ? "" : queryText(take(shape.query, anyTextIn));
  const durationMs = durationIn(shape, take);
  const sizeBytes = take(shape.size, numberIn);
  const words = new Set([method, target, String(status), ...(target?.split("?", 1) ?? [])]);
  const isSaid = saysNoMore(message, words);
  // A message about something else, with a method and a path among its fields.
  if (status === undefined && !isSaid) return undefined;
  for (const name of shape.besides) {
    const besides = memberAt(members, within, name);
    if (besides !== undefined && (name !== "request" || line !== null || isMembers(besides.value)))
      used.add(besides.path);
  }
  const measured = measuredParts({ status, durationMs, sizeBytes });
  const request = `${method} ${target}${query}`;
  const parts: readonly SummaryPart[] = isRest
    ? [plain(message), ...measured]
    : [status === undefined ? quiet(request) : plain(request), ...measured, ...(isSaid ? [] : [plain(message)])];
  if (!isRest && fields.reqId !== undefined) used.add("reqId");
  return { kind: "exchange", parts, used, isOfFields: isSaid || isRest };
}

const REQUEST_LINE = /^([A-Z][A-Z-]{2,15}) (\S+)(?: HTTP\/[\d.]+)?$/;

const anyTextIn = (value: unknown) => (typeof value === "string" ? value : undefined);

const textIn = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

const methodIn = (value: unknown) =>
  typeof value === "string" && /^[A-Z][A-Z-]{2,15}$/.test(value) ? value : undefined;

/** A path, or the path and query of a URL. */
function targetIn(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const target = value.replace(/^https?:\/\/[^/?#]*/i, "");
  if (target === "" && value !== "") return "/";
  return /^[/?*]/.test(target) ? target : undefined;
}

function statusIn(value: unknown): number | undefined {
  const status = numberIn(value);
  return status !== undefined && Number.isInteger(status) && status >= 100 && status <= 999 ? status : undefined;
}

/** Zero or more; nginx writes numbers between quotes. */
function numberIn(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof number === "number" && number >= 0 && number < Number.POSITIVE_INFINITY ? number : undefined;
}

/** The first duration in milliseconds. A text with a unit says itself what it is. */
function durationIn(
  { duration }: Shape,
  take: <T>(names: Names, read: (value: unknown) => T | undefined) => T | undefined,
): number | undefined {
  for (const [name, ms] of duration) {
    const durationMs = take([name], (value) => {
      const [, digits, unit] = typeof value === "string" ? (WITH_UNIT.exec(value) ?? []) : [];
      if (digits !== undefined) return Number(digits) * UNITS_MS[unit!]!;
      const number = numberIn(value);
      return number === undefined || Number.isNaN(ms) ? undefined : number * ms;
    });
    if (durationMs !== undefined) return durationMs;
  }
  return undefined;
}

/** As Go and Google Cloud write durations, but for those of a minute and more. */
const WITH_UNIT = /^(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s)$/;
const UNITS_MS: Readonly<Record<string, number>> = {
  ...{ ns: NANOSECOND_MS, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: MS, s: SECOND_MS },
};

/** Words of messages about any request. */
const USUAL = new Set(
  (
    "http https request requests response responses incoming outgoing access log server completed complete finished handled " +
    "served processed received started success successful ok done api call"
  ).split(" "),
);

/** Whether a message has only words that are usual for requests, or that the line has anyway. */
function saysNoMore(message: string, words: ReadonlySet<unknown>): boolean {
  if (message.length > 2_000) return false;
  return message.split(/\s+/).every((word) => {
    const bare = word.replace(/[.:,]$/, "");
    return bare === "" || words.has(bare) || USUAL.has(bare.toLowerCase());
  });
}

/** The request that an entry is of, and which half of it. */
export interface ExchangeHalf {
  readonly id: string;
  readonly half: "request" | "response";
}

/**
 * Whether an entry is one of a pair: the request and the response of one id, as the proxy and Fastify write them, one entry
 * for each. Undefined for all other entries.
 */
export function exchangeHalf({ message, fields }: Pick<Entry, "message" | "fields">): ExchangeHalf | undefined {
  const { id, reqId, req, res } = fields;
  if (message === "request" || message === "response") {
    if (typeof id !== "string" || proxyExchange({ message, fields }) === undefined) return undefined;
    return { id, half: message };
  }
  if (typeof reqId !== "string") return undefined;
  // Ids of Fastify begin again with each process: the message and the members must fit, too.
  if (message === "incoming request" && isMembers(req)) return { id: reqId, half: "request" };
  return message === "request completed" && isMembers(res) ? { id: reqId, half: "response" } : undefined;
}

/** The fields of both halves in one, those of the response first where both have them. */
export function wholeExchange(request: FieldMembers, response: FieldMembers): FieldMembers {
  return { ...request, ...response };
}
