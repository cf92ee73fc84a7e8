// An OpenID provider of our own: correct unless it is told to be at fault in one way, which no real one can be told.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";

export type Json = Readonly<Record<string, unknown>>;
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export const CLIENT = { clientId: "client", clientSecret: "the-secret-of-the-client" };
export const REDIRECT_URL = "https://logs.example.com/sign-in/oidc/callback";

/** One way in which the provider is not as it should be. */
export interface Fault {
  /** Changes the claims of the ID token. A member that is undefined is absent. */
  readonly claims?: (claims: Json, issuer: string) => Json;
  /** Makes the ID token of its claims; the default signs with the published key. */
  readonly token?: (claims: Json, own: Keys) => unknown;
  /** Changes the answer of the token endpoint. */
  readonly tokens?: (tokens: Json) => Json;
  /** Changes the document of the provider. */
  readonly document?: (document: Json) => Json;
  /** Changes what userinfo says. */
  readonly userinfo?: (claims: Json) => Json;
  readonly keys?: (keys: readonly Json[]) => readonly unknown[];
  /** Changes the query of the callback. */
  readonly callback?: (query: URLSearchParams) => void;
  /** Answers a route instead of the provider. */
  readonly routes?: Partial<Record<Route, Handler>>;
}

export type Route = "/.well-known/openid-configuration" | "/token" | "/keys" | "/userinfo";

export interface Keys {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface OwnProvider {
  readonly issuer: string;
  /** Requests to each route so far. */
  readonly requests: Map<string, number>;
  /** Every code, access token and ID token that it gave out: no message may contain one. */
  readonly secrets: string[];
  fault: Fault;
  /** Signs with another key from now on, the only one that is published. */
  replaceKey(): void;
  /** Returns the address that a browser brings back from the provider's page. */
  callback(url: string): URL;
}

export function newKeys(kid: string, bits = 2048): Keys {
  return { kid, ...generateKeyPairSync("rsa", { modulusLength: bits }) };
}

/** A JWT by RS256, or by another algorithm that `signed` makes the signature of. */
export function jwt(header: Json, claims: Json, signed: (text: string) => Buffer): string {
  const part = (value: Json) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${signed(text).toString("base64url")}`;
}

export function signedBy({ privateKey, kid }: Keys, claims: Json, header: Json = {}): string {
  return jwt({ alg: "RS256", kid, ...header }, claims, (text) => sign("sha256", Buffer.from(text), privateKey));
}

/** Starts the provider in this process, over https if it gets a certificate of localhost; it ends with the test. */
export async function startOwnProvider(
  t: Test,
  tls?: { readonly cert: Buffer; readonly key: Buffer },
): Promise<OwnProvider> {
  let own = newKeys("1");
  const codes = new Map<string, URLSearchParams>();
  const nonces = new Map<string, string>();
  const listener: RequestListener = (request, response) => {
    const path = request.url as Route;
    provider.requests.set(path, (provider.requests.get(path) ?? 0) + 1);
    const handler = provider.fault.routes?.[path] ?? routes[path] ?? notFound;
    handler(request, response);
  };
  const server = tls === undefined ? createServer(listener) : createHttpsServer(tls, listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const issuer = tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;

  const provider: OwnProvider = {
    issuer,
    requests: new Map(),
    secrets: [],
    fault: {},
    replaceKey: () => {
      own = newKeys(`${Number(own.kid) + 1}`);
    },
    callback: (url) => {
      const { searchParams } = new URL(url);
      const code = secret("code");
      codes.set(code, searchParams);
      const callback = new URL(searchParams.get("redirect_uri")!);
      callback.search = new URLSearchParams({ code, state: searchParams.get("state")!, iss: issuer }).toString();
      provider.fault.callback?.(callback.searchParams);
      return callback;
    },
  };

  const secret = (what: string) => {
    const made = `${what}-${randomBytes(24).toString("base64url")}`;
    provider.secrets.push(made);
    return made;
  };
  const nowS = () => Math.floor(Date.now() / 1000);
  const person = { email: "person@example.com", email_verified: true, name: "A Person" };

  const routes: Record<Route, Handler> = {
    "/.well-known/openid-configuration": (_, response) => {
      const document = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        userinfo_endpoint: `${issuer}/userinfo`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        authorization_response_iss_parameter_supported: true,
      };
      answer(response, 200, provider.fault.document?.(document) ?? document);
    },
    "/keys": (_, response) => {
      const { kid, publicKey } = own;
      const keys = [{ ...publicKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" }];
      answer(response, 200, { keys: provider.fault.keys?.(keys) ?? keys });
    },
    "/token": async (request, response) => {
      const form = new URLSearchParams(await textOf(request));
      const code = form.get("code") ?? "";
      const authorization = codes.get(code);
      codes.delete(code);
      const credentials = Buffer.from(`${CLIENT.clientId}:${encoded(CLIENT.clientSecret)}`).toString("base64");
      if (request.headers.authorization !== `Basic ${credentials}`) {
        return answer(response, 401, { error: "invalid_client" });
      }
      const challenge = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      const isRight =
        authorization?.get("redirect_uri") === form.get("redirect_uri") &&
        authorization?.get("code_challenge_method") === "S256" &&
        authorization.get("code_challenge") === challenge;
      if (!isRight)
        return answer(response, 400, { error: "invalid_grant", error_description: `no such code: ${code}` });
      const access_token = secret("access");
      nonces.set(access_token, authorization.get("nonce")!);
      const claims = {
        iss: issuer,
        aud: authorization.get("client_id"),
        sub: "subject",
        iat: nowS(),
        exp: nowS() + 300,
        nonce: authorization.get("nonce"),
        ...person,
      };
      const changed = provider.fault.claims?.(claims, issuer) ?? claims;
      const id_token = provider.fault.token === undefined ? signedBy(own, changed) : provider.fault.token(changed, own);
      if (typeof id_token === "string" && id_token !== "") provider.secrets.push(id_token);
      const tokens = { access_token, token_type: "Bearer", expires_in: 300, id_token };
      answer(response, 200, provider.fault.tokens?.(tokens) ?? tokens);
    },
    "/userinfo": (request, response) => {
      const token = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
      if (!nonces.has(token)) return answer(response, 401, { error: "invalid_token" });
      const claims = { sub: "subject", ...person };
      answer(response, 200, provider.fault.userinfo?.(claims) ?? claims);
    },
  };
  return provider;
}

function notFound(_: IncomingMessage, response: ServerResponse): void {
  answer(response, 404, { error: "not_found" });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** As RFC 6749, section 2.3.1 has it, down to the characters that only some encoders escape. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll("-", "%2D");
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  return text;
}
