// Signature Version 4 ("Create a signed AWS API request") for the one service that the runtime calls: the SDK would be many
// times the rest of the runtime.
import { createHash, createHmac } from "node:crypto";

export interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Absent for keys that do not expire. */
  readonly sessionToken?: string | undefined;
}

export interface RequestToSign {
  readonly method: string;
  /** Without a query. */
  readonly url: URL;
  /** Lower-case names. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SigningScope {
  readonly keys: Keys;
  readonly region: string;
  readonly service: string;
  /** Milliseconds since 1970. The service refuses a signature whose time is some minutes off. */
  readonly nowMs: number;
}

/** All headers to send: those of the request, and those of the signature. For all services but S3, which signs paths otherwise. */
export function signedHeaders(request: RequestToSign, scope: SigningScope): Record<string, string> {
  const { keys, region, service, nowMs } = scope;
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const headers: Record<string, string> = { ...request.headers, host: request.url.host, "x-amz-date": time };
  if (keys.sessionToken !== undefined) headers["x-amz-security-token"] = keys.sessionToken;
  const names = Object.keys(headers).sort();
  const signed = names.join(";");
  const canonical = [
    request.method,
    canonicalPath(request.url.pathname),
    "",
    ...names.map((name) => `${name}:${headers[name]!.trim().replace(/\s+/g, " ")}`),
    "",
    signed,
    sha256(request.body),
  ].join("\n");
  const credential = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, credential, sha256(canonical)].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${keys.secretAccessKey}`);
  const signature = hmac(key, text).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${credential}, SignedHeaders=${signed}, Signature=${signature}`;
  return { ...headers, authorization };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/** The path as it is sent, encoded once more. */
function canonicalPath(path: string): string {
  const segments = path.split("/").filter((segment) => segment !== "");
  const end = segments.length > 0 && path.endsWith("/") ? "/" : "";
  return `/${segments.map(encoded).join("/")}${end}`;
}

/** All but unreserved characters, also those that encodeURIComponent leaves. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
