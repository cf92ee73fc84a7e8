import { STATUS_CODES } from "node:http";
import { compileRoutes, type Location, type Route, substitute } from "../../grammar/route/index.ts";
import type { Redirect } from "../../schema/index.ts";
import type { AnsweringRule, Handler, ProxyRequest, ProxyResponse } from "../exchange.ts";

/**
 * A redirect of the configuration, with its defaults and parsed. `status` 200: the path is rewritten before the app sees
 * it; any other: the client is sent to the location. `force`: a rewrite goes before a file that answers the path.
 */
export interface RedirectRule extends Readonly<Required<Omit<Redirect, "location">>> {
  readonly route: Route;
  readonly location: Location;
}

/**
 * Sends the client elsewhere, or changes the path that the inner handlers see; only once: a rewritten path is never
 * matched again. `answersFile`: a file of the static directory answers the request, so that it is not rewritten.
 * Which rules match a path is found in grammar/route/automaton.ts, by way of `first` in grammar/route/table.ts.
 */
export function redirects(
  rules: readonly RedirectRule[],
  answersFile: (request: ProxyRequest) => Promise<boolean>,
  next: Handler,
): Handler {
  if (rules.length === 0) return next;
  const table = compileRoutes(
    rules.map((rule) => ({ route: rule.route, value: { ...rule, answering: answeringRule(rule) } })),
    { trailingSlash: "optional" },
  );
  return async (request) => {
    const match = table.first(request.path);
    if (match === undefined) return next(request);
    const { location, status, force, answering } = match.value;
    // The request's query goes along unless the location has its own.
    const target = substitute(location, match.captures, request.query.slice(1));
    if (status !== 200) return redirectTo(target, status, request, answering);
    if (!force && (await answersFile(request))) return next(request);
    request.noteRewrite?.(answering);
    // Whatever answers then, the file, the app or an error page: it does so because of the rule.
    return { ...(await next({ ...request, ...pathAndQuery(target) })), rule: answering };
  };
}

function answeringRule({ route, status }: RedirectRule): AnsweringRule {
  return { kind: status === 200 ? "rewrite" : "redirect", pattern: route.source };
}

/** A fragment is the browser's own and never reaches a server. */
function pathAndQuery(target: string): { path: string; query: string } {
  const [withoutFragment = ""] = target.split("#", 1);
  const cut = withoutFragment.indexOf("?");
  if (cut === -1) return { path: withoutFragment, query: "" };
  return { path: withoutFragment.slice(0, cut), query: withoutFragment.slice(cut) };
}

function redirectTo(target: string, status: number, request: ProxyRequest, rule: AnsweringRule): ProxyResponse {
  const body = `${STATUS_CODES[status] ?? "Redirect"}: ${target}\n`;
  return {
    status,
    headers: [
      ["Location", target],
      ["Content-Type", "text/plain; charset=utf-8"],
      ["Content-Length", String(Buffer.byteLength(body))],
    ],
    body: request.method === "HEAD" ? undefined : body,
    rule,
  };
}
