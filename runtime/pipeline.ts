import type { Clock } from "../grammar/units/clock.ts";
import type { EntryLog } from "./entries.ts";
import { WeakenedTags } from "./etag.ts";
import type { Handler } from "./exchange.ts";
import { compression } from "./middleware/compression.ts";
import { type CorsOptions, cors } from "./middleware/cors.ts";
import { type ErrorPageOptions, errorPages } from "./middleware/error-pages.ts";
import { type HeaderRule, headerRules } from "./middleware/header-rules.ts";
import { type InjectionOptions, injection } from "./middleware/injection.ts";
import { type RedirectRule, redirects } from "./middleware/redirects.ts";
import { requestLog } from "./middleware/request-log.ts";
import { notFoundHandler, staticFiles } from "./middleware/static.ts";
import type { StaticOptions } from "./static-files.ts";

export interface PipelineOptions {
  readonly entries: EntryLog;
  readonly clock: Clock;
  /** If false, requests and responses make no entries. */
  readonly logsRequests: boolean;
  /** If false, the entries of responses do not name the rule that answered. */
  readonly logsRules: boolean;
  readonly headers: readonly HeaderRule[];
  /** Undefined: the CORS headers of the app are left as they are. */
  readonly cors: CorsOptions | undefined;
  readonly redirects: readonly RedirectRule[];
  /** Undefined: error responses of the app and the proxy are sent as they are. */
  readonly errorPages: ErrorPageOptions | undefined;
  /** Undefined: pages are left as they are. */
  readonly inject: InjectionOptions | undefined;
  /** Undefined: no files are served. */
  readonly static: StaticOptions | undefined;
  /** The hop to the app; undefined for a static site. */
  readonly app: Handler | undefined;
}

/**
 * The order of the handlers. The app is the innermost and comes first here; each line wraps the handlers before it, so a
 * request passes them from the bottom line to the top, and its response from the top to the bottom.
 */
export function pipeline(options: PipelineOptions): Handler {
  const { entries, clock } = options;
  const tags = new WeakenedTags();

  let handler: Handler = options.app ?? notFoundHandler;
  const files = options.static && staticFiles(options.static, { entries, clock }, handler);
  if (files !== undefined) handler = files.handler;
  if (options.inject !== undefined) handler = injection(options.inject, { entries, tags }, handler);
  handler = compression(tags, handler);
  if (options.errorPages !== undefined) handler = errorPages(options.errorPages, entries, handler);
  handler = redirects(options.redirects, files?.answers ?? hasNone, handler);
  if (options.cors !== undefined) handler = cors(options.cors, options.logsRequests ? entries : undefined, handler);
  handler = headerRules(options.headers, handler);
  if (options.logsRequests) handler = requestLog(entries, clock, options.logsRules, handler);
  return handler;
}

const hasNone = async () => false;
