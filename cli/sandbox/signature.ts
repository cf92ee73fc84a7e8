// Who signed a request: AWS Signature Version 4 ("Create a signed AWS API request"), checked as the services do.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AwsError } from "./cloud/protocol/error.ts";

export interface SignedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The scope of a signature. */
export interface CredentialScope {
  readonly accessKeyId: string;
  /** `YYYYMMDD` */
  readonly day: string;
  readonly region: string;
  readonly service: string;
}

const SCOPE = /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request[,\s]/;

/** "The request timestamp must be within 15 minutes of the system time." */
const MAX_SKEW_MS = 15 * 60 * 1000;

/** The scope of a signed request; undefined if nothing is signed. Checks nothing. */
export function credentialScopeOf(headers: IncomingHttpHeaders): CredentialScope | undefined {
  const [, accessKeyId, day, region, service] = SCOPE.exec(headers.authorization ?? "") ?? [];
  if (accessKeyId === undefined || day === undefined || region === undefined || service === undefined) return undefined;
  return { accessKeyId, day, region, service };
}

/** Throws an `AwsError` if the signature is not that of the secret key, or is too old. */
export function checkSignature(request: SignedRequest, scope: CredentialScope, secretKey: string, nowMs: number): void {
  const { headers } = request;
  const authorization = headers.authorization ?? "";
  const names = /SignedHeaders=([^,\s]+)/.exec(authorization)?.[1]?.split(";") ?? [];
  const signature = /Signature=([0-9a-f]{64})(?:[,\s]|$)/.exec(authorization)?.[1] ?? "";
  const time = String(headers["x-amz-date"] ?? "");
  const timeMs = timeOf(time);
  if (timeMs === undefined || !time.startsWith(scope.day) || !names.includes("host")) {
    throw new AwsError("IncompleteSignature", "The signature has no time, or not that of its scope.", 403);
  }
  if (Math.abs(nowMs - timeMs) > MAX_SKEW_MS) {
    throw new AwsError("RequestExpired", `The signature is of ${time}, which is not now.`, 403);
  }
  const payload = payloadHash(request);
  if (payload === undefined) {
    throw new AwsError("InvalidSignatureException", "The body is not the one that was signed.", 403);
  }
  if (!isEqual(signatureOf(request, { scope, names, time, payload }, secretKey), Buffer.from(signature, "hex"))) {
    throw new AwsError("SignatureDoesNotMatch", "The request is not signed with this sandbox's key.", 403);
  }
}

/** The headers that sign a request to a host, for calls without an SDK. */
export function signatureHeaders(
  request: SignedRequest,
  { accessKeyId, region, service }: Omit<CredentialScope, "day">,
  secretKey: string,
  nowMs: number,
): Record<string, string> {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const scope: CredentialScope = { accessKeyId, region, service, day: time.slice(0, 8) };
  const payload = sha256(request.body);
  const headers = { host: request.headers.host ?? "", "x-amz-date": time, "x-amz-content-sha256": payload };
  const names = Object.keys(headers).sort();
  const signature = signatureOf({ ...request, headers }, { scope, names, time, payload }, secretKey).toString("hex");
  const credential = `${accessKeyId}/${scope.day}/${region}/${service}/aws4_request`;
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}

interface Signing {
  readonly scope: CredentialScope;
  readonly names: readonly string[];
  readonly time: string;
  readonly payload: string;
}

function signatureOf(request: SignedRequest, { scope, names, time, payload }: Signing, secretKey: string): Buffer {
  const canonical = [
    request.method,
    canonicalPath(request.target, scope.service),
    canonicalQuery(request.target),
    ...names.map((name) => `${name}:${headerText(request.headers[name])}`),
    "",
    names.join(";"),
    payload,
  ].join("\n");
  const { day, region, service } = scope;
  const text = ["AWS4-HMAC-SHA256", time, `${day}/${region}/${service}/aws4_request`, sha256(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<Buffer | string>(hmac, `AWS4${secretKey}`);
  return hmac(key, text);
}

const hmac = (key: Buffer | string, text: string) => createHmac("sha256", key).update(text).digest();
const sha256 = (data: Buffer | string) => createHash("sha256").update(data).digest("hex");
const isEqual = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b);

/** `20261123T101112Z` in milliseconds. */
function timeOf(text: string): number | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  return year === undefined ? undefined : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** The hash that was signed, if the body is what it says; S3's clients may leave a body unsigned. */
function payloadHash({ headers, body }: SignedRequest): string | undefined {
  const said = headers["x-amz-content-sha256"];
  if (said === "UNSIGNED-PAYLOAD" || said === "STREAMING-UNSIGNED-PAYLOAD-TRAILER") return said;
  const actual = sha256(body);
  return said === undefined || said === actual ? actual : undefined;
}

/** S3's path is signed as it is, that of all others encoded once more. */
function canonicalPath(target: string, service: string): string {
  const [path = "/"] = target.split("?", 1);
  if (service === "s3") return path;
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  const end = path.endsWith("/") && segments.length > 0 ? "/" : "";
  return `/${segments.map(encoded).join("/")}${end}`;
}

function canonicalQuery(target: string): string {
  const at = target.indexOf("?");
  if (at === -1) return "";
  return target
    .slice(at + 1)
    .split("&")
    .filter(Boolean)
    .map((part) => {
      const [name = "", ...value] = part.split("=");
      return [encoded(decoded(name)), encoded(decoded(value.join("=")))] as const;
    })
    .sort(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

const headerText = (value: string | string[] | undefined) =>
  String(value ?? "")
    .trim()
    .replace(/\s+/g, " ");
