// 5,000 (FUZZ_COUNT) random requests through the proxy to an app and straight to the same app: the answers are the same
// but for what the configuration asks, nothing crashes, and neither sockets nor memory are left behind.
// `npm run fuzz:proxy` makes 200,000.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import t from "tap";
import { anyPort } from "../../runtime/port.ts";
import { type Conversation, converse, type StreamedResponse } from "../support/http-stream.ts";
import { socketsOf } from "../support/processes.ts";
import { apps, isRunning } from "../support/runtime.ts";
import { until } from "../support/until.ts";

const COUNT = Number(process.env.FUZZ_COUNT ?? 5_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
/** As many conversations at a time. */
const CLIENTS = 8;

/** A request that lacks its end has no answer to wait for. */
const IMPATIENCE_MS = 100;
const PATIENCE_MS = 3_000;

const NAMES_HTML = "text/html,*/*;q=0.8";
const HEAD = "<!-- in the head -->";
const BODY = "<!-- in the body -->";
const CONFIG = {
  headers: { "/*": { "X-Rule": "all" }, "/a/*": { "X-Rule": "a" } },
  cors: { allowed_origins: ["https://shop.example"] },
  redirects: { "/old/*": { location: "/new/:splat", status: 301 }, "/rewritten/*": { location: "/to/:splat" } },
  inject: {
    head: [{ type: "literal", value: HEAD }],
    body: [{ type: "literal", value: BODY }],
  },
};

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly bytes: Buffer;
}

t.test(`${COUNT} requests`, { skip: process.platform !== "linux" ? "needs /proc" : false }, async (t) => {
  const app = join(apps, "echo/server.mjs");
  const port = await anyPort();
  const direct = spawn(process.execPath, [app], { env: { ...process.env, PORT: String(port) }, stdio: "inherit" });
  const serve = fileURLToPath(new URL("../support/serve.js", import.meta.url));
  const proxy = spawn(
    process.execPath,
    ["--expose-gc", serve, `exec ${process.execPath} ${app}`, JSON.stringify(CONFIG)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  t.teardown(() => {
    direct.kill();
    proxy.kill();
  });
  const output = linesOf(proxy);
  const proxyPort = Number(await output.line((line) => /^\d+$/.test(line)));
  const listening = JSON.parse(await output.line((line) => line.includes('"message":"app listening')));
  const pids = [proxy.pid!, listening.fields.pid as number];
  const listens = () =>
    converse(port, PLAIN, ["GET"]).then(
      () => true,
      () => false,
    );
  await until("the app listens", listens);
  const socketsBefore = pids.map(socketsOf);
  const heapOf = async () => {
    const line = output.line((line) => line.startsWith("heap "));
    proxy.kill("SIGUSR2");
    return Number((await line).slice(5));
  };

  const random = generator(SEED);
  const kinds: Record<string, number> = {};
  const begin = performance.now();
  let sent = 0;
  let heapEarly = 0;
  const client = async () => {
    while (sent < COUNT) {
      const { kind, requests, bytes, leaveAfterMs } = conversation(random);
      sent += requests.length;
      kinds[kind] = (kinds[kind] ?? 0) + requests.length;
      const methods = requests.map(({ method }) => method);
      const through = await converse(proxyPort, bytes, methods, leaveAfterMs);
      if (kind === "aborted") continue;
      const where = () => `seed ${SEED}, ${kind}: ${JSON.stringify(bytes.toString("latin1").slice(0, 2000))}`;
      if (kind === "broken") {
        // Where the head ends before its time, Node's server answers the first request with the refusal of the rest.
        const isWhole = bytes.indexOf("\r\n\r\n") === bytes.lastIndexOf("\r\n\r\n");
        if (isWhole && isAccepted(through) && !isAccepted(await converse(port, bytes, methods, PATIENCE_MS))) {
          t.fail(`the proxy takes what the app does not: ${where()}`);
        }
        continue;
      }
      const straight = await converse(port, bytes, methods);
      const difference =
        through.responses.length !== requests.length || straight.responses.length !== requests.length
          ? `${through.responses.length} and ${straight.responses.length} answers to ${requests.length} requests`
          : requests
              .map((request, i) => differenceOf(request, through.responses[i]!, straight.responses[i]!))
              .find((text) => text !== undefined);
      if (difference !== undefined) t.fail(`${difference}: ${where()}`);
    }
  };
  const early = async () => {
    await until(
      "a quarter of the requests",
      () => sent >= COUNT / 4,
      () => sent,
    );
    heapEarly = await heapOf();
  };
  await Promise.all([early(), ...Array.from({ length: CLIENTS }, client)]);
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  const heapLate = await heapOf();

  t.ok(pids.every(isRunning), "the proxy and its app still run");
  t.notOk(
    output.all().some((line) => line.includes('"message":"app exited"')),
    "the app never went down",
  );
  const failures = output.all().filter((line) => line.includes("failed inside the proxy"));
  t.same(failures, [], "nothing failed inside");
  // The app closes idle connections after five seconds.
  const now = () => pids.map(socketsOf);
  await until("all sockets are closed", () => now().every((count, i) => count <= socketsBefore[i]!)).catch(() => {});
  // Fewer, if the app's start still had some open when they were counted.
  const left = now().map((count, i) => Math.max(0, count - socketsBefore[i]!));
  t.same(left, [0, 0], "sockets of the proxy and of the app");
  t.ok(heapLate < heapEarly * 1.2 + 2e6, `${mb(heapLate)} in use, ${mb(heapEarly)} after a quarter`);
  const counts = Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`);
  console.log(
    `measured: ${counts.join(", ")} in ${seconds} s; ${mb(heapEarly)} after a quarter, ${mb(heapLate)} at the end`,
  );
});

const PLAIN = Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n");

/** Returns a difference for which the configuration does not ask. */
function differenceOf(request: Request, through: StreamedResponse, straight: StreamedResponse): string | undefined {
  const { method, path, query, headers } = request;
  const header = (name: string) => headers.find(([own]) => own.toLowerCase() === name)?.[1];
  const value = (name: string) => through.headers.find(([own]) => own === name)?.[1];
  if (value("x-rule") !== (path.startsWith("/a/") ? "a" : "all")) return "the header rule";
  const isShop = header("origin") === "https://shop.example" && ["HEAD", "GET", "POST", "OPTIONS"].includes(method);
  if (method === "OPTIONS" && header("access-control-request-method")) {
    return through.status === 204 && through.body.length === 0 ? undefined : "the preflight answer";
  }
  if ((value("access-control-allow-origin") === "https://shop.example") !== isShop) return "the origin";
  if (path.startsWith("/old/")) {
    const location = `/new/${path.slice(5)}${query.size > 0 ? `?${query}` : ""}`;
    return through.status === 301 && value("location") === location ? undefined : `redirected to ${value("location")}`;
  }
  if (through.status !== straight.status) return `status ${through.status}, straight ${straight.status}`;
  const isPage = through.status >= 400 && header("accept") === NAMES_HTML;
  const changed = new Set([
    ...["connection", "keep-alive", "date", "transfer-encoding", "vary", "x-rule", "content-length"],
    ...["access-control-allow-origin", "access-control-allow-credentials"],
    ...(isPage ? ["content-type", "content-encoding", "etag"] : []),
    // Headers of a body that was compressed or injected into.
    ...["content-encoding", "etag", "accept-ranges"],
  ]);
  const kept = (response: StreamedResponse) =>
    JSON.stringify(response.headers.filter(([name]) => !changed.has(name)).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (kept(through) !== kept(straight)) return `headers ${kept(through)}, straight ${kept(straight)}`;
  const tag = (response: StreamedResponse) => response.headers.find(([name]) => name === "etag")?.[1];
  if (!isPage && tag(through)?.replace("W/", "") !== tag(straight)?.replace("W/", "")) return "the tag";
  if (isPage) {
    const isOwn = /html/.test(straight.headers.find(([name]) => name === "content-type")?.[1] ?? "");
    return isOwn || method === "HEAD" || through.body.includes("<!doctype html>") ? undefined : "the error page";
  }
  return differenceOfBodies(request, plain(through), plain(straight));
}

function differenceOfBodies(request: Request, through: string, straight: string): string | undefined {
  const without = through.replace(HEAD, "").replace(BODY, "");
  if (!straight.startsWith('{"method"')) {
    return without === straight ? undefined : `body ${through.slice(0, 200)}, straight ${straight.slice(0, 200)}`;
  }
  // The echo app's own words: what it saw of the request.
  const seen = JSON.parse(without);
  const should = JSON.parse(straight);
  const url = should.url.replace(/^\/rewritten\//, "/to/");
  if (seen.method !== should.method || seen.url !== url) return `the app saw ${seen.method} ${seen.url}`;
  if (JSON.stringify(seen.body) !== JSON.stringify(should.body)) return "the app got another body";
  const viaProxy = sawHeaders(seen.rawHeaders, request);
  const written = sawHeaders(should.rawHeaders, request);
  return viaProxy === written ? undefined : `the app saw headers ${viaProxy}, straight ${written}`;
}

/** Headers of one connection, the proxy's own, or what injection asks of the app. */
const NOT_COMPARED =
  /^(connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|content-length|upgrade|expect|x-forwarded-.*|x-context|x-request-id|x-original-path|range|if-range|accept-encoding)$/;

function sawHeaders(rawHeaders: readonly string[], request: Request): string {
  const named = request.headers
    .filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.split(",").map((token) => token.trim().toLowerCase()));
  const pairs: [string, string][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    // An app behind the proxy gets its own address where the client's Host is empty.
    if (name === "host" && request.headers.some(([own, value]) => own === "Host" && value === "")) continue;
    const value = rawHeaders[i + 1]!;
    // A tag that compression made weak is the app's own again.
    const seen = name === "if-none-match" ? value.replace(/\bW\//g, "") : value;
    if (!NOT_COMPARED.test(name) && !named.includes(name)) pairs.push([name, seen]);
  }
  // Cookies that come in several lines are one.
  return JSON.stringify(pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

function plain({ headers, body }: StreamedResponse): string {
  const coding = headers.find(([name]) => name === "content-encoding")?.[1];
  if (body.length === 0) return "";
  if (coding === "br") return brotliDecompressSync(body).toString();
  return coding === "gzip" ? gunzipSync(body).toString() : body.toString();
}

type Random = () => number;

interface Planned {
  readonly kind: "alone" | "pipelined" | "aborted" | "broken";
  readonly requests: readonly Request[];
  readonly bytes: Buffer;
  readonly leaveAfterMs?: number;
}

function conversation(random: Random): Planned {
  const kind = pick(random, ["alone", "alone", "alone", "pipelined", "pipelined", "aborted", "broken"] as const);
  const count = kind === "alone" || kind === "broken" ? 1 : 1 + below(random, 5);
  // A request that asks the echo app for something that is no HTTP would bring it down.
  const requests = Array.from({ length: count }, () => randomRequest(random, kind === "broken"));
  const bytes = Buffer.concat(requests.map((request) => request.bytes));
  if (kind === "broken") return { kind, requests, bytes: broken(random, bytes), leaveAfterMs: IMPATIENCE_MS };
  if (kind !== "aborted") return { kind, requests, bytes };
  const part = random() < 0.5 ? bytes : bytes.subarray(0, 1 + below(random, bytes.length));
  return { kind, requests, bytes: part, leaveAfterMs: below(random, 30) };
}

function randomRequest(random: Random, isPlain: boolean): Request {
  const method = pick(random, ["GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]);
  const folder = pick(random, ["/", "/", "/a/", "/old/", "/rewritten/", "/x//y/", "/%41%2f/", "/100%/", "/;,:@&=+$!/"]);
  const path = `${folder}${text(random, below(random, 12), "abcXYZ0123456789-._~")}`;
  const query = new URLSearchParams();
  if (random() < 0.3)
    query.set("status", pick(random, ["200", "201", "204", "206", "299", "302", "304", "404", "500"]));
  if (random() < 0.4)
    query.set("type", pick(random, ["text/html", "text/plain", "text/css; charset=utf-8", "image/png"]));
  if (random() < 0.3) query.set("body", pick(random, ["", "text", "<head></head><body></body>", "<p>é</p>"]));
  else if (random() < 0.2) for (let i = below(random, 4); i >= 0; i--) query.append("part", pick(random, PARTS));
  if (query.has("body") && random() < 0.3) query.set("times", String(below(random, 3000)));
  if (!query.has("part") && random() < 0.2) query.set("encoding", pick(random, ["gzip", "br"]));
  if (random() < 0.2)
    query.append("header", pick(random, ['ETag:"e"', "Set-Cookie:a=1", "Cache-Control:no-transform"]));
  if (random() < 0.1) query.append("header", "Set-Cookie:b=2");
  if (random() < 0.05) query.set("delay", String(below(random, 40)));

  if (isPlain) for (const name of [...query.keys()]) query.delete(name);
  const headers: [string, string][] = [["Host", pick(random, ["x", "example.test:8080", "[::1]:80", ""])]];
  const add = (share: number, name: string, values: readonly string[]) => {
    if (random() < share) headers.push([name, pick(random, values)]);
  };
  add(0.3, "Accept", ["*/*", NAMES_HTML, "application/json", "text/html;q=0", "", ",;="]);
  add(0.4, "Accept-Encoding", ["gzip", "br", "gzip, deflate, br", "identity", "*;q=0", "br;q=0, *", ""]);
  add(0.2, "Origin", ["https://shop.example", "https://evil.example", "null", ""]);
  add(0.1, "Access-Control-Request-Method", ["GET", "PUT"]);
  add(0.1, "Range", ["bytes=0-3", "bytes=-1", "x"]);
  add(0.1, "If-None-Match", ['"e"', 'W/"e"', "*"]);
  add(0.1, "Connection", ["keep-alive", "X-Named", "keep-alive, te"]);
  add(0.1, "X-Named", ["1"]);
  add(0.1, "TE", ["trailers"]);
  add(0.1, "X-Forwarded-For", ["203.0.113.9", ""]);
  add(0.1, "X-Request-Id", ["abc", "a b", ""]);
  add(0.1, "X-Context", ["{}"]);
  for (let i = below(random, 4); i > 0; i--) {
    headers.push([`X-${text(random, 1 + below(random, 8), "abcXYZ-_.~!#$%&'*+^|")}`, headerValue(random)]);
  }
  if (random() < 0.2) for (let i = 0; i < 2; i++) headers.push(["X-Twice", String(i)]);

  const body =
    isPlain || method === "GET" || method === "HEAD" || random() < 0.3 ? Buffer.alloc(0) : randomBody(random);
  const isChunked = body.length > 0 && random() < 0.4;
  if (isChunked) headers.push(["Transfer-Encoding", "chunked"]);
  else if (body.length > 0 || random() < 0.1) headers.push(["Content-Length", String(body.length)]);
  const target = `${path}${query.size > 0 ? `?${query}` : ""}`;
  const head = `${method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  const bytes = Buffer.concat([Buffer.from(head, "latin1"), isChunked ? chunked(random, body) : body]);
  return { method, path, query, headers, body, bytes };
}

const PARTS = [
  "<html><he",
  "ad></head><bo",
  "dy></bo",
  "dy></html>",
  "<script>'</head>'</script>",
  "é",
  "x".repeat(2000),
];

function randomBody(random: Random): Buffer {
  const length = random() < 0.03 ? below(random, 600_000) : below(random, 3000);
  return Buffer.alloc(length, pick(random, ["abc", "\r\n", "\0\xff", "0\r\n\r\n", "GET / HTTP/1.1\r\n"]), "latin1");
}

function chunked(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const size = 1 + below(random, Math.max(1, body.length - at));
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
    at += part.length;
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

function headerValue(random: Random): string {
  const length = random() < 0.02 ? 4000 : below(random, 30);
  return text(random, length, "abc XYZ\t,;=\"'()<>@[]{}\\/?:%é\xff").trim();
}

/** A few bytes of a head changed, cut out or put in. */
function broken(random: Random, bytes: Buffer): Buffer {
  let text = bytes.toString("latin1");
  for (let i = 1 + below(random, 3); i > 0; i--) {
    const at = below(random, text.indexOf("\r\n\r\n") + 4);
    const what = pick(random, [
      "",
      "\0",
      "\r",
      "\n",
      " ",
      ":",
      "\r\n",
      "\x7f",
      "HTTP/9.9",
      "Host: y\r\n",
      "%",
      "chunked",
    ]);
    text = text.slice(0, at) + what + text.slice(at + below(random, 3));
  }
  return Buffer.from(text, "latin1");
}

function isAccepted({ responses: [first] }: Conversation): boolean {
  return first !== undefined && first.status !== 400 && first.status !== 431;
}

function text(random: Random, length: number, from: string): string {
  let made = "";
  for (let i = 0; i < length; i++) made += from[below(random, from.length)];
  return made;
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[below(random, from.length)]!;
}

function below(random: Random, end: number): number {
  return Math.floor(random() * end);
}

/** Mulberry32: the same requests in every run. */
function generator(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The output of a program, line by line; requests are not kept. */
function linesOf(child: ChildProcess) {
  const lines: string[] = [];
  const waiting = new Set<(line: string) => void>();
  let rest = "";
  child.stdout!.on("data", (chunk) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    for (const line of parts) {
      if (/"message":"(request|response|malformed request)"/.test(line)) continue;
      lines.push(line);
      for (const tell of waiting) tell(line);
    }
  });
  const line = (accepts: (line: string) => boolean) =>
    new Promise<string>((resolve) => {
      const match = lines.find((line) => accepts(line) && !line.startsWith("heap "));
      if (match !== undefined) return resolve(match);
      const tell = (line: string) => {
        if (!accepts(line)) return;
        waiting.delete(tell);
        resolve(line);
      };
      waiting.add(tell);
    });
  return { line, all: () => lines };
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
