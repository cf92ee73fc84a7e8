import { isUtf8 } from "node:buffer";
import type { Header, ProxyResponse } from "../exchange.ts";
import type { HttpEvent } from "./event.ts";
import { withStagePrefix } from "./stage-prefix.ts";

/** A gateway sends 10 MB, but the platform accepts 6 MB from a function: the size of the document with the answer. */
export const MAX_DOCUMENT_BYTES = 6 * 1024 * 1024;

/** The gateways look for the end of a streamed answer's head within its first 16 KB. */
export const MAX_HEAD_BYTES = 16 * 1024;

/** Eight NULs separate the head and the body of a streamed answer. */
export const HEAD_END = Buffer.alloc(8);

/** The parts of the event that an answer depends on. */
export type GatewayRecipient = Pick<HttpEvent, "format" | "stagePrefix" | "host">;

/** The document with which a function answers a gateway that waits for the whole, as JSON. */
export function answerDocument(to: GatewayRecipient, response: ProxyResponse, body: Buffer): string {
  const isText = isTextLike(response) && isUtf8(body);
  return JSON.stringify({
    ...head(to, response),
    body: body.toString(isText ? "utf8" : "base64"),
    isBase64Encoded: !isText && body.length > 0,
  });
}

/** The head of a streamed answer; the body follows HEAD_END as it is. */
export function streamHead(to: GatewayRecipient, response: ProxyResponse): Buffer {
  return Buffer.from(JSON.stringify(head(to, response)));
}

/** Format 1.0 keeps repeated headers apart; format 2.0 has a list for cookies and joins all else. */
function head({ format, stagePrefix, host }: GatewayRecipient, { status, headers }: ProxyResponse): object {
  const values = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of withStagePrefix(headers, stagePrefix, host)) {
    const key = name.toLowerCase();
    const header = values.get(key) ?? { name, values: [] };
    header.values.push(inUnicode(value));
    values.set(key, header);
  }
  if (format === "rest") {
    const multiValueHeaders = Object.fromEntries([...values.values()].map((header) => [header.name, header.values]));
    return { statusCode: status, multiValueHeaders };
  }
  const cookies = values.get("set-cookie")?.values ?? [];
  values.delete("set-cookie");
  const single = Object.fromEntries([...values.values()].map((header) => [header.name, header.values.join(", ")]));
  return { statusCode: status, headers: single, ...(cookies.length > 0 && { cookies }) };
}

const TEXT_TYPE =
  /^\s*(?:text\/|application\/(?:json|xml|javascript|ecmascript|x-javascript|x-www-form-urlencoded|[\w.-]+\+(?:json|xml))\s*(?:;|$)|image\/svg\+xml\s*(?:;|$))/i;

/** Everything else goes as base64: a gateway would read its bytes as characters. */
function isTextLike({ headers }: ProxyResponse): boolean {
  const value = (name: string) => headers.find(([own]: Header) => own.toLowerCase() === name)?.[1];
  const coding = value("content-encoding")?.trim().toLowerCase() ?? "";
  return (coding === "" || coding === "identity") && TEXT_TYPE.test(value("content-type") ?? "");
}

/** An app's bytes beyond ASCII are mostly UTF-8; a gateway writes characters in UTF-8. */
function inUnicode(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\x00-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString() : value;
}
