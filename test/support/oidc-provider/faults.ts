// The faults of a hostile or broken provider, and the refusal of each sign-in with it.
import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { OidcRefusalKind } from "../../../logservice/account/oidc.ts";
import { CLIENT, type Fault, type Handler, type Json, jwt, newKeys, type Route, signedBy } from "./own.ts";

/** Only such a row waits for the time to be over. */
export const NO_ANSWER = /did not answer/;

export interface FaultRow {
  readonly name: string;
  readonly kind: OidcRefusalKind;
  /** In the message. */
  readonly says: RegExp;
  readonly fault: Fault;
  /** Also a row of the fast test. */
  readonly isCore?: true;
}

const nowS = () => Math.floor(Date.now() / 1000);
const hmac = (secret: string) => (text: string) => createHmac("sha256", secret).update(text).digest();
const other = newKeys("1");
const small = newKeys("1", 1024);
const withClaims = (change: Json): Fault => ({ claims: (claims) => ({ ...claims, ...change }) });
/** The person's address is asked for at userinfo then. */
const withoutEmail = (claims: Json): Json => ({ ...claims, email: undefined });
/** All algorithms, as a document of a hostile provider would list them. */
const listsAll = (document: Json): Json => ({
  ...document,
  id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
});

const TOKENS: readonly FaultRow[] = [
  {
    name: "the issuer is another one",
    kind: "invalid",
    says: /"iss"/,
    fault: withClaims({ iss: "https://other.example.com" }),
    isCore: true,
  },
  {
    name: "the audience is another client",
    kind: "invalid",
    says: /"aud"/,
    fault: withClaims({ aud: "other" }),
    isCore: true,
  },
  {
    name: "two audiences, no authorized party",
    kind: "invalid",
    says: /"aud"/,
    fault: withClaims({ aud: [CLIENT.clientId, "other"] }),
  },
  {
    name: "two audiences, the other one authorized",
    kind: "invalid",
    says: /"azp"/,
    fault: withClaims({ aud: [CLIENT.clientId, "other"], azp: "other" }),
  },
  { name: "expired", kind: "invalid", says: /"exp"/, fault: withClaims({ exp: nowS() - 120 }), isCore: true },
  { name: "no expiry", kind: "invalid", says: /"exp"/, fault: withClaims({ exp: undefined }) },
  { name: "not valid yet", kind: "invalid", says: /"nbf"/, fault: withClaims({ nbf: nowS() + 600 }) },
  { name: "no nonce", kind: "invalid", says: /"nonce"/, fault: withClaims({ nonce: undefined }) },
  { name: "another nonce", kind: "invalid", says: /"nonce"/, fault: withClaims({ nonce: "other" }), isCore: true },
  { name: "no subject", kind: "invalid", says: /"sub"/, fault: withClaims({ sub: undefined }) },
  { name: "an empty subject", kind: "invalid", says: /names nobody/, fault: withClaims({ sub: "" }) },
  {
    name: "a subject of 256 characters",
    kind: "invalid",
    says: /names nobody/,
    fault: withClaims({ sub: "s".repeat(256) }),
  },
  { name: "a subject of two lines", kind: "invalid", says: /names nobody/, fault: withClaims({ sub: "a\nb" }) },
  {
    name: "the signature is by another key of the same id",
    kind: "invalid",
    says: /signature verification failed/,
    fault: { token: (claims) => signedBy(other, claims) },
    isCore: true,
  },
  {
    name: "the key is not published",
    kind: "invalid",
    says: /no applicable keys/,
    fault: { token: (claims) => signedBy({ ...other, kid: "9" }, claims) },
  },
  {
    name: "the key is in the token",
    kind: "invalid",
    says: /signature verification failed/,
    fault: {
      token: (claims) => signedBy(other, claims, { jwk: other.publicKey.export({ format: "jwk" }) }),
    },
  },
  {
    name: "the key is too small",
    kind: "invalid",
    says: /modulusLength/,
    fault: {
      token: (claims) => signedBy(small, claims),
      keys: () => [{ ...small.publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256" }],
    },
  },
  {
    name: "no signature",
    kind: "invalid",
    says: /signature verification failed/,
    fault: { token: (claims, own) => signedBy(own, claims).replace(/[^.]+$/, "") },
  },
  {
    name: "claims that were changed after signing",
    kind: "invalid",
    says: /signature verification failed/,
    fault: {
      token: (claims, own) => {
        const [header, , signature] = signedBy(own, claims).split(".");
        const changed = Buffer.from(JSON.stringify({ ...claims, sub: "somebody else" })).toString("base64url");
        return `${header}.${changed}.${signature}`;
      },
    },
    isCore: true,
  },
  {
    name: "alg none",
    kind: "invalid",
    says: /"alg"/,
    fault: { token: (claims) => jwt({ alg: "none" }, claims, () => Buffer.alloc(0)) },
    isCore: true,
  },
  {
    name: "alg none, and the document lists it",
    kind: "invalid",
    says: /unsupported JWS/,
    fault: { token: (claims) => jwt({ alg: "none" }, claims, () => Buffer.alloc(0)), document: listsAll },
  },
  {
    name: "HS256 by the client secret",
    kind: "invalid",
    says: /"alg"/,
    fault: { token: (claims) => jwt({ alg: "HS256" }, claims, hmac(CLIENT.clientSecret)) },
  },
  {
    name: "HS256 by the client secret, and the document lists it",
    kind: "invalid",
    says: /unsupported JWS/,
    fault: { token: (claims) => jwt({ alg: "HS256" }, claims, hmac(CLIENT.clientSecret)), document: listsAll },
  },
  {
    name: "HS256 by the public key, and the document lists it",
    kind: "invalid",
    says: /unsupported JWS/,
    fault: {
      token: (claims, own) =>
        jwt(
          { alg: "HS256", kid: own.kid },
          claims,
          hmac(String(own.publicKey.export({ type: "spki", format: "pem" }))),
        ),
      document: listsAll,
    },
    isCore: true,
  },
  {
    name: "a header that must be understood",
    kind: "invalid",
    says: /"crit"/,
    fault: { token: (claims, own) => signedBy(own, claims, { crit: ["x"], x: 1 }) },
  },
  { name: "encrypted", kind: "invalid", says: /JWE/, fault: { token: () => "a.b.c.d.e" } },
  { name: "no JWT", kind: "invalid", says: /Invalid JWT/, fault: { token: () => "text" } },
  { name: "no ID token", kind: "invalid", says: /"id_token"/, fault: { token: () => undefined }, isCore: true },
  { name: "an ID token that is a number", kind: "invalid", says: /"id_token"/, fault: { token: () => 7 } },
  {
    name: "no access token",
    kind: "invalid",
    says: /"access_token"/,
    fault: { tokens: (all) => ({ ...all, access_token: "" }) },
  },
  { name: "no key at all", kind: "invalid", says: /no applicable keys/, fault: { keys: () => [] } },
  { name: "keys that are none", kind: "invalid", says: /keys/, fault: { keys: () => [7, null] } },
  {
    name: "a key that cannot be imported",
    kind: "invalid",
    says: /not well-formed/,
    fault: { keys: () => [{ kty: "RSA", kid: "1", alg: "RS256", e: "AQAB" }] },
  },
];

const CALLBACKS: readonly FaultRow[] = [
  {
    name: "the person cancels",
    kind: "denied",
    says: /^127\.0\.0\.1:\d+ did not let you sign in, or you cancelled: "access_denied"\. Sign in again, or in another way\.$/,
    fault: { callback: becomesError("access_denied") },
    isCore: true,
  },
  {
    name: "the provider fails",
    kind: "unavailable",
    says: /"server_error"/,
    fault: { callback: becomesError("server_error") },
  },
  {
    name: "another error",
    kind: "invalid",
    says: /"invalid_scope"/,
    fault: { callback: becomesError("invalid_scope") },
  },
  {
    name: "an error with a long text of many lines",
    kind: "denied",
    says: /"access_denied", "a b c 'd' x{189}…"/,
    fault: { callback: becomesError("access_denied", `a\nb\u202e\u0000\u001bc "d" ${"x".repeat(100_000)}`) },
  },
  {
    name: "an error that quotes the state",
    kind: "denied",
    says: /"your state \*\*\*\*"/,
    fault: {
      callback: (query) => becomesError("access_denied", `your state ${query.get("state")}`)(query),
    },
  },
  {
    name: "another state",
    kind: "invalid",
    says: /another sign-in/,
    fault: { callback: (query) => query.set("state", "x") },
  },
  { name: "no state", kind: "invalid", says: /another sign-in/, fault: { callback: (query) => query.delete("state") } },
  {
    name: "the state twice",
    kind: "invalid",
    says: /another sign-in/,
    fault: { callback: (query) => query.append("state", query.get("state")!) },
  },
  {
    name: "no issuer, though it is promised",
    kind: "invalid",
    says: /"iss"/,
    fault: { callback: (query) => query.delete("iss") },
  },
  {
    name: "the issuer of another provider",
    kind: "invalid",
    says: /"iss"/,
    fault: { callback: (query) => query.set("iss", "https://other.example.com") },
    isCore: true,
  },
  { name: "no code", kind: "invalid", says: /code/, fault: { callback: (query) => query.delete("code") } },
  {
    name: "two codes",
    kind: "invalid",
    says: /"code"|only once/,
    fault: { callback: (query) => query.append("code", "x") },
  },
  {
    name: "another code",
    kind: "invalid",
    says: /"invalid_grant"/,
    fault: { callback: (query) => query.set("code", "x") },
  },
];

function becomesError(error: string, description?: string): (query: URLSearchParams) => void {
  return (query) => {
    query.delete("code");
    query.set("error", error);
    if (description !== undefined) query.set("error_description", description);
  };
}

const DOCUMENTS: readonly FaultRow[] = [
  {
    name: "the document is of another issuer",
    kind: "unavailable",
    says: /another OpenID provider/,
    fault: { document: (document) => ({ ...document, issuer: "https://other.example.com" }) },
  },
  {
    name: "the document has no issuer",
    kind: "invalid",
    says: /"issuer"/,
    fault: { document: (document) => ({ ...document, issuer: undefined }) },
  },
  {
    name: "the document has an issuer that is no URL",
    kind: "invalid",
    says: /not well-formed/,
    fault: { document: (document) => ({ ...document, issuer: "issuer" }) },
  },
  {
    name: "the page for signing in is a script",
    kind: "invalid",
    says: /no usable authorization_endpoint/,
    fault: { document: (document) => ({ ...document, authorization_endpoint: "javascript:alert(1)" }) },
  },
  {
    name: "the page for signing in is not https",
    kind: "invalid",
    says: /no usable authorization_endpoint/,
    fault: { document: (document) => ({ ...document, authorization_endpoint: "http://login.example.com/" }) },
  },
  {
    name: "the page for signing in has an address of a megabyte",
    kind: "invalid",
    says: /no usable authorization_endpoint/,
    fault: {
      document: (document) => ({ ...document, authorization_endpoint: `https://a.example/?${"x".repeat(900_000)}` }),
    },
  },
  {
    name: "there is no page for signing in",
    kind: "invalid",
    says: /no usable authorization_endpoint/,
    fault: { document: (document) => ({ ...document, authorization_endpoint: undefined }) },
  },
  {
    name: "codes are exchanged over http elsewhere",
    kind: "invalid",
    says: /no usable token_endpoint/,
    fault: { document: (document) => ({ ...document, token_endpoint: "http://login.example.com/" }) },
  },
  {
    name: "members of other types",
    kind: "invalid",
    says: /no usable token_endpoint/,
    fault: {
      document: (document) => ({
        ...document,
        token_endpoint: [],
        token_endpoint_auth_methods_supported: "client_secret_post",
      }),
    },
  },
];

const USERINFO: readonly FaultRow[] = [
  {
    name: "userinfo is about somebody else",
    kind: "invalid",
    says: /"sub"/,
    fault: { claims: withoutEmail, userinfo: (claims) => ({ ...claims, sub: "somebody else" }) },
    isCore: true,
  },
  {
    name: "userinfo is about nobody",
    kind: "invalid",
    says: /"sub"/,
    fault: { claims: withoutEmail, userinfo: (claims) => ({ ...claims, sub: undefined }) },
  },
  {
    name: "userinfo refuses the token and quotes it",
    kind: "invalid",
    says: /refuses this service's request/,
    fault: {
      claims: withoutEmail,
      routes: {
        "/userinfo": (request, response) => {
          const challenge = `Bearer error="invalid_token", error_description="${request.headers.authorization}"`;
          response.writeHead(401, { "www-authenticate": challenge }).end();
        },
      },
    },
  },
  {
    name: "the token endpoint quotes what was sent to it",
    kind: "invalid",
    says: /"invalid_request", "you sent/,
    fault: {
      routes: {
        "/token": async (request, response) => {
          let sent = "";
          for await (const part of request.setEncoding("utf8")) sent += part;
          const body = { error: "invalid_request", error_description: `you sent ${sent}` };
          response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify(body));
        },
      },
    },
  },
];

/** Made before any request: it takes as long as a request may. */
const GZIPPED_SPACES = gzipSync(Buffer.alloc(100_000_000, 32));

/** Answers that any route may give. */
const ANSWERS: readonly { name: string; kind: OidcRefusalKind; says: RegExp; handler: Handler }[] = [
  { name: "500", kind: "unavailable", says: /status 500/, handler: answering(500, "{}") },
  { name: "503 as HTML", kind: "unavailable", says: /status 503/, handler: answering(503, "<html>", "text/html") },
  { name: "429", kind: "unavailable", says: /status 429/, handler: answering(429, "{}") },
  {
    name: "404",
    kind: "invalid",
    says: /status 404/,
    handler: answering(404, '{"error":"gone"}'),
  },
  {
    name: "HTML",
    kind: "invalid",
    says: /content-type/,
    handler: answering(200, "<html>access-secret</html>", "text/html"),
  },
  { name: "no JSON", kind: "invalid", says: /JSON/, handler: answering(200, '{"access_token": "access-secret"') },
  { name: "an array", kind: "invalid", says: /object/, handler: answering(200, "[]") },
  { name: "nothing", kind: "invalid", says: /status 204/, handler: answering(204, "") },
  {
    name: "a redirect to elsewhere",
    kind: "invalid",
    says: /status 302/,
    handler: (_, response) => response.writeHead(302, { location: "/elsewhere" }).end(),
  },
  {
    name: "100 MB",
    kind: "invalid",
    says: /larger than a megabyte/,
    handler: (_, response) => pour(response.writeHead(200, { "content-length": 100_000_000 })),
  },
  { name: "no end", kind: "invalid", says: /larger than a megabyte/, handler: (_, response) => pour(response) },
  {
    name: "100 MB that arrive as 100 kB",
    kind: "invalid",
    says: /larger than a megabyte/,
    handler: (_, response) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(GZIPPED_SPACES),
  },
  { name: "never", kind: "unavailable", says: NO_ANSWER, handler: () => {} },
  {
    name: "a byte now and then",
    kind: "unavailable",
    says: NO_ANSWER,
    handler: (_, response) => {
      const timer = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(timer));
    },
  },
  {
    name: "a closed connection",
    kind: "unavailable",
    says: /cannot be reached/,
    handler: ({ socket }) => socket.destroy(),
  },
  {
    name: "half an answer",
    kind: "unavailable",
    says: /broke its answer off/,
    handler: ({ socket }) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"),
  },
  {
    name: "no HTTP",
    kind: "unavailable",
    says: /cannot be reached/,
    handler: ({ socket }) => socket.end("SSH-2.0\r\n\r\n"),
  },
];

const ROUTES: Readonly<Record<Route, Fault>> = {
  "/.well-known/openid-configuration": {},
  "/token": {},
  "/keys": {},
  "/userinfo": { claims: withoutEmail },
};

export const FAULTS: readonly FaultRow[] = [
  ...TOKENS,
  ...CALLBACKS,
  ...DOCUMENTS,
  ...USERINFO,
  ...Object.entries(ROUTES).flatMap(([route, fault]) =>
    ANSWERS.map(({ name, kind, says, handler }) => ({
      name: `${route} answers: ${name}`,
      kind,
      says,
      fault: { ...fault, routes: { [route]: handler } },
    })),
  ),
  {
    name: "the document is deeper than a stack",
    kind: "invalid",
    says: /not well-formed/,
    fault: {
      routes: {
        "/.well-known/openid-configuration": (request, response) => {
          const deep = `${'{"a":'.repeat(150_000)}1${"}".repeat(150_000)}`;
          answering(200, `{"issuer":"http://${request.headers.host}","deep":${deep}}`)(request, response);
        },
      },
    },
  },
];

function answering(status: number, body: string, type = "application/json"): Handler {
  return (_, response) => {
    response.writeHead(status, { "content-type": type }).end(status === 204 ? undefined : body);
  };
}

/** Writes for as long as somebody reads. */
function pour(response: Parameters<Handler>[1]): void {
  const part = Buffer.alloc(65_536, 32);
  const more = () => {
    while (!response.destroyed && response.write(part));
  };
  response.on("drain", more);
  more();
}
