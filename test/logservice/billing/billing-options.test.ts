// The settings of payments: rows of flags and secrets, and the command itself.
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { type BillingOptions, readBilling } from "../../../logservice/admin/billing.ts";
import type { OperatorError } from "../../../logservice/error.ts";
import { rpcClient } from "../../../schema/rpc-client.ts";
import { rawStatementKey, verifyStatement } from "../../../schema/statement.ts";
import { listening, spawnTool, tool } from "../../support/cli.ts";

const NOTHING: BillingOptions = {
  provider: "none",
  stripeKey: undefined,
  webhookSecret: undefined,
  price: undefined,
  stripeUrl: undefined,
  statementKeyFile: undefined,
};
const SECRETS = { stripeKey: "sk_test_a", webhookSecret: "whsec_a" };
const PAID: BillingOptions = { ...NOTHING, ...SECRETS, provider: "stripe", price: "price_a" };
const HERE = { host: "127.0.0.1", publicUrl: undefined };
const PUBLIC = { host: "0.0.0.0", publicUrl: "https://logs.example.com" };

t.test("settings that cannot be meant", async (t) => {
  const rows: readonly [part: Partial<BillingOptions>, message: RegExp, hint: RegExp][] = [
    [{ provider: "paypal" }, /^"paypal" is not a way to be paid$/, /none or stripe/],
    [{ stripeKey: undefined }, /^TOOL_STRIPE_KEY is not set$/, /dashboard\.stripe\.com/],
    [{ stripeKey: "pk_test_a" }, /^TOOL_STRIPE_KEY is not a secret key/, /in the environment/],
    [{ webhookSecret: undefined }, /^TOOL_STRIPE_WEBHOOK_SECRET is not set$/, /\/billing\/webhook/],
    [{ webhookSecret: "sk_test_a" }, /^TOOL_STRIPE_WEBHOOK_SECRET is not the secret of a webhook/, /signing secret/],
    [{ price: undefined }, /^--stripe-price is missing$/, /--stripe-price price_/],
    [{ price: "prod_a" }, /^--stripe-price prod_a is not the id of a price$/, /--stripe-price price_/],
    [{ stripeUrl: "http://stripe.example.com" }, /would show the key to others$/, /https:/],
    [{ stripeUrl: "stripe" }, /would show the key to others$/, /https:/],
  ];
  for (const [part, message, hint] of rows) {
    await t.rejects(readBilling({ ...PAID, ...part }, HERE), { message, hint });
  }
  const nowhere = { host: "0.0.0.0", publicUrl: undefined };
  const needs = /need to know where people reach the service/;
  await t.rejects(readBilling(PAID, nowhere), { message: needs });
  await t.rejects(readBilling({ ...NOTHING, statementKeyFile: "/absent" }, nowhere), { message: needs });
});

t.test("settings that are meant", async (t) => {
  const none = await readBilling({ ...NOTHING, ...SECRETS }, { host: "0.0.0.0", publicUrl: undefined });
  t.same(none, { billing: { stripe: undefined, statementKey: undefined }, lines: [] });
  for (const part of [{}, { stripeKey: "rk_live_a" }, { stripeUrl: "http://127.0.0.1:1" }, { price: "plan_a" }]) {
    const { billing, lines } = await readBilling({ ...PAID, ...part }, PUBLIC);
    t.equal(billing.stripe?.webhookSecret, "whsec_a");
    t.same(lines, ["Stripe is to send its webhooks to https://logs.example.com/billing/webhook"]);
  }
});

t.test("the key of statements", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tool-billing-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const pem = (kind: "ed25519" | "x25519", more: object = {}) =>
    generateKeyPairSync(kind as "ed25519", {
      privateKeyEncoding: { type: "pkcs8", format: "pem", ...more },
      publicKeyEncoding: { type: "spki", format: "pem" },
    });
  const good = pem("ed25519");
  const path = join(folder, "key.pem");
  const read = async (text: string, mode = 0o600) => {
    writeFileSync(path, text);
    chmodSync(path, mode);
    return readBilling({ ...NOTHING, statementKeyFile: path }, HERE);
  };
  const { billing, lines } = await read(good.privateKey);
  t.equal(billing.statementKey?.asymmetricKeyType, "ed25519");
  t.ok(lines[0]!.endsWith(` ${rawStatementKey(billing.statementKey!)}`), lines.join());
  const remedy = /umask 077; openssl genpkey -algorithm ed25519/;
  const rows: Record<string, string> = {
    "a public key": good.publicKey,
    "another kind of key": pem("x25519").privateKey,
    "a key with a password": pem("ed25519", { cipher: "aes-256-cbc", passphrase: "secret" }).privateKey,
    "a text": "secret words",
    "half a key": good.privateKey.slice(0, 60),
    "an empty file": "",
  };
  for (const [name, text] of Object.entries(rows)) {
    const error = await read(text).catch((thrown: OperatorError) => thrown);
    t.match(error, { message: /holds no Ed25519 key/, hint: remedy }, name);
    t.notMatch(JSON.stringify(error) + (error as Error).message, "secret");
  }
  for (const mode of [0o640, 0o604])
    await t.rejects(read(good.privateKey, mode), { message: /others can read/, hint: `chmod 600 ${path}` });
  await t.rejects(readBilling({ ...NOTHING, statementKeyFile: join(folder, "absent") }, HERE), {
    message: /absent cannot be read \(ENOENT\)$/,
    hint: remedy,
  });
});

t.test("the command, which loads Stripe's library only if it is asked to", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tool-billing-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { stdout } = await tool(["service", "init", "--data", "data", "--format", "json"], { cwd: folder });
  const { token } = JSON.parse(stdout);
  // Says which of the late files are loaded.
  const hook = join(folder, "hook.cjs");
  writeFileSync(
    hook,
    `const Module = require("module"); const load = Module._load;
    Module._load = function (name, ...more) {
      if (/stripe/.test(name)) process.stderr.write("loads " + name + "\\n");
      return load.call(this, name, ...more);
    };`,
  );
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(join(folder, "key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  const start = ["service", "start", "--data", "data", "--address", "127.0.0.1:0"];
  const env = {
    NODE_OPTIONS: `--require ${hook}`,
    TOOL_STRIPE_KEY: "sk_test_a",
    TOOL_STRIPE_WEBHOOK_SECRET: "whsec_a",
  };
  const rows = [
    { more: ["--statement-key", "key.pem"], provider: "none", edition: "pro" },
    { more: ["--billing", "stripe", "--stripe-price", "price_a"], provider: "stripe", edition: "free" },
  ];
  for (const { more, provider, edition } of rows) {
    const running = spawnTool([...start, ...more], { cwd: folder, env });
    t.teardown(async () => {
      running.kill("SIGKILL");
      await running.ended;
    });
    const url = await listening(running);
    const { statement, ...rest } = await rpcClient({ url, token }).call("get_subscription", {});
    t.same(rest, { team_id: "default", provider, status: "none", edition });
    if (provider === "none") {
      // The clock is that of the process, which says when it made the statement.
      const { issued_at } = JSON.parse(Buffer.from(statement!.split(".")[1]!, "base64url").toString());
      const nowMs = Date.parse(issued_at);
      const reader = { key: rawStatementKey(privateKey), team: "default", service: url, nowMs };
      t.match(verifyStatement(statement!, reader), { ok: true, value: { edition } });
    }
    running.kill("SIGTERM");
    const { stderr, code } = await running.ended;
    t.equal(code, 0);
    t.equal(/loads \S*stripe/.test(stderr), provider === "stripe", stderr);
    t.notMatch(stderr, /sk_test_a|whsec_a|PRIVATE/);
  }
  const alone = await tool([...start, "--stripe-price", "price_a"], { cwd: folder });
  t.same(
    [alone.code, alone.stderr],
    [2, "error: --stripe-price is for services that are paid by Stripe\n  add --billing stripe\n"],
  );
  const unset = await tool([...start, "--billing", "stripe"], { cwd: folder });
  t.match(unset, { code: 1, stderr: /^error: TOOL_STRIPE_KEY is not set\n {2}set it in the environment: / });
});
