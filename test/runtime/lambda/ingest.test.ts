// Answers of a log service to a function, and connections that are gone.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { openIngest, unreachedReason } from "../../../runtime/lambda/ingest.ts";
import { requires } from "../../support/require.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const BATCH = { body: gzipSync("{}"), count: 1, idempotencyKey: "0123456789abcdef/1" };

async function start(t: Test, handler: RequestListener) {
  const server = createServer((req, res) => {
    req.resume();
    req.on("end", () => handler(req, res));
  });
  const sockets: Socket[] = [];
  server.on("connection", (socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  t.teardown(stop);
  const { port } = server.address() as AddressInfo;
  const clock = new TestClock();
  const post = await openIngest({ url: `http://127.0.0.1:${port}/ingest/shop`, token: "lgs_x", clock });
  return { post, clock, sockets, stop, host: `127.0.0.1:${port}` };
}

t.test("answers", async (t) => {
  let answer: { status: number; body: string; headers?: Record<string, string> };
  const { post, host } = await start(t, (_, res) => {
    res.writeHead(answer.status, answer.headers).end(answer.body);
  });
  const notService = { kind: "failed", reason: `${host} does not answer as a log service` };
  const rows: readonly (readonly [status: number, body: string, expected: object, headers?: Record<string, string>])[] =
    [
      [200, '{"accepted":3,"errors":[]}', { kind: "taken", refused: 0 }],
      [
        200,
        '{"accepted":1,"errors":[{"index":1,"message":"line 2: too large"}]}',
        { kind: "taken", refused: 1, reason: "line 2: too large" },
      ],
      [200, '{"accepted":0,"errors":[]}', { kind: "taken", refused: 1, reason: `${host} took 0 of 1 entries` }],
      [200, "<html>", notService],
      [200, "[]", notService],
      [400, '{"type":"invalid","message":"no"}', { kind: "refused", reason: "400 no" }],
      [400, "<html>", { kind: "failed", reason: "400" }],
      [413, '{"type":"too_large","message":"too large"}', { kind: "refused", reason: "413 too large" }],
      [401, '{"type":"unauthorized","message":"unknown"}', { kind: "failed", reason: "401 unknown" }],
      [404, '{"type":"not_found","message":"no project"}', { kind: "failed", reason: "404 no project" }],
      [302, "", { kind: "failed", reason: "302" }, { location: "http://127.0.0.1:1/" }],
      [
        429,
        '{"type":"rate_limited","message":"slow"}',
        { kind: "failed", reason: "429 slow", retryAfterMs: 7_000 },
        { "retry-after": "7" },
      ],
      [503, "{}", { kind: "failed", reason: "503" }],
    ];
  for (const [status, body, expected, headers = {}] of rows) {
    answer = { status, body, headers };
    t.same(await post(BATCH), expected, `${status} ${body}`);
  }
});

t.test("a connection that was closed meanwhile is no failure", async (t) => {
  const { post, sockets } = await start(t, (_, res) => res.end('{"accepted":1,"errors":[]}'));
  for (let round = 1; round <= 3; round++) {
    t.equal((await post(BATCH)).kind, "taken");
    t.equal(sockets.length, round, "the one that is there, or a new one");
    sockets.at(-1)!.resetAndDestroy();
    await until("it is closed", () => sockets.at(-1)!.closed);
  }
});

t.test("a connection that idled for long is not used again", async (t) => {
  const { post, clock, sockets } = await start(t, (_, res) => res.end('{"accepted":1,"errors":[]}'));
  await post(BATCH);
  await clock.advance(50_000);
  await post(BATCH);
  t.equal(sockets.length, 1);
  await clock.advance(50_001);
  await post(BATCH);
  t.equal(sockets.length, 2);
});

t.test("nobody there, no answer, and half of one", async (t) => {
  let isSilent = true;
  const { post, clock, sockets, stop, host } = await start(t, (_, res) => {
    if (isSilent) return;
    res.writeHead(200, { "content-length": "100" });
    res.write("{");
    res.socket!.end();
  });
  const late = post(BATCH);
  await until("the request", () => sockets.length > 0);
  await clock.advance(15_000);
  t.same(await late, { kind: "failed", reason: "no answer within 15 s" });
  isSilent = false;
  t.match(await post(BATCH), { kind: "failed", reason: /^the answer broke off/ });
  await stop();
  t.same(await post(BATCH), { kind: "failed", reason: `${host} cannot be reached: ECONNREFUSED` });
});

t.test("a certificate that is not accepted", { skip: requires("openssl") }, async (t) => {
  const advice: readonly (readonly [code: string, advice: RegExp])[] = [
    ["DEPTH_ZERO_SELF_SIGNED_CERT", /: put a file with its certificate, .* run tool env add NODE_EXTRA_CA_CERTS=/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /: put a file with its certificate, .* run tool env add NODE_EXTRA_CA_CERTS=/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /: use a name that its certificate is for in logs\.service of tool\.json$/],
    ["CERT_HAS_EXPIRED", /: whoever runs the service has to renew its certificate$/],
    ["CERT_NOT_YET_VALID", /: its certificate begins later: see whether /],
    ["ECONNREFUSED", /^h cannot be reached: ECONNREFUSED$/],
    ["__proto__", /^h cannot be reached: __proto__$/],
  ];
  for (const [code, said] of advice) t.match(unreachedReason("h", { code, message: "m" }), said, code);

  const folder = t.testdir({});
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync("openssl", [...words, "-subj", "/CN=localhost", "-keyout", key, "-out", cert], { stdio: "ignore" });
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => void server.close());
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const post = await openIngest({ url: `https://${host}/ingest/shop`, token: "lgs_x", clock: new TestClock() });
  const { reason } = (await post(BATCH)) as { reason: string };
  t.match(reason, `${host} cannot be reached: DEPTH_ZERO_SELF_SIGNED_CERT: put a file with its certificate, or its`);
});

t.test("an answer that is none of a log service is given up at once", async (t) => {
  const rows: readonly (readonly [title: string, answer: string, kind: string])[] = [
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", "failed"],
    ["hints without end", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(21), "failed"],
    [
      "some hints",
      `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(20)}HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n{"accepted":1,"errors":[]}`,
      "taken",
    ],
  ];
  for (const [title, answer, kind] of rows) {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      socket.once("data", () => socket.write(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/ingest/shop`;
    const post = await openIngest({ url, token: "lgs_x", clock: new TestClock() });
    t.match(await post(BATCH), { kind }, title);
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

t.test("variables that Node refuses are no reason to end", async (t) => {
  const rows: readonly (readonly [url: string, token: string, reason: string])[] = [
    ["ftp://127.0.0.1/ingest/shop", "lgs_x", "TOOL_LOGS_URL is no address of a log service"],
    ["data:,x", "lgs_x", "TOOL_LOGS_URL is no address of a log service"],
    ["http://%zz:%@127.0.0.1:9/ingest/shop", "lgs_x", "127.0.0.1:9 cannot be reached: ECONNREFUSED"],
    ["http://127.0.0.1:9/ingest/shop", "a\nb", "TOOL_LOGS_TOKEN is no token"],
    ["http://127.0.0.1:9/ingest/shop", "\u0100", "TOOL_LOGS_TOKEN is no token"],
  ];
  for (const [url, token, reason] of rows) {
    const post = await openIngest({ url, token, clock: new TestClock() });
    t.same(await post(BATCH), { kind: "failed", reason }, JSON.stringify([url, token]));
  }
});
