import type { Clock } from "../../grammar/units/clock.ts";
import { type EntryLog, type RequestFields, writeRequest, writeResponse } from "../entries.ts";
import { type AnsweringRule, type Handler, headerOf } from "../exchange.ts";
import { RedirectTrail } from "../redirect-trail.ts";

/**
 * Writes an entry when a request comes and another when its answer is sent: status, bytes, milliseconds, and the rule that
 * answered if `logsRules`.
 */
export function requestLog(entries: EntryLog, clock: Clock, logsRules: boolean, next: Handler): Handler {
  const trail = new RedirectTrail();
  return async (request) => {
    const startMs = clock.monotonicMs();
    const { id, ip, method, clientPath: path, query } = request;
    const fields: RequestFields = { id, ip, method, path, query: query.slice(1) };
    writeRequest(entries, fields);
    let rule: AnsweringRule | undefined;
    request.sent.then(({ status, bytes, level, reason }) => {
      const duration = Math.round((clock.monotonicMs() - startMs) * 1000) / 1000;
      writeResponse(entries, fields, { status, duration, size: bytes, level, rule, reason });
    });
    if (!logsRules) return next(request);
    const noteRewrite = (rewrite: AnsweringRule) => {
      rule = rewrite;
    };
    const response = await next({ ...request, noteRewrite });
    rule = response.rule;
    if (isRedirect(response.status)) {
      const location = headerOf(response, "location");
      const { host } = request.headers;
      const isLoop = location !== undefined && trail.add({ ip, host, path, location, atMs: startMs });
      if (isLoop && rule?.kind === "redirect") rule = { ...rule, loop: true };
    }
    return response;
  };
}

/** Those that clients follow by themselves (RFC 9110 section 15.4). */
const isRedirect = (status: number) => status >= 301 && status <= 308 && status !== 304;
