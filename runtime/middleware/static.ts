import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import type { Clock } from "../../grammar/units/clock.ts";
import { acceptedEncodings } from "../accept.ts";
import { answerTo } from "../conditional.ts";
import type { EntryLog } from "../entries.ts";
import {
  type AnsweringRule,
  type Handler,
  type Header,
  headerOf,
  type ProxyRequest,
  type ProxyResponse,
  varyBy,
} from "../exchange.ts";
import { type CachedFile, FileCache, type FileVersion, isDated, openVersion, versionOf } from "../file-cache.ts";
import { proxyError } from "../proxy-error.ts";
import { ServedFolder } from "../served-folder.ts";
import {
  contentTypeOf,
  findFile,
  namedPath,
  type StaticMatch,
  type StaticOptions,
  servedFile,
} from "../static-files.ts";

/** The platform's limit for one answer, enforced locally too, where it can still be fixed. */
export const MAX_FILE_BYTES = 6 * 1024 * 1024;

/** Siblings that a build may put next to a file, the smaller one first. */
const PRECOMPRESSED = [
  { coding: "br", ending: ".br" },
  { coding: "gzip", ending: ".gz" },
] as const;

export interface StaticFiles {
  /** For type static nothing else is served; for others, a request that names no file goes to the next handler. */
  readonly handler: Handler;
  /** Is there a file that the handler would answer this request with? */
  readonly answers: (request: ProxyRequest) => Promise<boolean>;
}

/** The parts that serving a file needs besides the request. */
interface Site {
  readonly options: StaticOptions;
  readonly entries: EntryLog;
  readonly folder: ServedFolder;
  readonly cache: FileCache;
}

const STATIC: AnsweringRule = { kind: "static" };

/** The files of the static directory. Those that were served last are kept in memory. */
export function staticFiles(
  options: StaticOptions,
  { entries, clock }: { readonly entries: EntryLog; readonly clock: Clock },
  next: Handler,
): StaticFiles {
  const cache = new FileCache(clock);
  const folder = new ServedFolder(options, clock);
  const site: Site = { options, entries, folder, cache };
  const nameRefused = options.namesRefused ? refusedNamer(entries) : undefined;

  const find = async (request: ProxyRequest): Promise<Served | StaticMatch | undefined> => {
    if (!isRead(request)) return undefined;
    if (folder.refresh()) cache.clear();
    const cacheKey = namedPath(request.path, options);
    const file = cacheKey && cache.get(cacheKey);
    return file ? { kind: "served", cacheKey: cacheKey!, file } : findFile(request.path, options, folder);
  };

  const handler: Handler = async (request) => {
    if (options.type === "static" && !isRead(request)) {
      return proxyError(request, 405, `${request.method} is not allowed here`, [["Allow", "GET, HEAD"]]);
    }
    const match = await find(request);
    if (match === undefined) return next(request);
    if (match.kind === "refused") {
      const response = await next(request);
      nameRefused?.(request, match.reason, response);
      return response;
    }
    if (match.kind === "directory") return { ...toSlashForm(request), rule: STATIC };
    const served = match.kind === "served" ? match : await load(match.path, request, site);
    // The file may have been removed or replaced since it was found: look once more, then treat it as missing.
    const response = (served && (await serve(served, request, site))) ?? (await again(request));
    return response === undefined ? next(request) : { ...response, rule: STATIC };
  };

  async function again(request: ProxyRequest): Promise<ProxyResponse | undefined> {
    const match = await findFile(request.path, options, folder);
    const served = match?.kind === "file" ? await load(match.path, request, site) : undefined;
    return served && serve(served, request, site);
  }

  const answers = async (request: ProxyRequest) => {
    const match = await find(request);
    return match !== undefined && match.kind !== "refused";
  };
  return { handler, answers };
}

/** More files than are requested by mistake in any project; scanners for vulnerabilities request many. */
const MAX_NAMED = 100;

/** Names each file once, unless the app answers the path itself. */
function refusedNamer(entries: EntryLog) {
  const named = new Set<string>();
  return (request: ProxyRequest, reason: string, response: ProxyResponse) => {
    const { path } = request;
    if (named.has(path) || named.size >= MAX_NAMED) return;
    // Apps with pages of their own answer unknown paths with one of them.
    const isPage = /^\s*text\/html\b/i.test(headerOf(response, "content-type") ?? "");
    if (response.status < 400 && (!isPage || /\.x?html?$/i.test(path))) return;
    named.add(path);
    entries.write("warn", "file is not served", { path, reason });
  };
}

/** The last handler of a static site, which has no app. */
export const notFoundHandler: Handler = async (request) => proxyError(request, 404, "there is no such file");

interface Served {
  readonly kind: "served";
  /** Its key in the cache: the path that `namedPath` returns. */
  readonly cacheKey: string;
  readonly file: CachedFile;
}

function isRead(request: ProxyRequest): boolean {
  return (request.method === "GET" || request.method === "HEAD") && request.upgrade === undefined;
}

/** A browser resolves the page's relative links below it only in this form. `//evil` and `/\evil` would leave the site. */
function toSlashForm(request: ProxyRequest): ProxyResponse {
  const location = `${request.path.replace(/^[/\\]+/, "/")}/${request.query}`;
  return {
    status: 301,
    headers: [
      ["Location", location],
      ["Content-Length", "0"],
    ],
    body: undefined,
  };
}

/** Looks at a file and its siblings, and puts what it finds into the cache. */
async function load(path: string, request: ProxyRequest, site: Site): Promise<Served | undefined> {
  const { options, folder, cache } = site;
  const plain = versionOf(path);
  if (plain === undefined) return undefined;
  const root = await realpath(resolve(options.directory, options.dir));
  const siblings = new Map<string, FileVersion>();
  const absent: string[] = [];
  for (const { coding, ending } of PRECOMPRESSED) {
    const sibling = await servedFile(path + ending, root, folder);
    const version = sibling === undefined ? undefined : versionOf(sibling);
    if (version === undefined) absent.push(path + ending);
    else siblings.set(coding, version);
  }
  const cacheKey = namedPath(request.path, options)!;
  const file: CachedFile = { plain, siblings, contents: new Map() };
  cache.set(cacheKey, file, absent);
  return { kind: "served", cacheKey, file };
}

/** Undefined if the file has changed since it was looked at. */
async function serve(
  { cacheKey, file }: Served,
  request: ProxyRequest,
  site: Site,
): Promise<ProxyResponse | undefined> {
  const { entries, cache } = site;
  const accepts = request.headers["accept-encoding"] as string | undefined;
  const [coding] = file.siblings.size === 0 ? [] : acceptedEncodings(accepts, [...file.siblings.keys()]);
  const version = coding === undefined ? file.plain : file.siblings.get(coding)!;
  const response = await answer(version, coding);
  // Another client may get another answer.
  if (file.siblings.size === 0 || response === undefined) return response;
  return { ...response, headers: varyBy(response.headers, "Accept-Encoding") };

  async function answer(version: FileVersion, coding: string | undefined): Promise<ProxyResponse | undefined> {
    const { bytes, modifiedMs } = version;
    if (bytes > MAX_FILE_BYTES) {
      entries.write("error", "static file is over the limit", {
        path: request.path,
        size: bytes,
        limit: MAX_FILE_BYTES,
      });
      return proxyError(request, 500, `the file has ${bytes} bytes, a served file at most ${MAX_FILE_BYTES} (6 MB)`);
    }
    const isTimed = isDated(version);
    const mark = isTimed ? markOf(version) : await cache.digest(cacheKey, file, version);
    if (mark === undefined) return undefined;
    // A sibling is another body, so that it has another tag.
    const etag = coding === undefined ? `"${mark}"` : `"${mark}-${coding}"`;
    const decision = answerTo(request, { bytes, etag, ...(isTimed && { modifiedMs }) });
    const validators: Header[] = [["ETag", etag]];
    if (isTimed) validators.push(["Last-Modified", new Date(modifiedMs).toUTCString()]);
    if (decision.status === 304) return { status: 304, headers: validators, body: undefined };
    if (decision.status === 412) return proxyError(request, 412, "the file is not the one that the request is about");
    if (decision.status === 416) {
      return proxyError(request, 416, `the file has ${bytes} bytes`, [["Content-Range", `bytes */${bytes}`]]);
    }
    const [first, last] = decision.status === 206 ? [decision.first, decision.last] : [0, bytes - 1];
    const headers: Header[] = [["Content-Type", contentTypeOf(file.plain.path)]];
    if (coding !== undefined) headers.push(["Content-Encoding", coding]);
    headers.push(...validators, ["Accept-Ranges", "bytes"], ["Content-Length", String(last - first + 1)]);
    if (decision.status === 206) headers.push(["Content-Range", `bytes ${first}-${last}/${bytes}`]);
    if (request.method === "HEAD" || bytes === 0) return { status: decision.status, headers, body: undefined };
    const body = await bodyOf(version, first, last);
    return body && { status: decision.status, headers, body };
  }

  async function bodyOf(version: FileVersion, first: number, last: number): Promise<Buffer | Readable | undefined> {
    const content = await cache.content(cacheKey, file, version);
    // Pass on the cached buffer itself: outer middlewares key their caches by its identity.
    if (content !== undefined) return last - first + 1 === content.length ? content : content.subarray(first, last + 1);
    const handle = await openVersion(version);
    // An error before anybody listens would end the process.
    return handle?.createReadStream({ start: first, end: last }).on("error", () => {});
  }
}

/** A JavaScript number holds a file's time to the microsecond. */
function markOf({ bytes, modifiedMs }: FileVersion): string {
  return `${bytes.toString(16)}-${Math.round(modifiedMs * 1000).toString(16)}`;
}
