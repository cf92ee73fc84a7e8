// Where deployed apps answer in the sandbox, who gets no answer there, and what its gateway does with requests.

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { appsPage } from "../../../cli/sandbox/front-page.ts";
import type { InvokeResult } from "../../../cli/sandbox/function/function.ts";
import { type GatewayOptions, serveThroughGateway } from "../../../cli/sandbox/function/gateway.ts";
import { openApp } from "../../support/deployed-app.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const SOURCE = `
require("node:http").createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  const { host, upgrade, "x-forwarded-proto": proto, "x-forwarded-port": port } = request.headers;
  if (pathname === "/own") response.setHeader("Server", "own");
  if (pathname === "/drip") {
    response.write("one ");
    const rest = new URL(request.url, "http://localhost").searchParams.get("rest");
    const end = () => (rest === null || require("node:fs").existsSync(rest) ? response.end("two") : setTimeout(end, 10));
    setTimeout(end, 10);
    return;
  }
  if (pathname === "/to") {
    response.writeHead(302, { Location: "/docs/", "Set-Cookie": ["a=1; Path=/", "b=2; Path=/docs"] }).end();
    return;
  }
  if (pathname === "/away") {
    response.writeHead(302, { Location: "http://" + host + "/docs/" }).end();
    return;
  }
  response.end(JSON.stringify({ path: request.url, host, proto, port, upgrade }));
}).listen(process.env.PORT);
`;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface AskOptions {
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

function ask(
  port: number,
  path: string,
  { host, method = "GET", headers = {}, body }: AskOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const own = { ...headers, ...(host !== undefined && { host }) };
    const clientRequest = request({ host: "127.0.0.1", port, path, method, headers: own }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.once("end", () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
      response.once("error", reject);
    });
    clientRequest.once("error", reject);
    clientRequest.end(body);
  });
}

t.test("addresses of a deployed app", async (t) => {
  const { aws, app } = await openApp(t, { stages: { production: { domain: "shop.example" } } }, { tellsScheme: true });
  app.write({ "app.js": SOURCE });
  const deployed = await app.tool(["deploy"]);
  t.equal(deployed.code, 0, deployed.stderr);
  const port = Number(new URL(aws.endpoint).port);
  const [api] = aws.state.service("apigateway").apis.values();
  const gateways = aws.state.service("apigateway");
  gateways.domains.set("shop.example", {
    name: "shop.example",
    certificateArn: "",
    endpointType: "EDGE",
    securityPolicy: "TLS_1_2",
    tags: {},
    distribution: "d1.cloudfront.net",
    mappings: new Map([["(none)", { restApiId: api!.id, stage: "staging" }]]),
  });

  const named = `staging.app.localhost:${port}`;
  const below = "/_app/app/staging";
  const own = `${api!.id}.execute-api.eu-west-1`;
  const answering: readonly [name: string, host: string, before: string, prefix: string][] = [
    ["by name", named, "", ""],
    ["by name in other letters", `Staging.App.LocalHost:${port}`, "", ""],
    ["below 127.0.0.1", `127.0.0.1:${port}`, below, below],
    ["below localhost", `localhost:${port}`, below, below],
    ["the gateway's own name", `${own}.amazonaws.com`, "/staging", "/staging"],
    ["the gateway's own name here", `${own}.localhost:${port}`, "/staging", "/staging"],
    ["a domain", "shop.example", "", ""],
    ["a domain with the port", `shop.example:${port}`, "", ""],
  ];
  for (const [name, host, before, prefix] of answering) {
    const plain = await ask(port, `${before}/a%20b?c=d`, { host });
    t.match(
      [plain.status, plain.headers.server, JSON.parse(plain.body)],
      [200, "tool-sandbox", { path: "/a%20b?c=d", host, proto: "http", port: String(port) }],
      name,
    );
    const moved = await ask(port, `${before}/to`, { host });
    t.match(moved.headers.location, `${prefix}/docs/`, `${name}: a redirect`);
    t.same(moved.headers["set-cookie"], [`a=1; Path=${prefix || "/"}`, `b=2; Path=${prefix}/docs`], `${name}: cookies`);
    const away = await ask(port, `${before}/away`, { host });
    t.equal(away.headers.location, `http://${host}${prefix}/docs/`, `${name}: a redirect with its host`);
  }
  t.match(JSON.parse((await ask(port, below)).body), { path: "/" }, "without a slash at the end");
  t.equal((await ask(port, "/own", { host: named })).headers.server, "own", "an app's own Server header");

  const FOREIGN = "no app answers to this host name here\n";
  const FORBIDDEN = '{"message":"Forbidden"}';
  const refused: readonly [name: string, host: string, path: string, status: number, body: string | RegExp][] = [
    ["another's name that resolves to this machine", "evil.example", "/", 403, FOREIGN],
    ["another's name, below", `evil.example:${port}`, `${below}/`, 403, FOREIGN],
    ["a name that only ends so", "evillocalhost", "/", 403, FOREIGN],
    ["a name below 127.0.0.1's", "127.0.0.1.evil.example", below, 403, FOREIGN],
    ["another address of the loopback", "127.0.0.2", below, 403, FOREIGN],
    ["below a name of an app", named, `${below}/`, 200, /"path":"\/_app\/app\/staging\/"/],
    [
      "below a name of no app",
      "no.app.localhost",
      `${below}/`,
      404,
      /No app answers to http:\/\/no\.app\.localhost\/_app\/.*\napp has no stage no; it has staging\.\n\napp staging/,
    ],
    ["an app that is not there", "127.0.0.1", "/_app/none/staging/", 404, /\nThere is no app none in the sandbox\.\n/],
    [
      "a stage that is not there",
      "127.0.0.1",
      "/_app/app/none/?a",
      404,
      "No app answers to http://127.0.0.1/_app/app/none/?a\napp has no stage none; it has staging.\n",
    ],
    ["no stage", "localhost", "/_app/app/", 404, /\nThe address has no stage of app; it has staging\.\n/],
    ["no stage in a name", "app.localhost", "/", 404, /\nThe address has no stage of app; it has staging\.\n/],
    ["a path", "localhost", "/x", 404, "No app answers to http://localhost/x\n\napp staging"],
    ["an API that is not there", "x.execute-api.eu-west-1.amazonaws.com", "/staging/", 403, FORBIDDEN],
    [
      "an API that is not there, here",
      "x.execute-api.eu-west-1.localhost",
      "/staging/",
      404,
      /No app answers to .*\n\napp/,
    ],
    ["a stage of the API that is not there", `${own}.amazonaws.com`, "/none/", 403, FORBIDDEN],
    [
      "the front page",
      "127.0.0.1",
      "/",
      200,
      /^tool sandbox: the cloud platform on this machine\.\n\napp staging {2}http/,
    ],
    ["the front page by name", `localhost:${port}`, "/?x", 200, new RegExp(`http://${named}/ {2}http://127`)],
  ];
  for (const [name, host, path, status, body] of refused) {
    const answer = await ask(port, path, { host });
    t.match([answer.status, answer.headers.server, answer.body], [status, "tool-sandbox", body], name);
    if (status === 403) t.notMatch(answer.body, /staging/, `${name}: says nothing of the apps`);
  }
  const nameless = connect(port, "127.0.0.1").setEncoding("utf8");
  nameless.end("GET / HTTP/1.0\r\n\r\n");
  let said = "";
  for await (const part of nameless) said += part;
  t.match(said, /^HTTP\/1.1 403 /, "no host name at all");
  t.match(said, FOREIGN);

  const page = await ask(port, "/", { headers: { accept: "text/html,*/*" } });
  t.match(page.headers["content-type"], "text/html");
  t.match(page.body, `<a href="http://${named}/">`);
  t.match(page.body, `<code>curl -H &#39;Host: shop.example&#39; http://127.0.0.1:${port}/</code>`);

  const head = await ask(port, `${below}/`, { method: "HEAD" });
  t.match([head.status, head.body], [200, ""], "HEAD");
  const upgraded = await ask(port, "/", {
    host: named,
    headers: { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x" },
  });
  t.equal(upgraded.status, 200, "the gateway knows no upgrade: it is a request as any other");
  t.same(JSON.parse(upgraded.body).upgrade, undefined);

  const curl = async (...words: string[]) => (await promisify(execFile)("curl", ["-sS", ...words])).stdout;
  t.match(await curl(`http://127.0.0.1:${port}/`), "app staging");
  t.equal(await curl("-N", `http://127.0.0.1:${port}${below}/drip`), "one two");
  const resolved = `staging.app.localhost:${port}:127.0.0.1`;
  t.match(await curl("--resolve", resolved, "-L", `http://${named}/to`), '"path":"/docs/"', "curl follows");
  t.match(await curl("-L", `http://127.0.0.1:${port}${below}/to`), '"path":"/docs/"', "curl follows below 127.0.0.1");

  // The app sends the second part when the first has come.
  const rest = join(t.testdir(), "rest");
  const parts: string[] = [];
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    request(
      { host: "127.0.0.1", port, path: `/drip?rest=${encodeURIComponent(rest)}`, headers: { host: named } },
      resolve,
    )
      .once("error", reject)
      .end();
  });
  for await (const part of stream) {
    parts.push(String(part));
    writeFileSync(rest, "");
  }
  t.same(parts, ["one ", "two"], "a body flows as it comes");
});

t.test("the list of apps is text", (t) => {
  const domains = [{ name: "x.example", url: "http://c/v1" }];
  const apps = ["s", "t"].map((stage) => ({ app: "<b>", stage, urls: ["http://a/", "http://b/"] as const, domains }));
  const html = appsPage(apps, { isHtml: true }).body;
  t.notMatch(html, "<b>");
  t.equal(html.split("&lt;b&gt;").length, 2, "an app is there once");
  t.match(appsPage([], { isHtml: false }), { status: 200, body: /Nothing is deployed yet/ });
  t.match(appsPage([], { isHtml: true }), { status: 200, body: /Nothing is deployed yet/ });
  const request = { address: `http://localhost/<i>${"x".repeat(300)}`, app: "<b>", stage: "<u>" };
  const missing = appsPage(apps, { isHtml: true, request });
  t.equal(missing.status, 404);
  t.notMatch(missing.body, /<[biu]>/);
  t.match(missing.body, /&lt;i&gt;x{100,180}…<\/strong><br>&lt;b&gt; has no stage &lt;u&gt;; it has s, t\.</);
  t.match(
    appsPage(apps, { isHtml: false, request }).body,
    "<b> s  http://a/  http://b/\n       curl -H 'Host: x.example' http://c/v1\n<b> t  http://a/",
  );
  t.end();
});

/** A gateway in front of a function that does what a row says. */
async function gateway(t: Test, invoke: () => Promise<InvokeResult>, more: Partial<GatewayOptions> = {}) {
  const options: GatewayOptions = { kind: "rest", streams: true, target: { invoke }, ...more };
  const server = createServer((req, res) => void serveThroughGateway(req, res, options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

function streamed(body: Readable): InvokeResult {
  const type = "application/vnd.awslambda.http-integration-response";
  return { kind: "stream", type, body: body as IncomingMessage, failed: () => undefined };
}

const HEAD = Buffer.concat([Buffer.from('{"statusCode":200}'), Buffer.alloc(8)]);

t.test("limits of the gateway", async (t) => {
  let calls = 0;
  const answer = async (): Promise<InvokeResult> => {
    calls += 1;
    return streamed(Readable.from([HEAD, Buffer.from("ok")]));
  };
  const port = await gateway(t, answer);
  const sizes: readonly [bytes: number, status: number][] = [
    [4 * 1024 * 1024, 200],
    [5 * 1024 * 1024, 413],
    [10 * 1024 * 1024 + 1, 413],
    [40 * 1024 * 1024, 413],
  ];
  for (const [bytes, status] of sizes) {
    const { status: got } = await ask(port, "/", { method: "POST", body: Buffer.alloc(bytes) });
    t.equal(got, status, `${bytes} bytes`);
  }
  t.equal(calls, 1, "the function gets what fits");

  const clock = new TestClock();
  let finish: ((result: InvokeResult) => void) | undefined;
  const late = await gateway(t, () => new Promise((resolve) => (finish = resolve)), { timeoutMs: 60, clock });
  const pending = ask(late, "/");
  await until("the limit to be set", () => clock.timers.length === 1 && finish !== undefined);
  await clock.advance(60);
  const timedOut = await pending;
  t.same([timedOut.status, timedOut.body], [504, '{"message":"Endpoint request timed out"}']);
  const body = Readable.from([HEAD, Buffer.from("late")]);
  finish!(streamed(body));
  await until("the late response is read to its end", () => body.readableEnded);

  const refusing = await gateway(t, () => Promise.reject(new Error("the cöde is damaged")));
  const refused = await ask(refusing, "/");
  t.same([refused.status, refused.body], [502, '{"message":"the cöde is damaged"}'], "why nothing ran, to its end");

  const endless = new Readable({ read() {} });
  endless.push(Buffer.concat([HEAD, Buffer.from("begun")]));
  const cut = await gateway(t, async () => streamed(endless), { timeoutMs: 60, clock });
  const begun = t.rejects(ask(cut, "/"), { code: "ECONNRESET" }, "a stream that lasts longer is cut");
  await until("what there is to be sent", () => clock.timers.length === 1 && endless.readableLength === 0);
  await clock.advance(60);
  await begun;
});

t.test("a client that goes away", async (t) => {
  let sent = 0;
  const PARTS = 400;
  const body = new Readable({
    highWaterMark: 0,
    read() {
      sent += 1;
      this.push(sent > PARTS ? null : sent === 1 ? HEAD : Buffer.alloc(65_536));
    },
  });
  const port = await gateway(t, async () => streamed(body));
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  // By the time another client has as much, all of it would be read.
  const other = await gateway(t, async () =>
    streamed(Readable.from([HEAD, ...Array(PARTS).fill(Buffer.alloc(65_536))])),
  );
  await ask(other, "/");
  t.ok(sent < PARTS, "nothing is read faster than the client reads");
  socket.destroy();
  await until("the rest is read, so that the function ends", () => body.readableEnded);
});
