import { type EntrySummary, measuredParts, plain, quiet } from "./part.ts";

/** Longer lines are read as texts: servers bound a request at 8 KB. */
const MAX_LENGTH = 16_384;
/** The end of morgan's lines, from the unit of the time on, is shorter: ` ms - 12`, and a colour. */
const MORGAN_END = 64;
const NONE: ReadonlySet<string> = new Set();

/**
 * The line of an access log: that of nginx and Apache (combined, common, with the host before it), of Python's server, of
 * Django's, of uvicorn, and of morgan for Express. Undefined for all other messages. The request comes first, and the rest of the line
 * after it, without what is empty; its time only if the entry has none, as `hasTime` says.
 */
export function accessLine(message: string, hasTime: boolean): EntrySummary | undefined {
  const line = readAccessLine(message);
  if (line === undefined) return undefined;
  const { request, status, sizeBytes, durationMs, rest, time } = line;
  const others = [...rest, hasTime ? undefined : time].filter((text) => text !== undefined && !EMPTY.test(text));
  return {
    kind: "exchange",
    parts: [
      numberIn(status) === undefined ? quiet(request) : plain(request),
      ...measuredParts({ status: numberIn(status), durationMs: numberIn(durationMs), sizeBytes: numberIn(sizeBytes) }),
      ...(others.length > 0 ? [quiet(others.join(" "))] : []),
    ],
    used: NONE,
    isOfFields: false,
  };
}

/** The parts of such a line. The searches come first: most lines are none, and each line of an app may be asked about. */
export function readAccessLine(message: string): AccessLine | undefined {
  if (message.length > MAX_LENGTH) return undefined;
  if (message.includes('"')) {
    if (message.includes('] "')) return combined(message) ?? django(message);
    if (message.includes(' - "')) return uvicorn(message);
  }
  return message.slice(-MORGAN_END).includes(" ms") ? morgan(message) : undefined;
}

export interface AccessLine {
  /** `GET /a`, or the text in its place if that is no request. */
  readonly request: string;
  /** Three digits, or `-` if there was no answer. */
  readonly status: string | undefined;
  readonly sizeBytes?: string | undefined;
  readonly durationMs?: string | undefined;
  readonly time?: string | undefined;
  readonly rest: readonly (string | undefined)[];
}

const EMPTY = /^-?$/;

const numberIn = (text: string | undefined) => (text === undefined || EMPTY.test(text) ? undefined : Number(text));

/** https://nginx.org/en/docs/http/ngx_http_log_module.html, https://httpd.apache.org/docs/2.4/logs.html#combined */
const COMBINED =
  /^(\S+:\d+ )?(\S+) \S+ (\S+) \[([^\]]{10,40})\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?(.*)$/s;

function combined(message: string): AccessLine | undefined {
  const [, host, ip, user, time, request, status, sizeBytes, referer, agent, more] = COMBINED.exec(message) ?? [];
  if (request === undefined) return undefined;
  return {
    request: withoutProtocol(request),
    ...{ status, sizeBytes, time },
    rest: [ip, user, host?.trim(), referer, agent, more!.trim()],
  };
}

const withoutProtocol = (request: string) => request.replace(/ HTTP\/[\d.]+$/, "") || '""';

/** The line of Django's `runserver`. */
const DJANGO = /^\[(\d\d\/[A-Z][a-z]{2}\/\d{4} \d\d:\d\d:\d\d)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-)$/;

function django(message: string): AccessLine | undefined {
  const [, time, request, status, sizeBytes] = DJANGO.exec(message) ?? [];
  return request === undefined ? undefined : { request: withoutProtocol(request), status, sizeBytes, time, rest: [] };
}

/** The access log of uvicorn; its own level is what the entry's level says. */
const UVICORN = /^(?:INFO: +)?(\S+:\d+) - "([A-Z]{3,16} \S+ HTTP\/[\d.]+)" (\d{3})(?: [A-Za-z' -]{1,40})?$/;

function uvicorn(message: string): AccessLine | undefined {
  const [, client, request, status] = UVICORN.exec(message) ?? [];
  return request === undefined ? undefined : { request: withoutProtocol(request), status, rest: [client] };
}

/** morgan's formats dev, tiny and short: https://github.com/expressjs/morgan#predefined-formats */
const DEV = /^([A-Z-]{3,16} \S+) (\d{3}|-) ([\d.]+|-) ms - (\d+|-)$/;
const TINY = /^([A-Z-]{3,16} \S+) (\d{3}|-) (\d+|-) - ([\d.]+|-) ms$/;
const SHORT = /^(\S+) (\S+) ([A-Z-]{3,16} \S+) HTTP\/[\d.]+ (\d{3}|-) (\d+|-) - ([\d.]+|-) ms$/;

function morgan(message: string): AccessLine | undefined {
  // dev has colours.
  const text = message.includes("\u001b") ? message.replaceAll(COLOR, "") : message;
  const dev = DEV.exec(text);
  if (dev !== null) return { request: dev[1]!, status: dev[2], durationMs: dev[3], sizeBytes: dev[4], rest: [] };
  const tiny = TINY.exec(text);
  if (tiny !== null) return { request: tiny[1]!, status: tiny[2], sizeBytes: tiny[3], durationMs: tiny[4], rest: [] };
  const [, ip, user, request, status, sizeBytes, durationMs] = SHORT.exec(text) ?? [];
  return request === undefined ? undefined : { ...{ request, status, sizeBytes, durationMs }, rest: [ip, user] };
}

const COLOR = /\u001b\[\d{0,3}m/g;
