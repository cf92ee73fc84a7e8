// Sign-in by OpenID Connect: with oidc-provider, whose pages a person uses, and with a provider of our own that has
// every fault.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t from "tap";
import { type Oidc, type OidcPerson, openOidc } from "../../logservice/account/oidc.ts";
import { cleanEnv, root } from "../support/cli.ts";
import { FAULTS } from "../support/oidc-provider/faults.ts";
import { REDIRECT_URL, startOwnProvider } from "../support/oidc-provider/own.ts";
import { openOwn, refuses } from "../support/oidc-provider/refuses.ts";
import { signInAtPages, startProvider } from "../support/oidc-provider/start.ts";
import { until } from "../support/until.ts";

const SECRET = "a secret with + and %";

const issuer = await startProvider(t, REDIRECT_URL);
const open = (clientId: string, clientSecret: string | undefined = SECRET, clientAuthentication?: "post"): Oidc =>
  openOidc({
    issuer,
    clientId,
    clientSecret,
    redirectUrl: REDIRECT_URL,
    ...(clientAuthentication && { clientAuthentication }),
  });
const confidential = open("confidential");
const publicClient = openOidc({ issuer, clientId: "public", clientSecret: undefined, redirectUrl: REDIRECT_URL });

async function signIn(oidc: Oidc, person: Parameters<typeof signInAtPages>[2]): Promise<OidcPerson> {
  const { url, attempt } = await oidc.begin();
  return oidc.finish(await signInAtPages(url, REDIRECT_URL, person), attempt);
}

const VERIFIED: OidcPerson = {
  issuer,
  subject: "verified",
  email: "verified@example.com",
  isEmailVerified: true,
  name: "Name of verified",
};

const CLIENTS: readonly (readonly [string, Oidc])[] = [
  ["a client with a secret", confidential],
  ["a client that posts its secret", open("posting", SECRET, "post")],
  ["a public client", publicClient],
];
for (const [name, oidc] of CLIENTS) {
  t.test(`signs in: ${name}`, async (t) => {
    t.same(await signIn(oidc, { login: "verified" }), VERIFIED);
  });
}

const PEOPLE: readonly (readonly [string, Partial<OidcPerson>])[] = [
  ["unverified", { email: "unverified@example.com", isEmailVerified: false }],
  ["without-address", { email: undefined, isEmailVerified: false }],
];
for (const [login, change] of PEOPLE) {
  t.test(`signs in: ${login}`, async (t) => {
    const person = { ...VERIFIED, subject: login, name: `Name of ${login}`, ...change };
    t.same(await signIn(confidential, { login }), person);
  });
}

t.test("somebody who cancels is denied", async (t) => {
  const host = new URL(issuer).host;
  const said = '"access_denied", "End-User aborted interaction"';
  await t.rejects(signIn(confidential, "cancels"), {
    kind: "denied",
    message: `${host} did not let you sign in, or you cancelled: ${said}. Sign in again, or in another way.`,
  });
});

type Changed = (begun: Awaited<ReturnType<Oidc["begin"]>>, callback: URL) => Promise<unknown>;
const REFUSED: readonly (readonly [string, RegExp, Changed])[] = [
  [
    "another state",
    /another sign-in/,
    async ({ attempt }, callback) => {
      callback.searchParams.set("state", "other");
      await confidential.finish(callback, attempt);
    },
  ],
  [
    "the attempt of another sign-in",
    /another sign-in/,
    async (_, callback) => confidential.finish(callback, (await confidential.begin()).attempt),
  ],
  [
    "the nonce of another sign-in",
    /"nonce"/,
    async ({ attempt }, callback) => {
      const { nonce } = (await confidential.begin()).attempt;
      await confidential.finish(callback, { ...attempt, nonce });
    },
  ],
  [
    "the verifier of another sign-in",
    /"invalid_grant"/,
    async ({ attempt }, callback) => {
      const { verifier } = (await confidential.begin()).attempt;
      await confidential.finish(callback, { ...attempt, verifier });
    },
  ],
  [
    "the issuer of another provider",
    /"iss"/,
    async ({ attempt }, callback) => {
      callback.searchParams.set("iss", "https://other.example.com");
      await confidential.finish(callback, attempt);
    },
  ],
  [
    "no issuer",
    /"iss"/,
    async ({ attempt }, callback) => {
      callback.searchParams.delete("iss");
      await confidential.finish(callback, attempt);
    },
  ],
  [
    "a code that was used",
    /"invalid_grant"/,
    async ({ attempt }, callback) => {
      await confidential.finish(callback, attempt);
      await confidential.finish(callback, attempt);
    },
  ],
  ["the code of another client", /"invalid_grant"/, ({ attempt }, callback) => publicClient.finish(callback, attempt)],
  [
    "a wrong secret",
    /refuses this service's request|"invalid_client"/,
    ({ attempt }, callback) => open("confidential", "wrong").finish(callback, attempt),
  ],
];
for (const [name, message, change] of REFUSED) {
  t.test(`refused: ${name}`, async (t) => {
    const begun = await confidential.begin();
    const callback = await signInAtPages(begun.url, REDIRECT_URL, { login: "verified" });
    await t.rejects(change(begun, callback), { kind: "invalid", message });
    t.same(await signIn(confidential, { login: "verified" }), VERIFIED, "signs in afterwards");
  });
}

t.test("refused: a code that has ended", async (t) => {
  const oidc = open("hasty");
  const { url, attempt } = await oidc.begin();
  const callback = await signInAtPages(url, REDIRECT_URL, { login: "verified" });
  // The code lives for a second, counted in whole ones.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await t.rejects(oidc.finish(callback, attempt), { kind: "invalid", message: /"invalid_grant"/ });
  const again = await until("a sign-in within a second", () =>
    signIn(oidc, { login: "verified" }).catch(() => undefined),
  );
  t.same(again, VERIFIED);
});

t.test("a provider over https", async (t) => {
  const [cert, key] = ["cert", "key"].map((name) => join(root, `test/fixtures/localhost.${name}.pem`)) as [
    string,
    string,
  ];
  const provider = await startOwnProvider(t, { cert: readFileSync(cert), key: readFileSync(key) });
  const host = new URL(provider.issuer).host;
  await t.rejects(openOwn(provider.issuer).begin(), {
    kind: "unavailable",
    message: `${host} cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT). Try again in a minute, or sign in another way.`,
  });
  // Node reads which certificates it trusts when it starts.
  const begun = async () => {
    const env = cleanEnv({ NODE_EXTRA_CA_CERTS: cert });
    const child = spawn(process.execPath, [join(root, "dist/test/support/oidc-provider/begin.js"), provider.issuer], {
      env,
    });
    return await text(child.stdout);
  };
  t.match(await begun(), `${provider.issuer}/authorize?`);
  for (const endpoint of ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"]) {
    provider.fault = { document: (document) => ({ ...document, [endpoint]: "http://127.0.0.1:8080/" }) };
    t.match(await begun(), `invalid: An answer of ${host} cannot be accepted: its document has no usable ${endpoint}.`);
  }
});

t.test("a provider at fault", async (t) => {
  const provider = await startOwnProvider(t);
  for (const row of FAULTS) await t.test(row.name, (t) => refuses(t, provider, row));
});
