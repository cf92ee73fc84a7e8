import type { EntryLog } from "../entries.ts";
import {
  type AnsweringRule,
  type Handler,
  type Header,
  type ProxyRequest,
  varyBy,
  withoutHeaders,
} from "../exchange.ts";

export interface CorsOptions {
  /** `*`, origins, and origins with one `*` for any characters. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** Request headers; a `*` among them stands for all. */
  readonly headers: readonly string[];
  readonly exposedHeaders: readonly string[];
  /** How long browsers may keep the answer to a preflight request; undefined: as long as they want. */
  readonly maxAgeSeconds?: number | undefined;
  readonly credentials: boolean;
  /** Each decision makes an entry. */
  readonly debug: boolean;
}

/** The proxy decides on them, so what the app says about other origins does not count. */
const DECIDED = new Set([
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
]);

const PREFLIGHT: AnsweringRule = { kind: "cors preflight" };

/**
 * Lets pages of other origins read responses (Fetch standard, section 3.2), by the rules of the Go package rs/cors: a
 * preflight request is answered here, 204 whatever the decision, and never reaches the app. A refusal is the absence of
 * the headers; the browser then keeps the response from the page. Other requests reach the app in any case.
 */
export function cors(options: CorsOptions, entries: EntryLog | undefined, next: Handler): Handler {
  const decide = decider(options);
  const note = (request: ProxyRequest, kind: "preflight" | "request", decision: Decision) => {
    if (!options.debug || entries === undefined) return;
    const { id, method, clientPath: path } = request;
    const { allowed, reason, origin } = decision;
    entries.write("debug", "cors decision", { id, method, path, kind, origin: origin ?? "", allowed, reason });
  };

  return async (request) => {
    if (request.upgrade !== undefined) return next(request);
    const requestMethod = oneLine(request.headers["access-control-request-method"]);
    if (request.method === "OPTIONS" && requestMethod !== undefined) {
      const decision = decide(
        request,
        requestMethod,
        listOf(oneLine(request.headers["access-control-request-headers"])),
      );
      note(request, "preflight", decision);
      const vary = ["Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"] as const;
      return { status: 204, headers: [vary, ...decision.preflight], body: undefined, rule: PREFLIGHT };
    }
    const decision = decide(request, request.method, []);
    note(request, "request", decision);
    const response = await next(request);
    if (response.switched) return response;
    const headers = varyBy(withoutHeaders(response.headers, DECIDED), "Origin");
    return { ...response, headers: [...headers, ...decision.actual] };
  };
}

interface Decision {
  readonly allowed: boolean;
  /** In words for people, if it is not allowed. */
  readonly reason?: string;
  readonly origin: string | undefined;
  /** Headers of the answer to a preflight request, and to any other. */
  readonly preflight: readonly Header[];
  readonly actual: readonly Header[];
}

function decider(options: CorsOptions) {
  const anyOrigin = options.origins.includes("*");
  const matchesOrigin = originMatcher(options.origins);
  const methods = new Set(options.methods.map((method) => method.toUpperCase()));
  const anyHeader = options.headers.includes("*");
  // Browsers never ask for Origin; other clients may, and it is always allowed.
  const headers = new Set([...options.headers.map((name) => name.toLowerCase()), "origin"]);
  const exposed: Header[] =
    options.exposedHeaders.length > 0 ? [["Access-Control-Expose-Headers", options.exposedHeaders.join(", ")]] : [];
  const { maxAgeSeconds } = options;
  const maxAge: Header[] = maxAgeSeconds === undefined ? [] : [["Access-Control-Max-Age", String(maxAgeSeconds)]];

  return (request: ProxyRequest, method: string, requestHeaders: readonly string[]): Decision => {
    const origin = oneLine(request.headers.origin);
    const refusal = (reason: string): Decision => ({ allowed: false, reason, origin, preflight: [], actual: [] });
    if (origin === undefined) return refusal("no origin: the request is not of another site");
    const isListed = matchesOrigin(origin);
    if (!isListed && !anyOrigin) return refusal("the origin is not in allowed_origins");
    // OPTIONS is how a browser asks; configurations do not list it.
    if (method !== "OPTIONS" && !methods.has(method.toUpperCase())) {
      return refusal("the method is not in allowed_methods");
    }
    const other = anyHeader ? undefined : requestHeaders.find((name) => !headers.has(name.toLowerCase()));
    if (other !== undefined) return refusal(`the header ${JSON.stringify(other)} is not in allowed_headers`);

    const allowOrigin: Header = ["Access-Control-Allow-Origin", isListed ? origin : "*"];
    // Browsers refuse credentials for the literal `*`, and an origin is reflected only if it is listed.
    const credentials: Header[] = options.credentials && isListed ? [["Access-Control-Allow-Credentials", "true"]] : [];
    const preflight: Header[] = [allowOrigin, ["Access-Control-Allow-Methods", method]];
    // Only what was requested: `*` would not cover Authorization.
    if (requestHeaders.length > 0) preflight.push(["Access-Control-Allow-Headers", requestHeaders.join(", ")]);
    return {
      allowed: true,
      origin,
      preflight: [...preflight, ...credentials, ...maxAge],
      actual: [allowOrigin, ...credentials, ...exposed],
    };
  };
}

/** Without case, as browsers write origins in lower case whatever was typed. */
function originMatcher(origins: readonly string[]): (origin: string) => boolean {
  const exact = new Set<string>();
  const wild: { prefix: string; suffix: string }[] = [];
  for (const origin of origins.map((text) => text.toLowerCase())) {
    if (origin === "*") continue;
    const [prefix = "", suffix] = origin.split("*", 2);
    if (suffix === undefined) exact.add(origin);
    else wild.push({ prefix, suffix });
  }
  return (text) => {
    const origin = text.toLowerCase();
    return (
      exact.has(origin) ||
      wild.some(
        ({ prefix, suffix }) =>
          origin.length >= prefix.length + suffix.length && origin.startsWith(prefix) && origin.endsWith(suffix),
      )
    );
  };
}

function listOf(header: string | undefined): string[] {
  return header === undefined ? [] : header.split(",").flatMap((part) => part.trim() || []);
}

function oneLine(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(", ") : value;
  return text === undefined || text === "" ? undefined : text;
}
