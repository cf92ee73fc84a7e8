import { Readable, Transform } from "node:stream";
import { namesHtml } from "../accept.ts";
import { decodedBytes, decodedStream, isDecodable, joined } from "../content-coding.ts";
import type { EntryLog } from "../entries.ts";
import { forbidsTransform, type WeakenedTags, withTagOfClient } from "../etag.ts";
import { type Handler, headerOf, type ProxyRequest, type ProxyResponse, withoutHeaders } from "../exchange.ts";
import { HtmlInjector } from "../html-injector.ts";
import { InjectedText, type Injection } from "../injected-text.ts";

export interface InjectionOptions {
  readonly head: readonly Injection[];
  readonly body: readonly Injection[];
  /** The project's folder, absolute: files are relative to it. */
  readonly directory: string;
}

/** Headers that are wrong for a body that was changed, besides its length. */
const OF_THE_BYTES = new Set([
  "accept-ranges",
  "content-digest",
  "content-encoding",
  "content-length",
  "content-md5",
  "digest",
  "repr-digest",
]);

/**
 * Inserts the head items before a page's `</head>` and the body items before its last `</body>`, while it passes. Pages
 * are HTML responses with a status from 200 to 299 that have a body; a part of one (206) and what says
 * `Cache-Control: no-transform` stay as they are.
 */
export function injection(
  options: InjectionOptions,
  { entries, tags }: { readonly entries: EntryLog; readonly tags: WeakenedTags },
  next: Handler,
): Handler {
  const head = new InjectedText(options.head, options.directory, entries);
  const body = new InjectedText(options.body, options.directory, entries);

  return async (request) => {
    const response = withTagOfClient(request, await next(asksForPage(request) ? asWhole(request) : request));
    if (!isPage(response)) return response;
    if (request.method === "HEAD") return changed(response, undefined, tags);
    const injected = { head: await head.bytes(), body: await body.bytes() };
    if (response.body === undefined || injected.head.length + injected.body.length === 0) return response;
    const plain = await decoded(response);
    if ("asItIs" in plain) return { ...response, body: plain.asItIs };
    if (plain.body instanceof Readable) return changed(response, injectedStream(plain.body, injected), tags);
    if (plain.body === response.body) return inserted(response, response.body as string | Buffer, injected, tags);
    // Without a length, as for a page that came in several packets: its headers must not tell the two apart.
    return changed(response, withInserted(plain.body as Buffer, injected).page, tags);
  };
}

interface Injected {
  readonly head: Buffer;
  readonly body: Buffer;
}

/** A browser says when it navigates to a page. Requests of scripts, players and downloads keep their ranges and codings. */
function asksForPage({ method, headers, path }: ProxyRequest): boolean {
  return (method === "GET" || method === "HEAD") && (namesHtml(headers.accept) || /(\/|\.html?)$/i.test(path));
}

const PARTS_AND_CODINGS = new Set(["range", "if-range", "accept-encoding"]);

/** A part of a page has no place to insert into, and a compressed page would have to be decoded first. */
function asWhole(request: ProxyRequest): ProxyRequest {
  const { range: _, "if-range": __, "accept-encoding": accepts, ...headers } = request.headers;
  const rawHeaders = request.rawHeaders.filter((_, i, all) => !PARTS_AND_CODINGS.has(all[i - (i % 2)]!.toLowerCase()));
  if (accepts === undefined) return { ...request, headers, rawHeaders };
  return {
    ...request,
    headers: { ...headers, "accept-encoding": "identity" },
    rawHeaders: [...rawHeaders, "Accept-Encoding", "identity"],
  };
}

function isPage(response: ProxyResponse): boolean {
  const { status } = response;
  if (response.switched || status < 200 || status > 299 || status === 204 || status === 205 || status === 206) {
    return false;
  }
  const type = headerOf(response, "content-type") ?? "";
  if (!/^\s*text\/html\s*(;|$)/i.test(type) || forbidsTransform(response)) return false;
  // Two or four bytes a character: the tags are not there as ASCII.
  return !/;\s*charset\s*=\s*"?utf-?(16|32)/i.test(type);
}

/** The body without its codings; as it is if one of them is unknown, or the body is not in them. */
async function decoded(
  response: ProxyResponse,
): Promise<{ readonly body: ProxyResponse["body"] } | { readonly asItIs: ProxyResponse["body"] }> {
  const { body } = response;
  const codings = (headerOf(response, "content-encoding") ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  if (codings.length === 0) return { body };
  if (!codings.every(isDecodable)) return { asItIs: body };
  codings.reverse();
  if (body instanceof Readable) return decodedStream(body, codings);
  const plain = await decodedBytes(Buffer.from(body!), codings);
  return plain === undefined ? { asItIs: body } : { body: plain };
}

function changed(response: ProxyResponse, body: ProxyResponse["body"], tags: WeakenedTags): ProxyResponse {
  return { ...response, headers: tags.weakened(withoutHeaders(response.headers, OF_THE_BYTES)), body };
}

/** Pages that are sent again and again, cached files, are read once for each text that is inserted. */
const insertedPages = new WeakMap<Buffer, Injected & { readonly page: Buffer }>();

function inserted(
  response: ProxyResponse,
  body: string | Buffer,
  injected: Injected,
  tags: WeakenedTags,
): ProxyResponse {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  let entry = insertedPages.get(bytes);
  if (entry === undefined || entry.head !== injected.head || entry.body !== injected.body) {
    entry = withInserted(bytes, injected);
    insertedPages.set(bytes, entry);
  }
  const { page } = entry;
  if (page === bytes) return response;
  const whole = changed(response, page, tags);
  return { ...whole, headers: [...whole.headers, ["Content-Length", String(page.length)]] };
}

function withInserted(bytes: Buffer, injected: Injected): Injected & { readonly page: Buffer } {
  const injector = new HtmlInjector(injected.head, injected.body);
  const parts = [...injector.write(bytes), ...injector.end()];
  return { ...injected, page: injector.hasInserted ? Buffer.concat(parts) : bytes };
}

function injectedStream(page: Readable, { head, body }: Injected): Readable {
  const injector = new HtmlInjector(head, body);
  return joined(
    page,
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        for (const part of injector.write(chunk)) this.push(part);
        done();
      },
      flush(done) {
        for (const part of injector.end()) this.push(part);
        done();
      },
    }),
  );
}
