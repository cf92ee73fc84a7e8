// oidc-provider as a process: prints its issuer, and ends with its parent's pipe. Its own pages sign anybody in by name;
// the accounts are below.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

/** Everybody has a name; the addresses are what a sign-in is about. */
const ACCOUNTS = {
  verified: { email: "verified@example.com", email_verified: true },
  unverified: { email: "unverified@example.com", email_verified: false },
  "without-address": {},
};

/** The code of this client ends after a second. */
const HASTY = "hasty";

const redirect_uris = [process.argv[2]];
const confidential = { client_secret: "a secret with + and %", redirect_uris };
const clients = [
  { client_id: "confidential", ...confidential },
  { client_id: HASTY, ...confidential },
  { client_id: "posting", ...confidential, token_endpoint_auth_method: "client_secret_post" },
  { client_id: "public", redirect_uris, token_endpoint_auth_method: "none" },
];

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients,
    jwks: { keys: [{ ...key, kid: "1", alg: "RS256", use: "sig" }] },
    cookies: { keys: [randomBytes(32).toString("hex")] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    // A record of accounts: what is asked for is sent by the scopes above.
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `Name of ${id}`, ...ACCOUNTS[id] }),
    }),
    ttl: { AuthorizationCode: (_context, _code, client) => (client.clientId === HASTY ? 1 : 60) },
  });
  server.on("request", provider.callback());
  process.stdout.write(`${issuer}\n`);
});
process.stdin.resume().on("end", () => process.exit());
