import type { IncomingMessage } from "node:http";
import { crc32 } from "node:zlib";
import { RpcError } from "../error.ts";
import { LIMITS } from "../limits.ts";
import type { BatchKey } from "../rpc/append.ts";

/** The value of a header; empty if it is absent. */
export function requestHeader(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : "";
}

/** Refuses other types of bodies. A body without a type is taken for the expected one, without a charset for UTF-8. */
export function expectType(request: IncomingMessage, types: readonly string[], { isNeeded = false } = {}): void {
  const header = requestHeader(request, "content-type");
  const type = bodyType(request);
  if ((type !== "" || isNeeded) && !types.includes(type)) {
    const remedy = type === FORM ? `, not ${FORM}, which curl sends by itself: add -H "Content-Type: ${types[0]}"` : "";
    throw new RpcError("unsupported_media_type", `Content-Type: must be ${types[0]}${remedy}`);
  }
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(header)?.[1]?.toLowerCase();
  if (charset === undefined || CHARSETS.has(charset)) return;
  throw new RpcError("unsupported_media_type", "Content-Type: the charset must be utf-8");
}

const FORM = "application/x-www-form-urlencoded";

/** The type of a body without its parameters; empty if it has none. */
export const bodyType = (request: IncomingMessage): string =>
  requestHeader(request, "content-type").split(";")[0]!.trim().toLowerCase();

/** Names of UTF-8 and of its subset ASCII. */
const CHARSETS: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii", "ascii"]);

/** The header Idempotency-Key. */
export function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const key = requestHeader(request, "idempotency-key");
  if (key.length > MAX_KEY_LENGTH) {
    throw new RpcError("invalid", `Idempotency-Key: must have at most ${MAX_KEY_LENGTH} characters`);
  }
  return key || undefined;
}

const MAX_KEY_LENGTH = LIMITS.idempotencyKeyLength;

/** The key by which a batch that is sent again counts once; undefined without the header. */
export function batchKeyOf(idempotencyKey: string | undefined, body: Buffer): BatchKey | undefined {
  if (idempotencyKey === undefined) return undefined;
  // Only has to tell apart batches that one client sent with the same key by mistake. A cryptographic hash takes three times
  // as long.
  const digest = `${crc32(body).toString(36)}.${body.length.toString(36)}`;
  return { idempotencyKey, digest };
}
