import { acceptedEncodings, refusesIdentity } from "../accept.ts";
import { type Coding, compressedBody, compressedStream } from "../content-coding.ts";
import { forbidsTransform, type WeakenedTags, withTagOfClient } from "../etag.ts";
import {
  type Handler,
  headerOf,
  isStream,
  type ProxyRequest,
  type ProxyResponse,
  varyBy,
  withoutHeaders,
} from "../exchange.ts";

/** If the client prefers neither, the one that compresses better comes first. */
const OFFERED: readonly Coding[] = ["br", "gzip"];

/** Less fits in one packet anyway, and the coding's own header costs what it saves. */
const MIN_BYTES = 1024;

/** Text in all its forms, and the few binary formats that are not compressed already. */
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)[^;]*|(?:application|image|model|message)\/[^;]*\+(?:json|xml|text|yaml)|application\/(?:json|javascript|ecmascript|x-javascript|xml|xml-dtd|wasm|x-ndjson|ndjson|jsonl|graphql|rtf|sql|toml|yaml|x-yaml|x-www-form-urlencoded|x-sh|vnd\.ms-fontobject|x-font-ttf|postscript)|image\/(?:bmp|x-icon|vnd\.microsoft\.icon)|font\/(?:ttf|otf|collection))\s*(?:;|$)/i;

/** Headers that are only true of the exact bytes of the body. */
const OF_THE_BYTES = ["content-range", "content-md5", "content-digest", "digest", "repr-digest"];

/** Headers that are true of the plain body only: its length, and that ranges of it can be requested. */
const OF_THE_PLAIN_BODY = new Set(["content-length", "content-encoding", "accept-ranges"]);

/**
 * Compresses text for clients that accept it. Responses that have a coding already, parts of a body, event streams and
 * responses with `Cache-Control: no-transform` stay as they are; so do errors, as an error page may still replace them.
 */
export function compression(tags: WeakenedTags, next: Handler): Handler {
  return async (request) => {
    const response = withTagOfClient(request, await next(tags.restored(request)));
    const accepts = request.headers["accept-encoding"] as string | undefined;
    if (!isCompressible(request, response, refusesIdentity(accepts))) return response;
    const plain = { ...response, headers: varyBy(response.headers, "Accept-Encoding") };
    const [coding] = acceptedEncodings(accepts, OFFERED) as Coding[];
    // A client that accepts neither a coding nor the plain body gets the plain one anyway: the app has done its work.
    if (coding === undefined) return plain;

    const headers = tags.weakened(withoutHeaders(plain.headers, OF_THE_PLAIN_BODY));
    // A GET would be compressed, so its length and its tag are not those of the plain body.
    if (request.method === "HEAD") return { ...response, headers };
    const { body } = response;
    if (isStream(body)) {
      return { ...response, headers: [...headers, ["Content-Encoding", coding]], body: compressedStream(body, coding) };
    }
    const compressed = await compressedBody(body!, coding);
    headers.push(["Content-Encoding", coding]);
    // Whether a body without a length is whole or a stream depends on how its packets came: its headers must not depend on
    // that.
    if (lengthOf(request, response) !== undefined) {
      if (compressed.length >= Buffer.byteLength(body!) && !refusesIdentity(accepts)) return plain;
      headers.push(["Content-Length", String(compressed.length)]);
    }
    return { ...response, headers, body: compressed };
  };
}

/** `whatever`: the client refuses the plain body, so that neither type nor size count. */
function isCompressible(request: ProxyRequest, response: ProxyResponse, whatever: boolean): boolean {
  const { status, body } = response;
  if (response.switched || status < 200 || status === 204 || status === 205 || status === 206 || status === 304) {
    return false;
  }
  if (status >= 400 || (body === undefined && request.method !== "HEAD")) return false;
  if ((headerOf(response, "content-encoding") ?? "identity").trim().toLowerCase() !== "identity") return false;
  if (OF_THE_BYTES.some((name) => headerOf(response, name) !== undefined)) return false;
  if (forbidsTransform(response)) return false;
  const type = headerOf(response, "content-type") ?? "";
  if (/^\s*text\/event-stream\b/i.test(type)) return false;
  const bytes = lengthOf(request, response);
  if (bytes === 0) return false;
  return whatever || (COMPRESSIBLE.test(type.trim()) && (bytes === undefined || bytes >= MIN_BYTES));
}

/** Undefined if the response does not have it. */
function lengthOf({ method }: ProxyRequest, response: ProxyResponse): number | undefined {
  const { body } = response;
  // The answer to a HEAD has no body, whatever a GET would have.
  if (typeof body === "string" && method !== "HEAD") return Buffer.byteLength(body);
  const length = headerOf(response, "content-length");
  return length === undefined ? undefined : Number(length);
}
