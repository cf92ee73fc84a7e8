// Sign-in by OpenID Connect, with a provider of our own. test/slow/oidc.ts has a real one, and all faults.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import t from "tap";
import { keeping } from "../../../logservice/account/oidc/keeping.ts";
import { type OidcSettings, OidcSettingsError, openOidc } from "../../../logservice/account/oidc.ts";
import { FAULTS } from "../../support/oidc-provider/faults.ts";
import {
  CLIENT,
  type Fault,
  type Json,
  REDIRECT_URL,
  signedBy,
  startOwnProvider,
} from "../../support/oidc-provider/own.ts";
import { openOwn, refuses, signIn } from "../../support/oidc-provider/refuses.ts";
import { until } from "../../support/until.ts";

const provider = await startOwnProvider(t);
const SETTINGS: OidcSettings = { issuer: "https://login.example.com", ...CLIENT, redirectUrl: REDIRECT_URL };
const PERSON = {
  issuer: provider.issuer,
  subject: "subject",
  email: "person@example.com",
  isEmailVerified: true,
  name: "A Person",
};

t.beforeEach(() => {
  provider.fault = {};
  provider.requests.clear();
});

for (const row of FAULTS.filter(({ isCore }) => isCore)) {
  t.test(row.name, (t) => refuses(t, provider, row));
}

const withClaims = (change: Json): Fault => ({ claims: (claims) => ({ ...claims, ...change }) });
const withoutEmail = withClaims({ email: undefined, email_verified: undefined });
const nobody = { email: undefined, isEmailVerified: false };
const noEndpoint = (document: Json): Json => ({ ...document, userinfo_endpoint: undefined });

const PEOPLE: readonly (readonly [string, Fault, Partial<typeof PERSON> | typeof nobody])[] = [
  ["a verified address in the ID token", {}, {}],
  ["an unverified one", withClaims({ email_verified: false }), { isEmailVerified: false }],
  ["one that is verified by a text", withClaims({ email_verified: "true" }), { isEmailVerified: false }],
  ["one that is verified by a number", withClaims({ email_verified: 1 }), { isEmailVerified: false }],
  [
    "a verified address at userinfo only",
    { ...withoutEmail, userinfo: (claims) => ({ ...claims, email: "u@example.com" }) },
    { email: "u@example.com" },
  ],
  [
    "an unverified address at userinfo only",
    { ...withoutEmail, userinfo: (claims) => ({ ...claims, email_verified: undefined }) },
    { isEmailVerified: false },
  ],
  [
    "an address in the ID token, another one that is verified at userinfo",
    { ...withClaims({ email_verified: undefined }), userinfo: (claims) => ({ ...claims, email: "u@example.com" }) },
    { email: "u@example.com" },
  ],
  [
    "an address in the ID token, verified at userinfo without saying which",
    { ...withClaims({ email_verified: undefined }), userinfo: (claims) => ({ ...claims, email: undefined }) },
    { isEmailVerified: false },
  ],
  ["no address anywhere", { ...withoutEmail, userinfo: (claims) => ({ ...claims, email: undefined }) }, nobody],
  ["no address, and no userinfo", { ...withoutEmail, document: noEndpoint }, nobody],
  ["an address that is none", { ...withClaims({ email: "person" }), document: noEndpoint }, nobody],
  ["two addresses", { ...withClaims({ email: "a@example.com,b@example.com" }), document: noEndpoint }, nobody],
  ["an address with a header", { ...withClaims({ email: "a@example.com\r\nBcc:b" }), document: noEndpoint }, nobody],
  ["an address that is a list", { ...withClaims({ email: ["a@example.com"] }), document: noEndpoint }, nobody],
  [
    "an address of 255 bytes",
    { ...withClaims({ email: `${"a".repeat(243)}@example.com` }), document: noEndpoint },
    nobody,
  ],
  ["a name of two lines, which turns around", withClaims({ name: "A\n\u202ePerson\u0000" }), {}],
  ["a name of 1000 characters", withClaims({ name: "é".repeat(1000) }), { name: `${"é".repeat(199)}…` }],
  ["two audiences, and this client authorized", withClaims({ aud: ["other", "client"], azp: "client" }), {}],
];

for (const [name, fault, change] of PEOPLE) {
  t.test(`signs in: ${name}`, async (t) => {
    provider.fault = fault;
    t.same(await signIn(openOwn(provider.issuer), provider), { ...PERSON, ...change });
  });
}

t.test("the page for signing in is asked for what is needed, and nothing twice", async (t) => {
  const oidc = openOwn(provider.issuer);
  const [first, second] = await Promise.all([oidc.begin(), oidc.begin()]);
  const params = Object.fromEntries(new URL(first.url).searchParams);
  t.same(params, {
    client_id: "client",
    response_type: "code",
    scope: "openid email profile",
    redirect_uri: REDIRECT_URL,
    code_challenge_method: "S256",
    state: first.attempt.state,
    nonce: first.attempt.nonce,
    code_challenge: params.code_challenge,
  });
  t.notOk(first.url.includes(first.attempt.verifier), "the secret stays here");
  for (const member of ["state", "nonce", "verifier"] as const) {
    t.not(first.attempt[member], second.attempt[member]);
    t.match(first.attempt[member], /^[\w-]{43}$/, "256 random bits");
  }
});

t.test("the answer to one sign-in is refused for another", async (t) => {
  const oidc = openOwn(provider.issuer);
  const [mine, theirs] = await Promise.all([oidc.begin(), oidc.begin()]);
  const callback = provider.callback(theirs.url);
  await t.rejects(oidc.finish(callback, mine.attempt), { kind: "invalid", message: /another sign-in/ });
  t.notOk(provider.requests.has("/token"), "without asking the provider");
  const mixed = { ...mine.attempt, state: theirs.attempt.state };
  await t.rejects(oidc.finish(callback, mixed), { kind: "invalid", message: /"invalid_grant"/ }, "by PKCE");
  const again = provider.callback(theirs.url);
  const stolen = { ...theirs.attempt, nonce: mine.attempt.nonce };
  await t.rejects(oidc.finish(again, stolen), { kind: "invalid", message: /"nonce"/ });
});

t.test("a code is good for one use", async (t) => {
  const oidc = openOwn(provider.issuer);
  const { url, attempt } = await oidc.begin();
  const callback = provider.callback(url);
  t.same(await oidc.finish(callback, attempt), PERSON);
  await t.rejects(oidc.finish(callback, attempt), {
    kind: "invalid",
    message: /"invalid_grant", "no such code: \*\*\*\*"/,
  });
});

t.test("a new key of the provider counts at once, and an old one no more", async (t) => {
  const oidc = openOwn(provider.issuer);
  t.same(await signIn(oidc, provider), PERSON);
  let old: Fault["token"];
  provider.fault = {
    token: (claims, own) => {
      old = (claims) => signedBy(own, claims);
      return signedBy(own, claims);
    },
  };
  await signIn(oidc, provider);
  provider.replaceKey();
  provider.fault = {};
  t.same(await signIn(oidc, provider), PERSON);
  provider.fault = { token: old! };
  await t.rejects(signIn(oidc, provider), { kind: "invalid", message: /no applicable keys/ });
});

/** The methods that the document lists, the one of the settings, and what the provider is sent. */
const METHODS: readonly (readonly [unknown, "basic" | "post" | undefined, "basic" | "post"])[] = [
  [undefined, undefined, "basic"],
  [["client_secret_post", "client_secret_basic"], undefined, "basic"],
  [["client_secret_post", "private_key_jwt"], undefined, "post"],
  ["client_secret_post", undefined, "basic"],
  [["private_key_jwt"], undefined, "basic"],
  [["client_secret_post", "client_secret_basic"], "post", "post"],
  [["client_secret_post"], "basic", "basic"],
];
for (const [listed, clientAuthentication, expected] of METHODS) {
  t.test(`the secret is sent: ${inspect(listed)}, ${clientAuthentication}`, async (t) => {
    let sent: unknown;
    provider.fault = {
      document: (document) => ({ ...document, token_endpoint_auth_methods_supported: listed }),
      routes: {
        "/token": async (request, response) => {
          const form = new URLSearchParams(await text(request));
          const isBasic = /^Basic /.test(request.headers.authorization ?? "");
          sent = { isBasic, posted: form.get("client_secret") };
          response.writeHead(500).end();
        },
      },
    };
    const oidc = openOidc({
      ...SETTINGS,
      issuer: provider.issuer,
      ...(clientAuthentication && { clientAuthentication }),
    });
    await t.rejects(signIn(oidc, provider), { kind: "unavailable", message: /status 500/ });
    const isBasic = expected === "basic";
    t.same(sent, { isBasic, posted: isBasic ? null : CLIENT.clientSecret });
  });
}

t.test("the callback is exchanged for the address of the settings, whatever the browser asked", async (t) => {
  const oidc = openOwn(provider.issuer);
  const { url, attempt } = await oidc.begin();
  const { search } = provider.callback(url);
  t.same(await oidc.finish(new URL(`http://10.0.0.1:8080/inner${search}`), attempt), PERSON);
});

t.test("the document is asked for at the first use, once for all who come at once", async (t) => {
  const requestCount = () => provider.requests.get("/.well-known/openid-configuration") ?? 0;
  const oidc = openOwn(provider.issuer);
  t.equal(oidc.issuer, provider.issuer);
  t.equal(requestCount(), 0);
  await Promise.all(Array.from({ length: 5 }, () => oidc.begin()));
  await signIn(oidc, provider);
  t.equal(requestCount(), 1);
});

t.test("the service starts while the provider is away", async (t) => {
  const port = await freePort();
  const away = openOwn(`http://127.0.0.1:${port}`);
  const message = `127.0.0.1:${port} cannot be reached (ECONNREFUSED). Try again in a minute, or sign in another way.`;
  await t.rejects(away.begin(), { kind: "unavailable", message });
});

t.test("who gives up does not end what others wait for", async (t) => {
  const held: (() => void)[] = [];
  provider.fault = {
    routes: {
      "/.well-known/openid-configuration": (_, response) => {
        held.push(() => response.writeHead(500).end());
      },
    },
  };
  const oidc = openOwn(provider.issuer);
  const controller = new AbortController();
  const [impatient, patient] = [oidc.begin(controller.signal), oidc.begin()];
  const reason = new Error("the browser is gone");
  controller.abort(reason);
  await t.rejects(impatient, reason);
  await t.rejects(oidc.begin(controller.signal), reason, "or begins already aborted");
  const refusal = t.rejects(patient, { kind: "unavailable", message: /status 500/ });
  await until("the request", () => held.length === 1);
  held[0]!();
  await refusal;
});

t.test("a value is kept, and a failure for less long", async (t) => {
  let nowMs = 0;
  let loads = 0;
  let fails = false;
  const get = keeping({ valueMs: 100, failureMs: 10, nowMs: () => nowMs }, async () => {
    loads += 1;
    if (fails) throw new Error(`load ${loads}`);
    return loads;
  });
  const rows: readonly (readonly [number, boolean, unknown])[] = [
    [0, false, 1],
    [99, true, 1],
    [100, true, "load 2"],
    [109, false, "load 2"],
    [110, false, 3],
    [209, true, 3],
    [210, true, "load 4"],
  ];
  for (const [atMs, isFailing, expected] of rows) {
    nowMs = atMs;
    fails = isFailing;
    t.same(await get().catch(({ message }) => message), expected, `at ${atMs} ms`);
  }
});

const GOOD: readonly Partial<OidcSettings>[] = [
  {},
  { issuer: "https://login.example.com/realms/a" },
  { issuer: "http://127.0.0.1:8080" },
  { issuer: "http://[::1]" },
  { redirectUrl: "http://tool.localhost:5000/sign-in/oidc/callback" },
  { timeoutMs: 1 },
];
for (const change of GOOD) {
  t.test(`settings: ${inspect(change)}`, (t) => {
    const oidc = openOidc({ ...SETTINGS, ...change });
    t.equal(oidc.issuer, change.issuer ?? SETTINGS.issuer);
    t.end();
  });
}

const BAD: readonly (readonly [object, string, string])[] = [
  [
    { issuer: "login.example.com" },
    "the issuer of the OpenID provider cannot be used: login.example.com",
    "give a whole URL, such as https://login.example.com",
  ],
  [
    { issuer: "http://login.example.com" },
    "the issuer of the OpenID provider cannot be used: http://login.example.com",
    "give an https URL; http is for loopback only",
  ],
  [
    { issuer: "http://127.0.0.1.example.com" },
    "the issuer of the OpenID provider cannot be used: http://127.0.0.1.example.com",
    "give an https URL; http is for loopback only",
  ],
  [
    { issuer: "file:///etc/passwd" },
    "the issuer of the OpenID provider cannot be used: file:///etc/passwd",
    "give an https URL; http is for loopback only",
  ],
  [
    { issuer: "https://login.example.com/?tenant=1" },
    "the issuer of the OpenID provider cannot be used: https://login.example.com/?tenant=1",
    "give it without a query and fragment",
  ],
  [
    { issuer: "https://login.example.com/.well-known/openid-configuration" },
    "the issuer of the OpenID provider is the URL of its document: https://login.example.com/.well-known/openid-configuration",
    "give the URL without /.well-known/ and what follows it",
  ],
  [
    { redirectUrl: "/sign-in/oidc/callback" },
    "the redirect URL of the OpenID provider cannot be used: /sign-in/oidc/callback",
    "give a whole URL, such as https://login.example.com",
  ],
  [
    { clientId: "" },
    "the client id for the OpenID provider is empty or has control characters",
    "give the id under which the provider knows this service",
  ],
  [
    { clientSecret: "secret\n" },
    "the client secret for the OpenID provider is empty or has control characters",
    "give the secret without the end of its line, or none for a public client",
  ],
  [
    { timeoutMs: 0 },
    "the time limit for the OpenID provider is not possible: 0 ms",
    "give a whole number from 1 to 120000",
  ],
];
for (const [change, message, hint] of BAD) {
  t.test(`settings: ${inspect(change)}`, (t) => {
    t.throws(() => openOidc({ ...SETTINGS, ...change }), { constructor: OidcSettingsError, message, hint });
    t.end();
  });
}

t.test("a user and password in a URL are refused, and not repeated", (t) => {
  const issuer = "https://user:password@login.example.com";
  t.throws(() => openOidc({ ...SETTINGS, issuer }), { constructor: OidcSettingsError, message: /^(?!.*password@)/ });
  t.end();
});

/** A port of which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
