import { type FileHandle, open, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { acceptedEncodings } from "../accept.ts";
import { contentTypeOf } from "../content-type.ts";
import type { EntryLog } from "../entries.ts";
import { type Handler, type Header, type ProxyRequest, type ProxyResponse, varyBy } from "../exchange.ts";
import { proxyError } from "../proxy-error.ts";
import { findFile, type StaticOptions, servedFile } from "../static-files.ts";

/** The platform's limit for one answer; said here already, where it can still be mended. */
export const MAX_FILE_BYTES = 6 * 1024 * 1024;

/** Siblings that a build may leave beside a file, the smaller one first. */
const PRECOMPRESSED = [
  { coding: "br", ending: ".br" },
  { coding: "gzip", ending: ".gz" },
] as const;

/** The files of the static directory. For type static they are all there is, else what is no file goes further in. */
export function staticFiles(options: StaticOptions, entries: EntryLog, next: Handler): Handler {
  return async (request) => {
    const reads = isRead(request);
    if (options.type === "static" && !reads) {
      return proxyError(request, 405, `${request.method} is not allowed here`, [["Allow", "GET, HEAD"]]);
    }
    const found = reads ? await findFile(request.path, options) : undefined;
    if (found?.kind === "file") return (await serveFile(found.path, request, options, entries)) ?? next(request);
    if (found?.kind === "directory") return toSlashForm(request);
    return next(request);
  };
}

/** Is there a file that `staticFiles` would answer this request with? */
export async function answersFile(request: ProxyRequest, options: StaticOptions): Promise<boolean> {
  return isRead(request) && (await findFile(request.path, options)) !== undefined;
}

/** What stands behind the files where there is no app. */
export const notFound: Handler = async (request) => proxyError(request, 404, "there is no such file");

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

async function serveFile(
  path: string,
  request: ProxyRequest,
  options: StaticOptions,
  entries: EntryLog,
): Promise<ProxyResponse | undefined> {
  const variant = await chooseVariant(path, request, options);
  // It may be gone or unreadable since it was found; then it is as if it were not there.
  const file = await open(variant.path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat({ bigint: true });
    const bytes = Number(stats.size);
    if (bytes > MAX_FILE_BYTES) {
      entries.write("error", "static file is over the limit", {
        path: request.path,
        size: bytes,
        limit: MAX_FILE_BYTES,
      });
      await file.close();
      return proxyError(request, 500, `the file has ${bytes} bytes, a served file at most ${MAX_FILE_BYTES} (6 MB)`);
    }
    const etag = `"${bytes.toString(16)}-${stats.mtimeNs.toString(16)}${variant.coding ? `-${variant.coding}` : ""}"`;
    const modified = new Date(Number(stats.mtimeMs)).toUTCString();
    const headers: Header[] = [
      ["Content-Type", contentTypeOf(path)],
      ...(variant.coding ? ([["Content-Encoding", variant.coding]] as const) : []),
      ["ETag", etag],
      ["Last-Modified", modified],
      ["Accept-Ranges", "bytes"],
    ];
    const answer = decide(request, { bytes, etag, modified });
    const response = await answerWith(file, answer, bytes, headers, request);
    return variant.negotiated ? { ...response, headers: varyBy(response.headers, "Accept-Encoding") } : response;
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
}

interface Variant {
  readonly path: string;
  readonly coding?: string;
  /** There are siblings, so that another client may get another answer. */
  readonly negotiated: boolean;
}

async function chooseVariant(path: string, request: ProxyRequest, options: StaticOptions): Promise<Variant> {
  const root = await realpath(resolve(options.directory, options.dir));
  const siblings = new Map<string, string>();
  for (const { coding, ending } of PRECOMPRESSED) {
    const sibling = await servedFile(path + ending, root, options);
    if (sibling !== undefined) siblings.set(coding, sibling);
  }
  const [coding] = acceptedEncodings(request.headers["accept-encoding"] as string | undefined, [...siblings.keys()]);
  const negotiated = siblings.size > 0;
  return coding === undefined ? { path, negotiated } : { path: siblings.get(coding)!, coding, negotiated };
}

type Answer =
  | { readonly status: 200 | 304 | 416 }
  | { readonly status: 206; readonly first: number; readonly last: number };

/** Conditional requests and ranges, RFC 9110, sections 13 and 14. */
function decide(request: ProxyRequest, file: { bytes: number; etag: string; modified: string }): Answer {
  const { headers } = request;
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    if (matchesEtag(ifNoneMatch, file.etag)) return { status: 304 };
  } else if (headers["if-modified-since"] !== undefined) {
    if (Date.parse(file.modified) <= Date.parse(headers["if-modified-since"])) return { status: 304 };
  }

  const { range } = headers;
  const ifRange = headers["if-range"];
  const isFresh = ifRange === undefined || ifRange === file.etag || ifRange === file.modified;
  if (range === undefined || request.method !== "GET" || !isFresh) return { status: 200 };
  // Several ranges, other units and what is no range are answered with the whole file, as section 14.2 allows.
  const single = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/.exec(range.trim());
  if (single === null) return { status: 200 };
  const [, from, to, suffix] = single;
  const first = from === undefined ? Math.max(0, file.bytes - Number(suffix)) : Number(from);
  const last = from === undefined || to === "" ? file.bytes - 1 : Math.min(Number(to), file.bytes - 1);
  if (from !== undefined && to !== "" && Number(to) < Number(from)) return { status: 200 };
  return first > last ? { status: 416 } : { status: 206, first, last };
}

/** Weak comparison: the tags' opaque parts are the same. */
function matchesEtag(header: string, etag: string): boolean {
  return header.split(",").some((part) => {
    const tag = part.trim();
    return tag === "*" || tag.replace(/^W\//, "") === etag;
  });
}

async function answerWith(
  file: FileHandle,
  answer: Answer,
  bytes: number,
  headers: Header[],
  request: ProxyRequest,
): Promise<ProxyResponse> {
  if (answer.status === 304) {
    await file.close();
    return { status: 304, headers: headers.filter(([name]) => !/^Content-/.test(name)), body: undefined };
  }
  if (answer.status === 416) {
    await file.close();
    return proxyError(request, 416, `the file has ${bytes} bytes`, [["Content-Range", `bytes */${bytes}`]]);
  }
  const first = answer.status === 206 ? answer.first : 0;
  const last = answer.status === 206 ? answer.last : bytes - 1;
  headers.push(["Content-Length", String(last - first + 1)]);
  if (answer.status === 206) headers.push(["Content-Range", `bytes ${first}-${last}/${bytes}`]);
  if (request.method === "HEAD" || bytes === 0) {
    await file.close();
    return { status: answer.status, headers, body: undefined };
  }
  return { status: answer.status, headers, body: file.createReadStream({ start: first, end: last }) };
}
