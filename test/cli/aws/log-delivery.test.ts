// Entries of a deployed app in the log service of tool.json: the real command, the stand-in of the cloud, and the real service.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Lambda } from "@aws-sdk/client-lambda";
import { SSM } from "@aws-sdk/client-ssm";
import t, { type Test } from "tap";
import type { Context } from "../../../cli/context.ts";
import { PlatformError } from "../../../cli/platform/error.ts";
import type { LogToken, LogTokens } from "../../../cli/platform/log-tokens.ts";
import { deliveryFor, endedTokenOf, endRetired, rotateToken, whyRefused } from "../../../cli/service/log-delivery.ts";
import type { AccountClient } from "../../../cli/team/account-client.ts";
import { certificateFailure } from "../../../cli/team/connection-failure.ts";
import { TeamError } from "../../../cli/team/error.ts";
import { makeToken } from "../../../cli/team/stage-token.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import type { Config } from "../../../schema/index.ts";
import { RpcFailure } from "../../../schema/rpc-client.ts";
import { startAws } from "../../support/aws/index.ts";
import { appFolder, appSource, askEndpoint } from "../../support/deployed-app.ts";
import { requires } from "../../support/require.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { NOBODY, signedIn } from "../../support/signed-in.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";

const RANGE = { start: "2020-01-01T00:00:00Z", stop: "2050-01-01T00:00:00Z" };

async function open(t: Test, config: (service: TestService) => object = () => ({})) {
  const [aws, service] = [await startAws(t), await startTestService(t)];
  const text = (logs: object) => ({ "tool.json": JSON.stringify({ name: "hello", logs }) });
  const logs = { service: service.running.url, ...config(service) };
  const app = appFolder(aws, join(t.testdir(), "app"), { ...text(logs), "app.js": appSource("one") });
  const lambda = new Lambda(aws.client);
  return {
    aws,
    service,
    app,
    configure: (changed: object) => app.write(text(changed)),
    token: async (Qualifier: string) =>
      (await lambda.getFunctionConfiguration({ FunctionName: "hello", Qualifier })).Environment?.Variables
        ?.TOOL_LOGS_TOKEN,
    tokens: async () =>
      (await service.call("get_tokens")).json.tokens
        .filter((one: { project_id: string }) => one.project_id !== "")
        .map(({ description, scopes, project_id, stage, created_by }: Record<string, unknown>) => {
          return { description, scopes, project_id, stage, created_by };
        }),
    /** Asks the app until an answered request is in the service: after a short pause entries wait for those of the next. */
    arrived: (url: string) =>
      until("the entries are in the service", async () => {
        await askEndpoint(aws, url);
        const { json } = await service.call("search", { project_id: "hello", ...RANGE, query: "status = 200" });
        return json.events.some(({ fields }: { fields: { stage: string } }) => fields.stage === "staging");
      }),
    works: async (token: string | undefined) => (await service.call("get_account", {}, token)).status === 200,
  };
}

t.test("a token is used by CI, rotated, and removed with the app", slow(), async (t) => {
  const { aws, service, app, token, tokens, works, arrived } = await open(t);
  const { origin } = new URL(service.running.url);
  const person = await signedIn(t, service);

  const without = await app.tool(["deploy"], { ...NOBODY, TOOL_LOGS_TOKEN: service.owner });
  t.equal(without.code, 0, without.stderr);
  t.match(
    without.stderr,
    `entries go to CloudWatch alone: there is no token of staging for ${origin}, and nobody is signed in there who could make one\n` +
      `  tool team login --email <address> --url ${origin}, then tool deploy staging; CI uses that token then\n`,
  );
  t.same([await tokens(), await token("staging")], [[], undefined]);

  const deployed = await app.tool(["deploy"], person);
  t.equal(deployed.code, 0, deployed.stderr);
  t.notMatch(deployed.stdout + deployed.stderr, /lgs_|CloudWatch/);
  const made = { description: "hello, staging", scopes: ["events:write"], project_id: "hello", stage: "staging" };
  t.same(await tokens(), [{ ...made, created_by: "admin@example.com" }]);
  const url = deployed.stdout.trim();
  t.match(await askEndpoint(aws, `${url}?variable=TOOL_LOGS_TOKEN`), { body: "undefined" }, "the app does not get it");
  await arrived(url);
  t.equal((await app.tool(["env", "ls", "--format", "json"], NOBODY)).stdout.includes(".logs"), false);

  app.write({ "app.js": appSource("two") });
  const byCi = await app.tool(["deploy"], NOBODY);
  t.equal(byCi.code, 0, byCi.stderr);
  const first = await token("staging");
  t.same([(await tokens()).length, first, await works(first)], [1, await token("2"), true]);

  const rotated = await app.tool(["stack", "rotate-logs-token"], person);
  t.same(
    [rotated.code, rotated.stdout],
    [
      0,
      "staging has a new token: tool deploy staging uses it; the old one ends when no version has it that can be rolled back to (now 2, 3)\n",
    ],
    rotated.stderr,
  );
  t.ok(await works(first), "versions still have it");
  const again = await app.tool(["deploy"], person);
  t.equal(again.code, 0, again.stderr);
  t.not(await token("staging"), first);
  t.ok(await works(first), "so has the previous one");
  const now = await app.tool(["stack", "rotate-logs-token", "--now"], person);
  t.match(now.stdout, /^staging has a new token; versions 2?,? ?3, 4 send nothing any more: tool deploy staging/);
  t.notOk(await works(first));
  t.equal((await tokens()).length, 1);

  const back = await app.tool(["rollback", "2"], person);
  t.equal(back.code, 0, back.stderr);
  t.match(
    back.stderr,
    `version 2 sends no entries to ${origin}: its token was ended; the next tool deploy staging sends`,
  );

  const removed = await app.tool(["stack", "delete", "--yes"], person);
  t.equal(removed.code, 0, removed.stderr);
  t.match(removed.stdout, "tokens for the log service staging");
  t.same(await tokens(), []);
  const { Parameters } = await new SSM(aws.client).getParametersByPath({ Path: "/tool/hello", Recursive: true });
  t.same(Parameters, []);
});

t.test("a deploy makes a token, which goes to no address but that of the service that made it", async (t) => {
  const requests: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    requests.push(req.headers.authorization);
    res.writeHead(200, { "Content-Type": "application/json" }).end('{"id":"lgs_x"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => void server.close());
  const { service, app, token, tokens, configure, arrived } = await open(t);
  const person = await signedIn(t, service);
  const deployed = await app.tool(["deploy"], person);
  t.equal(deployed.code, 0, deployed.stderr);
  const made = { description: "hello, staging", scopes: ["events:write"], project_id: "hello", stage: "staging" };
  t.same(await tokens(), [{ ...made, created_by: "admin@example.com" }], "the first deploy of a person makes one");
  await arrived(deployed.stdout.trim());
  const { port } = server.address() as AddressInfo;
  configure({ service: `http://127.0.0.1:${port}` });
  const elsewhere = await app.tool(["deploy"], { ...person, TOOL_LOGS_TOKEN: service.owner });
  t.equal(elsewhere.code, 0, elsewhere.stderr);
  t.match(elsewhere.stderr, /^entries go to CloudWatch alone: there is no token of staging for http:/m);
  t.same([requests, await token("staging")], [[], undefined]);
});

t.test("who may not make one is told so, and the app is deployed", slow(), async (t) => {
  const { service, app, tokens } = await open(t);
  const member = await app.tool(["deploy"], await signedIn(t, service, "member"));
  t.equal(member.code, 0, member.stderr);
  t.match(
    member.stderr,
    "entries go to CloudWatch alone: your role in this team is member, which lacks tokens:write: ask an owner or admin\n  tool team members ls lists them\n",
  );
  t.same(await tokens(), []);
});

t.test("a deploy says that the service refuses the token, or that its certificate is not trusted", async (t) => {
  const clock = systemClock;
  const context = { io: { clock } } as unknown as Context;
  const { signal } = new AbortController();
  const watched = { signal, report() {} };
  const ask = (service: string, trustsOthers = false) => {
    const token = { service, project: "shop", token: "lgs_x", retired: [] };
    return whyRefused(context, { stage: "staging", watched, trustsOthers }, token);
  };
  let status = 200;
  const listener: RequestListener = (_, res) =>
    res.writeHead(status, { "content-type": "application/json" }).end('{"type":"x","message":"no"}');
  const listen = async (server: Server) => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const url = `http://127.0.0.1:${await listen(createServer(listener))}`;
  for (const other of [200, 403, 429, 503]) {
    status = other;
    t.equal(await ask(url), undefined, `${other}`);
  }
  status = 401;
  t.equal(
    await ask(url),
    `the log service takes no entries of staging: ${url} does not know its token any more\n` +
      "  tool stack rotate-logs-token -s staging, then tool deploy staging",
  );
  t.equal(await ask("http://127.0.0.1:9"), undefined, "the app may reach what this machine does not");

  await t.test("TLS", { skip: requires("openssl") }, async (t) => {
    const folder = t.testdir({});
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    execFileSync("openssl", [...words, "-subj", "/CN=localhost", "-keyout", key, "-out", cert], { stdio: "ignore" });
    const files = { key: readFileSync(key), cert: readFileSync(cert) };
    const port = await listen(createTlsServer(files, listener));
    const host = `https://localhost:${port}`;
    t.equal(
      await ask(host),
      `entries of staging do not get to ${host}: the app does not accept its certificate, as it is seen from here: self-signed certificate\n` +
        "  put a file with that certificate, or its issuer's (PEM), into the app's folder: tool env add NODE_EXTRA_CA_CERTS=/var/task/ca.pem, then tool deploy staging\n" +
        "  tool logs --cloud warn shows whether that is so",
    );
    // Whoever turns the checks of this machine off turns off none of the app's.
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      t.match(await ask(host), "the app does not accept its certificate");
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
    t.equal(await ask(host, true), undefined, "the app may trust it");
    t.equal(await ask(`https://127.0.0.1:${await listen(createServer(listener))}`), undefined, "it speaks no TLS");
    const failures = [
      ["CERT_HAS_EXPIRED", { reason: "m", hint: "whoever runs the service has to renew its certificate" }],
      ["ERR_TLS_CERT_ALTNAME_INVALID", { reason: "m", hint: "use a name that its certificate is for" }],
      ["CERT_NOT_YET_VALID", { reason: "m", hint: "it begins later: see whether the clocks here and there are right" }],
      ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", { reason: "m", hint: undefined }],
      ["ECONNRESET", undefined],
    ] as const;
    for (const [code, expected] of failures)
      t.same(certificateFailure(Object.assign(new Error("m"), { code })), expected, code);
    const none = "Hostname/IP does not match certificate's altnames: IP: 127.0.0.1 is not in the cert's list";
    const ofNone = Object.assign(new Error(`${none}: `), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    t.equal(certificateFailure(ofNone)?.reason, none, "without a list of nothing");
  });
});

t.test("a rollback to a version whose token was ended says so", async (t) => {
  const service = "https://logs.example.com";
  const config = { name: "shop", logs: { service } };
  const stored = { service, project: "shop", token: "lgs_new", retired: [{ service, token: "lgs_old" }] };
  const failing = async () => {
    throw new PlatformError("x", "no", "");
  };
  const watched = { signal: new AbortController().signal, report() {} };
  const of = (own: string | undefined, more: object = {}) => {
    const tokens = { read: async () => stored, ofVersion: async () => own, ...more } as unknown as LogTokens;
    return endedTokenOf({ config, stage: "staging", tokens, watched }, "7");
  };
  t.equal(
    await of("lgs_ended"),
    `version 7 sends no entries to ${service}: its token was ended; the next tool deploy staging sends them again`,
  );
  t.equal(await of("lgs_new"), undefined);
  t.equal(await of("lgs_old"), undefined, "not ended yet");
  t.equal(await of(undefined), undefined, "deployed without a service");
  t.equal(await of("lgs_ended", { read: async () => undefined }), undefined);
  t.equal(await of("lgs_ended", { read: failing }), undefined, "a rollback does not fail for it");
  t.equal(await of("lgs_ended", { ofVersion: failing }), undefined);
});

t.test("a service that answers something else than a token", async (t) => {
  const service = { origin: "https://logs.example.com", project: "shop" };
  const answering = (id: string) => ({ call: async () => ({ id }) }) as unknown as AccountClient;
  const made = (id: string) => makeToken(answering(id), { project: service.project, app: "shop", stage: "staging" });
  t.equal(await made("lgs_x"), "lgs_x");
  for (const id of ["", "a\nb", "a b", "\u00e9", "x".repeat(5_000)]) {
    await t.rejects(made(id), { message: "the log service answered something that is no token" }, JSON.stringify(id));
  }
});

t.test("a deploy that ends tokens keeps what was written since it read them", async (t) => {
  const service = await startTestService(t);
  const context = { io: { env: await signedIn(t, service), clock: systemClock }, say: async () => {} };
  await service.call("add_project", { project: { id: "shop", name: "shop" } });
  const made = await service.call("add_token", {
    token: { description: "", scopes: ["events:write"], project_id: "shop", stage: "staging" },
  });
  const { id: old } = made.json;
  const at = { service: new URL(service.running.url).origin, project: "shop" };
  const retired = (token: string) => ({ service: at.service, token });
  const read: LogToken = { ...at, token: "lgs_before", retired: [retired(old)] };
  const rotated: LogToken = { ...at, token: "lgs_rotated", retired: [retired(old), retired("lgs_before")] };
  const watched = { signal: new AbortController().signal, report() {} };
  for (const [title, meanwhile, after] of [
    ["nothing", read, { ...read, retired: [] }],
    ["a rotation", rotated, { ...rotated, retired: [retired("lgs_before")] }],
    ["the removal of the app", undefined, undefined],
  ] as const) {
    let stored: LogToken | undefined = meanwhile;
    const tokens = {
      read: async () => stored,
      versions: async () => [{ version: "3", token: "lgs_before" }],
      write: async (_: string, token: LogToken) => {
        stored = token;
      },
    } as unknown as LogTokens;
    await endRetired(context as unknown as Context, { stage: "staging", tokens, watched }, read);
    t.same(stored, after, title);
  }
  t.equal((await service.call("get_account", {}, old)).status, 401, "it is ended");
});

t.test("two first deploys make one project", async (t) => {
  const service = { origin: "https://logs.example.com", project: "shop" };
  const failure = (status: number) => new TeamError("no", "", { cause: new RpcFailure(status, "x", "no") });
  for (const [status, made] of [
    [409, "lgs_x"],
    [403, undefined],
  ] as const) {
    let isThere = false;
    const person = {
      async call(name: string) {
        if (name === "add_token" && !isThere) throw failure(404);
        if (name === "add_token") return { id: "lgs_x" };
        // The other one was faster.
        isThere = true;
        throw failure(status);
      },
    } as unknown as AccountClient;
    const token = makeToken(person, { project: service.project, app: "shop", stage: "staging" });
    t.equal(await token.catch(() => undefined), made, `${status}`);
  }
});

t.test("of two people who make a token at once, neither loses one that nobody ends", async (t) => {
  const service = await startTestService(t);
  const context = { io: { env: await signedIn(t, service), clock: systemClock }, say: async () => {} };
  await service.call("add_project", { project: { id: "shop", name: "shop" } });
  const { origin } = new URL(service.running.url);
  const theirs: LogToken = { service: origin, project: "shop", token: "lgs_theirs", retired: [] };
  let stored: LogToken | undefined;
  let made = 0;
  const tokens = {
    // The other one stores theirs while this one's is made.
    async read() {
      const { json } = await service.call("get_tokens");
      made = json.tokens.filter((one: { project_id: string }) => one.project_id === "shop").length;
      if (made > 0) stored ??= theirs;
      return stored;
    },
    versions: async () => [{ version: "1", token: "lgs_theirs" }],
    write: async (_: string, token: LogToken) => {
      stored = token;
    },
  } as unknown as LogTokens;
  const watched = { signal: new AbortController().signal, report() {} };
  const config = { name: "shop", logs: { service: origin } } as Config;
  const request = { config, stage: "staging", tokens, watched };
  const { token } = await deliveryFor(context as unknown as Context, request);
  t.same([token, stored, made], [theirs, theirs, 1]);
  await tokens.read("staging", watched);
  t.equal(made, 0, "its own is ended");

  stored = undefined;
  await rotateToken(context as unknown as Context, request, { now: false });
  t.same((stored as LogToken | undefined)?.retired, [{ service: origin, token: "lgs_theirs" }]);
});
